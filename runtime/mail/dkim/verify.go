package dkim

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/emersion/go-msgauth/dkim"
)

// maxVerifications limits the work for an untrusted message.
const maxVerifications = 10

// Verification is the result for one signature.
type Verification struct {
	Domain string
	Fields []string // h=, as written
	Time   time.Time
	Err    error // nil if the signature is valid
	// Temporary means that the key could not be fetched: the result is unknown.
	Temporary bool
}

// Verify checks the signatures of a message, top to bottom, at most ten. lookupTXT returns each TXT record
// as one joined string. If its error has a method Temporary() that returns true, the result is temporary.
func Verify(message []byte, lookupTXT func(name string) ([]string, error)) ([]Verification, error) {
	results, err := dkim.VerifyWithOptions(bytes.NewReader(message),
		&dkim.VerifyOptions{LookupTXT: markTemporary(lookupTXT), MaxVerifications: maxVerifications})
	if err != nil && !errors.Is(err, dkim.ErrTooManySignatures) {
		return nil, fmt.Errorf("verify: %w", err)
	}
	verifications := make([]Verification, 0, len(results))
	for _, r := range results {
		verifications = append(verifications, Verification{
			Domain: r.Domain, Fields: r.HeaderKeys, Time: r.Time, Err: r.Err, Temporary: dkim.IsTempFail(r.Err),
		})
	}
	return verifications, nil
}

// markTemporary converts temporary errors, wrapped or not, to the only form that go-msgauth recognizes.
func markTemporary(lookupTXT func(string) ([]string, error)) func(string) ([]string, error) {
	return func(name string) ([]string, error) {
		records, err := lookupTXT(name)
		var t interface{ Temporary() bool }
		if errors.As(err, &t) && t.Temporary() {
			return nil, &net.DNSError{Err: err.Error(), Name: name, IsTemporary: true}
		}
		return records, err
	}
}
