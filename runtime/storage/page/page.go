// Package page implements cursor pagination by keyset: lists run newest first over time-ordered ids, so a
// cursor stays valid while rows are added.
//
// A cursor is opaque to clients and bound to its account and list: a cursor of another list, or one that
// was modified, is rejected.
package page

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"github.com/postrider/postrider/runtime/base/fault"
)

// DefaultLimit and MaxLimit limit the size of a page.
const (
	DefaultLimit = 25
	MaxLimit     = 100
)

// Request is a request for one page.
type Request struct {
	Limit  int    // 1 to 100
	Cursor string // if empty: the start of the list, or with Back its end
	Back   bool   // return the entries before the cursor instead of those after it
}

// OrDefault returns the request with DefaultLimit if it has no limit.
func (r Request) OrDefault() Request {
	if r.Limit == 0 {
		r.Limit = DefaultLimit
	}
	return r
}

// List identifies a list of an account. The cursors of one list do not work on another.
type List struct {
	Name      string // for example "emails"
	AccountID string
}

// Codec creates and reads cursors. All processes of an installation share its key, so that they accept each
// other's cursors.
type Codec struct{ key []byte }

// NewCodec returns a codec for a secret key of at least 16 bytes.
func NewCodec(key []byte) *Codec { return &Codec{key: key} }

const macSize = 12

// Encode returns the cursor that continues after lastID.
func (c *Codec) Encode(l List, lastID string) string {
	return base64.RawURLEncoding.EncodeToString(append(c.computeMAC(l, lastID), lastID...))
}

// Decode returns the id to continue after, or "" for an empty cursor. The error is for the field cursor.
func (c *Codec) Decode(l List, cursor string) (string, error) {
	if cursor == "" {
		return "", nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(raw) <= macSize {
		return "", badCursor()
	}
	lastID := string(raw[macSize:])
	if !hmac.Equal(raw[:macSize], c.computeMAC(l, lastID)) {
		return "", badCursor()
	}
	return lastID, nil
}

func badCursor() error {
	return fault.InvalidField("cursor", "is not a cursor of this list; use next_cursor of an earlier response")
}

func (c *Codec) computeMAC(l List, lastID string) []byte {
	h := hmac.New(sha256.New, c.key)
	h.Write([]byte(strings.Join([]string{l.Name, l.AccountID, lastID}, "\x00")))
	return h.Sum(nil)[:macSize]
}
