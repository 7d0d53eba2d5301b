package tracking

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"strings"

	"go.jetify.com/typeid"

	"github.com/postrider/postrider/modules/tracking/weburl"
	"github.com/postrider/postrider/runtime/base/id"
)

// Paths of the public links. A token contains no slash and no dot.
const (
	Prefix      = "/t/"
	ClickPath   = Prefix + "c/"
	OpenPath    = Prefix + "o/"
	PixelSuffix = ".gif"
)

// ErrForged is the only error for tokens that are not authentic.
var ErrForged = errors.New("tracking token is not authentic")

// TokenKind is the purpose of a token.
type TokenKind string

// Kinds of tokens, as stored in the database.
const (
	Open  TokenKind = "open"
	Click TokenKind = "click"
)

// LinkToken is the content of a token.
type LinkToken struct {
	Kind               TokenKind
	AccountID, EmailID string
	Target             string // an ASCII http(s) URL; only for a click
}

// ownHost represents all hosts of the installation in the signature of a token.
const ownHost = ""

// A token contains, in base64url without padding: the form (1 byte), the UUIDs of account and email (16 bytes
// each), the target (the rest, without its scheme), and HMAC-SHA256 truncated to 96 bits. The HMAC covers
// everything before it. In a form with formBound, it also covers a zero byte and the host for which the token
// was issued, which the token does not contain. Older versions issued tokens without formBound.
const (
	formOpen     = 0x10
	formClick    = 0x11 // the target begins with http://, which is omitted
	formClickTLS = 0x12 // the target begins with https://, which is omitted
	formBound    = 0x20 // added to the other forms
	formTest     = 0x40 // added to the other forms if the account is a test tenant
	uuidSize     = 16
	headSize     = 1 + 2*uuidSize
	macSize      = 12
	tokenPurpose = "tracking links"
	longestToken = (headSize+weburl.Longest+macSize)*4/3 + 1
)

// tokens issues and parses tokens. It is safe for concurrent use.
type tokens struct {
	keys [][]byte // the first key signs; all keys verify
}

// minter issues the tokens of one email. It is not safe for concurrent use.
type minter struct {
	head []byte // space for the form, then the ids
	mac  hash.Hash
	test byte   // formTest, or 0
	host string // host for which the tokens are issued
}

// newMinter returns the minter for an email whose links are under a host, or under ownHost.
func (t tokens) newMinter(accountID, emailID, host string) (*minter, error) {
	m := &minter{head: make([]byte, 1, headSize), mac: hmac.New(sha256.New, t.keys[0]), host: host}
	if id.IsTestTenant(accountID) {
		m.test = formTest
	}
	for _, of := range []struct {
		prefix id.Prefix
		text   string
	}{{id.Account, id.HomeAccount(accountID)}, {id.Email, emailID}} {
		parsed, err := typeid.FromString(of.text)
		if err != nil || parsed.Prefix() != string(of.prefix) {
			return nil, fmt.Errorf("tracking: %q is not an id of kind %s", of.text, of.prefix)
		}
		m.head = append(m.head, parsed.UUIDBytes()...)
	}
	return m, nil
}

func (m *minter) mintOpen() string { return m.mintToken(formOpen, "") }

// mintClick returns the token of a target that weburl.Normalize returned.
func (m *minter) mintClick(target string) string {
	if rest, tls := strings.CutPrefix(target, weburl.TLS); tls {
		return m.mintToken(formClickTLS, rest)
	}
	return m.mintToken(formClick, strings.TrimPrefix(target, weburl.Plain))
}

func (m *minter) mintToken(form byte, rest string) string {
	body := make([]byte, 0, headSize+len(rest)+macSize)
	body = append(body, m.head...)
	body = append(body, rest...)
	body[0] = form | formBound | m.test
	m.mac.Reset()
	writeSigned(m.mac, body, m.host)
	sum := m.mac.Sum(nil)
	return base64.RawURLEncoding.EncodeToString(append(body, sum[:macSize]...))
}

// writeSigned writes the data that the signature of a token covers.
func writeSigned(mac hash.Hash, body []byte, host string) {
	mac.Write(body)
	if body[0]&formBound != 0 {
		mac.Write([]byte{0})
		mac.Write([]byte(host))
	}
}

// parse parses a token requested on a host, or on ownHost.
func (t tokens) parse(token, host string) (LinkToken, error) {
	body, sum, err := decodeToken(token)
	if err != nil || !t.isAuthentic(body, sum, host) {
		return LinkToken{}, ErrForged
	}
	return decodeMark(body)
}

// decodeToken decodes a token without verifying it. Each token has exactly one valid encoding; any other is forged.
func decodeToken(token string) (body, sum []byte, err error) {
	if len(token) > longestToken {
		return nil, nil, ErrForged
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(token)
	// The decoder ignores line breaks, so reject them here.
	if err != nil || len(raw) < headSize+macSize || base64.RawURLEncoding.EncodedLen(len(raw)) != len(token) {
		return nil, nil, ErrForged
	}
	return raw[:len(raw)-macSize], raw[len(raw)-macSize:], nil
}

// isAuthentic reports whether any key verifies the signature. It tries every key, in constant time.
func (t tokens) isAuthentic(body, sum []byte, host string) bool {
	fits := false
	for _, key := range t.keys {
		mac := hmac.New(sha256.New, key)
		writeSigned(mac, body, host)
		fits = hmac.Equal(sum, mac.Sum(nil)[:macSize]) || fits
	}
	return fits
}

// decodeMark decodes and validates a body. It does not verify the signature.
func decodeMark(body []byte) (m LinkToken, err error) {
	if m.AccountID, err = formatID(id.Account, body[1:1+uuidSize]); err != nil {
		return LinkToken{}, err
	}
	if body[0]&formTest != 0 {
		m.AccountID = id.TestTenantOf(m.AccountID)
	}
	if m.EmailID, err = formatID(id.Email, body[1+uuidSize:headSize]); err != nil {
		return LinkToken{}, err
	}
	rest := string(body[headSize:])
	switch body[0] &^ (formBound | formTest) {
	case formOpen:
		if m.Kind = Open; rest != "" {
			return LinkToken{}, ErrForged
		}
		return m, nil
	case formClick:
		m.Kind, m.Target = Click, weburl.Plain+rest
	case formClickTLS:
		m.Kind, m.Target = Click, weburl.TLS+rest
	default:
		return LinkToken{}, ErrForged
	}
	if again, ok := weburl.Normalize(m.Target); !ok || again != m.Target {
		return LinkToken{}, ErrForged
	}
	return m, nil
}

func formatID(prefix id.Prefix, raw []byte) (string, error) {
	made, err := typeid.FromUUIDBytesWithPrefix(string(prefix), raw)
	if err != nil {
		return "", ErrForged
	}
	return made.String(), nil
}
