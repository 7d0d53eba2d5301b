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

// LinkPrefix is the path prefix of unsubscribe links.
const LinkPrefix = "/u/"

// Unsubscribe is the content of an unsubscribe link.
type Unsubscribe struct {
	AccountID string
	EmailID   string // the message that contains the link
	Email     string // the address to block, as recipients are stored
	Category  string // the label; empty for all mail
}

// errForged is the error for every invalid token. It contains no details.
var errForged = errors.New("invalid unsubscribe token")

// A token is, in base64url without padding: version (1 byte), account, email, address (each a field), the label of
// the category (the rest), and HMAC-SHA256 over all of it, truncated to 128 bits.
//
// A field is its length (1 byte) and its bytes, or wholeID and the 16 bytes of an id's UUID.
const (
	linkVersion = 1
	macSize     = 16
	wholeID     = 0xff
	uuidSize    = 16
)

// linker creates and parses links.
type linker struct {
	base string
	keys [][]byte // the first one signs; all are accepted
}

// linkPurpose is the purpose of the keys of links.
const linkPurpose = "unsubscribe links"

// Link returns the URL that unsubscribes. The same input always returns the same link.
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

// parse parses a token.
func (l linker) parse(token string) (Unsubscribe, error) {
	body, sum, err := decodeToken(token)
	if err != nil {
		return Unsubscribe{}, err
	}
	genuine := false
	for _, key := range l.keys { // tries all keys, even after a match, to take constant time
		genuine = hmac.Equal(sum, linkMAC(key, body)) || genuine
	}
	if !genuine {
		return Unsubscribe{}, errForged
	}
	return decodeBody(body)
}

// decodeToken decodes a token without verifying it. Each token has exactly one valid encoding; any other is rejected as
// forged.
func decodeToken(token string) (body, sum []byte, err error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(raw) <= 1+macSize || base64.RawURLEncoding.EncodeToString(raw) != token {
		return nil, nil, errForged
	}
	return raw[:len(raw)-macSize], raw[len(raw)-macSize:], nil
}

// decodeBody decodes and validates the body of a token. It does not verify the signature.
func decodeBody(body []byte) (Unsubscribe, error) {
	if body[0] != linkVersion {
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

// appendField writes at most 254 bytes, the maximum length of an address. A longer value is truncated and then
// matches no address.
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

// DisplayAddress returns the address for display, with its domain in Unicode.
func (u Unsubscribe) DisplayAddress() string {
	parsed, err := address.Parse(u.Email)
	if err != nil {
		return u.Email
	}
	return parsed.String()
}
