// Package reportaddress creates the addresses to which receivers send reports about a domain, one for each domain:
//
//	dmarc+<token>@<host>
//
// A token identifies the domain and is authenticated, so an address cannot be guessed from another one. It is not a
// secret: the domain's DMARC record contains it. It only decides which domain a report can be about.
//
// The local part has at most 64 bytes (RFC 5321, 4.5.3.1.1) and ignores case.
package reportaddress

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"strings"

	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/mail/dnsx"
)

// The errors of Parse.
var (
	ErrNotReportAddress = errors.New("not a report address") // not in the format of our addresses
	ErrForged           = errors.New("report address is not genuine")
)

const (
	prefix   = "dmarc+"
	idPrefix = "dom_"
	macSize  = 10
)

var alphabet = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// Signer creates and parses report addresses. It is safe for concurrent use.
type Signer struct {
	host string
	keys [][]byte // the first creates tokens, all are accepted
}

// New returns a Signer for addresses at a host, whose MX record must point to this installation.
func New(host string, keys ...[]byte) (*Signer, error) {
	if host = dnsx.CanonicalName(host); host == "" || len(keys) == 0 {
		return nil, errors.New("report address: a host and a key are required")
	}
	return &Signer{host: host, keys: keys}, nil
}

// Host returns the host of the addresses.
func (s *Signer) Host() string { return s.host }

// Address returns the report address of a domain.
func (s *Signer) Address(domainID string) string {
	return prefix + strings.TrimPrefix(domainID, idPrefix) + computeMAC(s.keys[0], domainID) + "@" + s.host
}

// Parse returns the id of the domain that an address belongs to. Errors are ErrNotReportAddress and ErrForged.
func (s *Signer) Parse(address string) (domainID string, err error) {
	local, host, found := strings.Cut(strings.ToLower(address), "@")
	token, prefixed := strings.CutPrefix(local, prefix)
	if !found || !prefixed || dnsx.CanonicalName(host) != s.host {
		return "", ErrNotReportAddress
	}
	split := len(token) - alphabet.EncodedLen(macSize)
	if split <= 0 || !id.Is(id.Domain, idPrefix+token[:split]) {
		return "", ErrForged
	}
	domainID = idPrefix + token[:split]
	genuine := false
	for _, key := range s.keys {
		genuine = hmac.Equal([]byte(token[split:]), []byte(computeMAC(key, domainID))) || genuine
	}
	if !genuine {
		return "", ErrForged
	}
	return domainID, nil
}

func computeMAC(key []byte, domainID string) string {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(domainID))
	return alphabet.EncodeToString(h.Sum(nil)[:macSize])
}
