// Package filelink signs links to the attachments of stored emails. A link is valid without other
// credentials, for one file of one account, until it expires.
package filelink

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/base/secret"
)

// Life is how long a link works.
const Life = time.Hour

// Ref identifies an attachment.
type Ref struct {
	AccountID string
	EmailID   string
	Index     int // position among the attachments of the email
}

// File describes an attachment.
type File struct {
	Name        string
	ContentType string // as declared by its sender
	ContentID   string // empty if the file is not inline
	Size        int64  // decoded size in bytes
}

// AttachmentContent is an attachment that is being read, until Close.
type AttachmentContent struct {
	File

	IntakeContents []*intake.Content // releases the memory of a response
	WriteTo        func(w io.Writer) error
	Close          func()
}

// Errors of Parse.
var (
	ErrForged  = errors.New("attachment link is not genuine")
	ErrExpired = errors.New("attachment link has expired")
)

const (
	version = 1
	macSize = 16
	// headSize is the size of version, expiry in Unix seconds and index.
	headSize = 1 + 8 + 4
)

// Links creates and parses links.
type Links struct {
	base string
	keys [][]byte // the first one signs; all are accepted
}

// New returns Links below a base URL.
func New(box *secret.Box, base string) *Links {
	return &Links{base: strings.TrimSuffix(base, "/"), keys: box.DeriveEach("attachment links")}
}

// URL returns a link below a path prefix, and the time when it expires.
func (l *Links) URL(prefix string, r Ref, now time.Time) (link string, expires time.Time) {
	expires = now.Add(Life).Truncate(time.Second)
	body := binary.BigEndian.AppendUint64([]byte{version}, uint64(expires.Unix()))
	body = binary.BigEndian.AppendUint32(body, uint32(r.Index))
	body = append(body, r.AccountID+" "+r.EmailID...)
	token := base64.RawURLEncoding.EncodeToString(append(body, computeMAC(l.keys[0], prefix, body)...))
	return l.base + prefix + token, expires
}

// Parse parses the token of a link below a path prefix. Each link has exactly one valid encoding. Errors: ErrForged,
// ErrExpired.
func (l *Links) Parse(prefix, token string, now time.Time) (Ref, error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(raw) <= headSize+macSize || base64.RawURLEncoding.EncodeToString(raw) != token {
		return Ref{}, ErrForged
	}
	body, sum := raw[:len(raw)-macSize], raw[len(raw)-macSize:]
	genuine := false
	for _, key := range l.keys { // tries all keys, even after a match, to take constant time
		genuine = hmac.Equal(sum, computeMAC(key, prefix, body)) || genuine
	}
	accountID, emailID, whole := strings.Cut(string(body[headSize:]), " ")
	if !genuine || !whole || body[0] != version {
		return Ref{}, ErrForged
	}
	if now.Unix() >= int64(binary.BigEndian.Uint64(body[1:])) {
		return Ref{}, ErrExpired
	}
	return Ref{AccountID: accountID, EmailID: emailID, Index: int(binary.BigEndian.Uint32(body[9:]))}, nil
}

func computeMAC(key []byte, prefix string, body []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(prefix))
	h.Write(body)
	return h.Sum(nil)[:macSize]
}
