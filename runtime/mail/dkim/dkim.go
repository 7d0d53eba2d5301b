// Package dkim signs messages (RFC 6376) and makes the keys and DNS records for
// that.
//
// A signature is rsa-sha256 or ed25519-sha256 (RFC 8463), relaxed/relaxed, over
// the whole body (no l= tag, which would let others append). The fields that say
// who speaks to whom about what are oversigned: named once more in h= than they
// occur, so that a second From or Subject put above ours breaks the signature
// instead of being shown. The message must be the bytes that go out: CRLF line
// ends only, or Sign refuses.
//
// Signing is our own code: go-msgauth takes t= from the clock only, repairs bare
// line feeds in what it hashes but not in what is sent, and needs a goroutine
// and a pipe per message. The cost is the RSA operation; everything beside it is
// about 3 % for 4 KB (see the benchmarks). Verify is go-msgauth: an independent
// reading of the RFC, so tests and probes do not check us against ourselves.
package dkim

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/postrider/postrider/runtime/mail/message"
)

// Signer says for whom to sign.
type Signer struct {
	Domain   string        // d=, A-labels
	Selector string        // s=
	Key      crypto.Signer // RSA, where 2048 bits is what receivers expect, or Ed25519
	Time     time.Time     // t=, left out when zero
}

// ErrNotCanonical says that a message has a bare CR or LF, no header end, or no
// CRLF at its own end. It would not arrive as it was signed.
var ErrNotCanonical = errors.New("message does not consist of CRLF lines")

// Sign returns the message with a DKIM-Signature field per signer on top, in
// their order. RSA comes first by custom: every receiver knows it, and some look
// at the topmost signature only.
func Sign(message []byte, signers ...Signer) ([]byte, error) {
	fields, err := Fields(message, signers...)
	if err != nil {
		return nil, err
	}
	signed := make([]byte, 0, len(fields)+len(message))
	return append(append(signed, fields...), message...), nil
}

// Fields returns the DKIM-Signature fields alone, each with its CRLF, for
// callers that do not want a large message copied. The message is read and its
// body hashed once, however many sign it.
func Fields(message []byte, signers ...Signer) ([]byte, error) {
	if len(signers) == 0 {
		return nil, errors.New("sign: no signer")
	}
	fields, body, err := split(message)
	if err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	bodyHash, err := hashBody(body)
	if err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	names := selectFields(fields)
	if len(names) == 0 {
		return nil, errors.New("sign: message has no From field")
	}
	header := canonicalHeader(fields, names)
	// One signature does not cover the other: either may be taken off on the way.
	out := make([]byte, 0, 1024*len(signers))
	for _, s := range signers {
		if out, err = s.appendField(out, header, names, bodyHash); err != nil {
			return nil, fmt.Errorf("sign: %w", err)
		}
	}
	return out, nil
}

// canonicalHeader is what every signer signs: the fields named in h=, relaxed.
func canonicalHeader(fields []field, names []string) []byte {
	canonical := make([]byte, 0, 2048)
	picker := newPicker(fields)
	for _, name := range names {
		if f, ok := picker.pick(name); ok {
			canonical = appendRelaxedField(canonical, f)
		}
	}
	return canonical
}

func (s Signer) appendField(out, header []byte, names []string, bodyHash [sha256.Size]byte) ([]byte, error) {
	algorithm, err := s.validate()
	if err != nil {
		return nil, err
	}
	unsigned := s.unsigned(algorithm, names, bodyHash)
	// RFC 6376 section 3.7: the signature field itself comes last, with b= empty
	// and without its CRLF.
	last := appendRelaxedField(make([]byte, 0, 1024), unsigned)
	hash := sha256.New()
	hash.Write(header)
	hash.Write(last[:len(last)-2])

	opts := crypto.SHA256
	if algorithm == Ed25519SHA256 {
		// RFC 8463 section 3: PureEdDSA, whose message is the hash.
		opts = crypto.Hash(0)
	}
	signature, err := s.Key.Sign(rand.Reader, hash.Sum(nil), opts)
	if err != nil {
		return nil, err
	}
	return append(out, appendSignature(unsigned.raw, signature)...), nil
}

// validate also names the algorithm.
func (s Signer) validate() (string, error) {
	switch {
	case s.Domain == "":
		return "", errors.New("no domain")
	case s.Selector == "":
		return "", errors.New("no selector")
	case s.Key == nil:
		return "", errors.New("no key")
	}
	if !plain(s.Domain) || !plain(s.Selector) {
		return "", errors.New("domain or selector is not a host name")
	}
	return Algorithm(s.Key.Public())
}

// plain keeps tag separators and line breaks out of the field.
func plain(name string) bool {
	for i := range len(name) {
		c := name[i]
		if c != '.' && c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return true
}

// field is a header field as it stands in the message, without its last CRLF.
type field struct{ name, raw []byte }

// split finds the fields and the body.
func split(raw []byte) ([]field, []byte, error) {
	fields := make([]field, 0, 24)
	for len(raw) > 0 {
		next, rest, ok := message.NextField(raw)
		next, whole := bytes.CutSuffix(next, crlf)
		if !ok || !whole {
			return nil, nil, ErrNotCanonical
		}
		raw = rest
		if len(next) == 0 {
			return fields, raw, nil
		}
		if bytes.IndexByte(next, '\r') >= 0 && !foldedOnly(next) {
			return nil, nil, ErrNotCanonical
		}
		colon := bytes.IndexByte(next, ':')
		if colon <= 0 || next[0] == ' ' || next[0] == '\t' {
			return nil, nil, errors.New("message has a malformed header line")
		}
		fields = append(fields, field{name: bytes.TrimRight(next[:colon], " \t"), raw: next})
	}
	return nil, nil, ErrNotCanonical
}

// foldedOnly says that every CR in a field belongs to a CRLF. (Every LF does:
// NextField saw to that.)
func foldedOnly(raw []byte) bool {
	return bytes.Count(raw, []byte{'\r'}) == bytes.Count(raw, []byte{'\n'})
}
