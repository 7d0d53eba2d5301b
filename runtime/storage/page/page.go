// Package page is cursor pagination by keyset: lists run newest first over
// time-ordered ids, so a cursor stays put while rows are added.
//
// A cursor is opaque to clients and bound to its account and list: one that was
// made for another, or changed, is refused.
package page

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"github.com/postrider/postrider/runtime/base/fault"
)

// DefaultLimit and MaxLimit bound a page.
const (
	DefaultLimit = 25
	MaxLimit     = 100
)

// Request asks for one page.
type Request struct {
	Limit  int    // 1-100
	Cursor string // empty: from where the list begins, or, going back, from where it ends
	Back   bool   // the entries before the cursor and not those after it
}

// OrDefault asks for DefaultLimit where no limit is given.
func (r Request) OrDefault() Request {
	if r.Limit == 0 {
		r.Limit = DefaultLimit
	}
	return r
}

// List names a list of an account; the cursors of one do not work on another.
type List struct {
	Name      string // as "emails"
	AccountID string
}

// Codec makes and reads cursors. Its key decides who accepts them: all processes
// of one installation share it.
type Codec struct{ key []byte }

// NewCodec takes a secret of at least 16 octets.
func NewCodec(key []byte) *Codec { return &Codec{key: key} }

const macSize = 12

// Encode makes the cursor that continues after lastID.
func (c *Codec) Encode(l List, lastID string) string {
	return base64.RawURLEncoding.EncodeToString(append(c.mac(l, lastID), lastID...))
}

// Decode gives the id to continue after, "" for an empty cursor. The error names
// the field `cursor`.
func (c *Codec) Decode(l List, cursor string) (string, error) {
	if cursor == "" {
		return "", nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(raw) <= macSize {
		return "", badCursor()
	}
	lastID := string(raw[macSize:])
	if !hmac.Equal(raw[:macSize], c.mac(l, lastID)) {
		return "", badCursor()
	}
	return lastID, nil
}

func badCursor() error {
	return fault.InvalidField("cursor", "is not a cursor of this list; use next_cursor of an earlier answer")
}

func (c *Codec) mac(l List, lastID string) []byte {
	h := hmac.New(sha256.New, c.key)
	h.Write([]byte(strings.Join([]string{l.Name, l.AccountID, lastID}, "\x00")))
	return h.Sum(nil)[:macSize]
}
