package suppression

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"slices"

	"go.jetify.com/typeid"

	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/mail/address"
)

// LinkPrefix is the path below which links are answered.
const LinkPrefix = "/u/"

// Unsubscribe is what a link is for.
type Unsubscribe struct {
	AccountID string
	EmailID   string // the message that has the link
	Email     string // the address that will not be written to, as recipients hold it
	Category  string // the label; "": all mail
}

// errForged is all that is said of a token that is not genuine.
var errForged = errors.New("unsubscribe token is not genuine")

// A token is, in base64url without padding: version (1 byte), account, email,
// address (each a field), the category's label (the rest), HMAC-SHA256 cut to 128
// bits over what is before it.
//
// A field is its length (1 byte) and its bytes, or wholeID and the 16 bytes of
// an id's UUID.
const (
	linkVersion = 1
	macSize     = 16
	wholeID     = 0xff
	uuidSize    = 16
)

// linker makes and reads links.
type linker struct {
	base string
	keys [][]byte // the first one makes tokens, all are believed
}

// Link is the URL that unsubscribes. Pure: the same input has the same link.
func (s *Service) Link(u Unsubscribe) string {
	return s.links.base + LinkPrefix + s.links.token(u)
}

func (l linker) token(u Unsubscribe) string {
	body := make([]byte, 0, 2+2*(1+uuidSize)+len(u.Email)+len(u.Category)+macSize)
	body = append(body, linkVersion)
	body = appendID(body, id.Account, u.AccountID)
	body = appendID(body, id.Email, u.EmailID)
	body = appendField(body, u.Email)
	body = append(body, u.Category...)
	return l.sign(body)
}

func (l linker) sign(body []byte) string {
	return base64.RawURLEncoding.EncodeToString(slices.Concat(body, linkMAC(l.keys[0], body)))
}

// parse reads a token. There is one form of each: what differs is forged.
func (l linker) parse(token string) (Unsubscribe, error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(raw) <= 1+macSize || base64.RawURLEncoding.EncodeToString(raw) != token {
		return Unsubscribe{}, errForged
	}
	body, sum := raw[:len(raw)-macSize], raw[len(raw)-macSize:]
	genuine := false
	for _, key := range l.keys { // all, whether or not an earlier one fits
		genuine = hmac.Equal(sum, linkMAC(key, body)) || genuine
	}
	if !genuine || body[0] != linkVersion {
		return Unsubscribe{}, errForged
	}
	var u Unsubscribe
	rest := body[1:]
	for _, field := range []struct {
		into *string
		kind id.Prefix
	}{{&u.AccountID, id.Account}, {&u.EmailID, id.Email}, {&u.Email, ""}} {
		var ok bool
		if *field.into, rest, ok = cutField(rest, field.kind); !ok {
			return Unsubscribe{}, errForged
		}
	}
	u.Category = string(rest)
	return u, nil
}

func linkMAC(key, body []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write(body)
	return h.Sum(nil)[:macSize]
}

// appendID writes the 16 bytes of an id instead of its 30 characters.
func appendID(body []byte, prefix id.Prefix, text string) []byte {
	if !id.Is(prefix, text) {
		return appendField(body, text)
	}
	parsed, err := typeid.FromString(text)
	if err != nil {
		return appendField(body, text)
	}
	return append(append(body, wholeID), parsed.UUIDBytes()...)
}

// appendField writes at most 254 bytes, which is the longest address. What is
// longer is cut, and is nobody's then.
func appendField(body []byte, text string) []byte {
	text = text[:min(len(text), wholeID-1)]
	return append(append(body, byte(len(text))), text...)
}

func cutField(rest []byte, prefix id.Prefix) (string, []byte, bool) {
	if len(rest) == 0 {
		return "", nil, false
	}
	size := int(rest[0])
	rest = rest[1:]
	if size == wholeID {
		if len(rest) < uuidSize || prefix == "" {
			return "", nil, false
		}
		whole, err := typeid.FromUUIDBytesWithPrefix(string(prefix), rest[:uuidSize])
		return whole.String(), rest[uuidSize:], err == nil
	}
	if len(rest) < size {
		return "", nil, false
	}
	return string(rest[:size]), rest[size:], true
}

// Shown is the address for people to read: a domain of their own script in it.
func (u Unsubscribe) Shown() string {
	parsed, err := address.Parse(u.Email)
	if err != nil {
		return u.Email
	}
	return parsed.String()
}
