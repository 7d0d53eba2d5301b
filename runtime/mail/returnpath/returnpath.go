// Package returnpath creates the envelope senders of outgoing mail, one for each message and recipient, so
// that a bounce identifies both:
//
//	bounce+<token>@rp.<domain>
//
// A token identifies the email, the recipient and the day of issue, and is authenticated together with the
// sender's domain: without the key, tokens cannot be created, modified or used for another domain. It is not a
// secret. Every recipient of the message has it, so a valid token proves only that the reporter has seen the
// message.
//
// Tokens are valid for Lifetime after the day of issue. The local part has at most 64 bytes (RFC 5321,
// 4.5.3.1.1) of letters and digits, and ignores case, because receivers may change it. A message has the same
// envelope sender for a recipient all day, and the caller keeps the day across all attempts, because
// greylisting servers remember the sender of the first attempt.
//
// Layout, before base 32: version (4 bits), day (12 bits, counted from 2026, wrapping after 4096), the
// email id's UUID (16 bytes), the recipient id (1 to 7 bytes, no leading zero), HMAC-SHA256 truncated to 80
// bits.
package returnpath

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.jetify.com/typeid"
)

// Lifetime is how long after the day of issue a token is accepted: retries take three days, and hardly any
// server reports later than a few weeks.
const Lifetime = 30 * 24 * time.Hour

// The fixed parts of an address. The sender's zone points the domain of Label to us (the return_path record
// of a domain).
const (
	Prefix = "bounce+"
	Label  = "rp."
)

// The errors of Parse.
var (
	ErrNotReturnPath = errors.New("not a return path address") // not in the format of our addresses
	ErrForged        = errors.New("return path token is not genuine")
	ErrExpired       = errors.New("return path token has expired")
)

const (
	version    = 1
	days       = 1 << 12 // range of the day counter
	dateSize   = 2
	uuidSize   = 16
	numberSize = 7 // maximum
	macSize    = 10
	emailID    = "msg"
)

var (
	epoch    = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	alphabet = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)
)

// Mark is the content of a token.
type Mark struct {
	EmailID     string // msg_…
	RecipientID int64
	Issued      time.Time // the day; set by Parse
}

// Signer creates and parses return paths. It is safe for concurrent use.
type Signer struct {
	keys [][]byte // the first creates tokens, all are accepted
}

// New returns a Signer for the keys, the one for new tokens first. An older key must stay in the list until
// the tokens created with it have expired.
func New(keys ...[]byte) (*Signer, error) {
	if len(keys) == 0 {
		return nil, errors.New("return path: at least one key is required")
	}
	for i, key := range keys {
		if len(key) < sha256.Size {
			return nil, fmt.Errorf("return path: key %d has %d bytes, want %d", i+1, len(key), sha256.Size)
		}
	}
	return &Signer{keys: keys}, nil
}

// Address returns the envelope sender for one recipient of one email from a domain.
func (s *Signer) Address(m Mark, domain string, issued time.Time) (string, error) {
	body, err := encodeMark(m, issued)
	if err != nil {
		return "", err
	}
	host := Label + canonicalDomain(domain)
	return Prefix + alphabet.EncodeToString(append(body, computeMAC(s.keys[0], body, host)...)) + "@" + host, nil
}

// Parse parses an address that a report was sent to. Errors are ErrNotReturnPath, ErrForged or ErrExpired;
// the Mark of an expired token is returned along with the error.
func (s *Signer) Parse(address string, now time.Time) (Mark, error) {
	body, sum, host, err := decodeAddress(address)
	if err != nil {
		return Mark{}, err
	}
	if !s.isGenuine(body, sum, host) {
		return Mark{}, ErrForged
	}
	return decodeMark(body, now)
}

// ReadClaims returns what Parse would return if the token were genuine, which it does not check.
func ReadClaims(address string, now time.Time) (Mark, error) {
	body, _, _, err := decodeAddress(address)
	if err != nil {
		return Mark{}, err
	}
	return decodeMark(body, now)
}

// decodeAddress decodes the token of an address. Errors are ErrNotReturnPath or ErrForged.
func decodeAddress(address string) (body, sum []byte, host string, err error) {
	local, host, found := cutLast(address, "@")
	host = canonicalDomain(host)
	if !found || !strings.HasPrefix(host, Label) || len(local) <= len(Prefix) ||
		!strings.EqualFold(local[:len(Prefix)], Prefix) {
		return nil, nil, "", ErrNotReturnPath
	}
	token := strings.ToLower(local[len(Prefix):])
	raw, err := alphabet.DecodeString(token)
	// The decoder ignores line ends and bits after the last byte: accept only one encoding.
	if err != nil || alphabet.EncodeToString(raw) != token || len(raw) <= dateSize+uuidSize+macSize {
		return nil, nil, "", ErrForged
	}
	return raw[:len(raw)-macSize], raw[len(raw)-macSize:], host, nil
}

// isGenuine checks all keys, in time independent of which one matches.
func (s *Signer) isGenuine(body, sum []byte, host string) bool {
	fits := false
	for _, key := range s.keys {
		fits = hmac.Equal(sum, computeMAC(key, body, host)) || fits
	}
	return fits
}

// computeMAC covers the host, so that a token is invalid under another domain.
func computeMAC(key, body []byte, host string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte{byte(len(body))}) // delimits the body
	h.Write(body)
	h.Write([]byte(host))
	return h.Sum(nil)[:macSize]
}

func encodeMark(m Mark, issued time.Time) ([]byte, error) {
	id, err := typeid.FromString(m.EmailID)
	if err != nil || id.Prefix() != emailID {
		return nil, fmt.Errorf("return path: %q is not an email id", m.EmailID)
	}
	if m.RecipientID <= 0 || m.RecipientID >= 1<<(8*numberSize) {
		return nil, fmt.Errorf("return path: recipient id %d is out of range", m.RecipientID)
	}
	body := make([]byte, 0, dateSize+uuidSize+numberSize+macSize)
	body = binary.BigEndian.AppendUint16(body, version<<12|uint16(dayOf(issued)))
	body = append(body, id.UUIDBytes()...)
	number := binary.BigEndian.AppendUint64(nil, uint64(m.RecipientID))
	for number[0] == 0 {
		number = number[1:]
	}
	return append(body, number...), nil
}

// decodeMark parses a body. It fails for an unknown version and an invalid recipient id, which no authenticated body
// has.
func decodeMark(body []byte, now time.Time) (Mark, error) {
	head, number := binary.BigEndian.Uint16(body), body[dateSize+uuidSize:]
	if head>>12 != version || len(number) > numberSize || number[0] == 0 {
		return Mark{}, ErrForged
	}
	id, err := typeid.FromUUIDBytesWithPrefix(emailID, body[dateSize:dateSize+uuidSize])
	if err != nil {
		return Mark{}, ErrForged
	}
	m := Mark{EmailID: id.String()}
	for _, octet := range number {
		m.RecipientID = m.RecipientID<<8 | int64(octet)
	}
	// The counter wraps: a day that seems older than half its range is in the future.
	age := (dayOf(now) - int(head&(days-1)) + days) % days
	if age > days/2 {
		age -= days
	}
	m.Issued = now.UTC().Truncate(24*time.Hour).AddDate(0, 0, -age)
	if age > int(Lifetime/(24*time.Hour)) || age < -1 { // a day ahead: clocks differ
		return m, ErrExpired
	}
	return m, nil
}

func dayOf(t time.Time) int {
	return (int(t.Sub(epoch).Hours()/24)%days + days) % days
}

func canonicalDomain(domain string) string {
	return strings.ToLower(strings.TrimSuffix(domain, "."))
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}
