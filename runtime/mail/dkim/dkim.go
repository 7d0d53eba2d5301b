// Package dkim signs messages (RFC 6376) and creates the keys and DNS records for that.
//
// A signature is rsa-sha256 or ed25519-sha256 (RFC 8463), relaxed/relaxed, over the whole body (no l= tag,
// which would let others append). The fields that identify the parties and the subject are oversigned:
// named once more in h= than they occur, so that adding a second From or Subject breaks the signature. The
// message must be exactly the bytes that are sent: Sign rejects line endings other than CRLF.
//
// Signing is our own code: go-msgauth takes t= only from the clock, repairs bare line feeds in the hashed
// but not in the sent bytes, and needs a goroutine and a pipe per message. The cost is the RSA operation;
// everything else is about 3 % for 4 KB (see the benchmarks). Verify uses go-msgauth, an independent
// implementation of the RFC, so that tests and probes do not check our code against itself.
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

// Signer is an identity to sign with.
type Signer struct {
	Domain   string        // d=, A-labels
	Selector string        // s=
	Key      crypto.Signer // RSA, where 2048 bits is what receivers expect, or Ed25519
	Time     time.Time     // t=, omitted if zero
}

// ErrNotCanonical means that a message has a bare CR or LF, no end of the header, or no CRLF at its end. It
// would not arrive as signed.
var ErrNotCanonical = errors.New("message does not consist of CRLF lines")

// Sign returns the message with a DKIM-Signature field per signer at the top, in order. RSA comes first by
// convention: every receiver supports it, and some check only the topmost signature.
func Sign(message []byte, signers ...Signer) ([]byte, error) {
	fields, err := Fields(message, signers...)
	if err != nil {
		return nil, err
	}
	signed := make([]byte, 0, len(fields)+len(message))
	return append(append(signed, fields...), message...), nil
}

// Fields returns only the DKIM-Signature fields, each with its CRLF, for callers that avoid copying a large
// message. The message is read and its body hashed once, for any number of signers.
func Fields(message []byte, signers ...Signer) ([]byte, error) {
	if len(signers) == 0 {
		return nil, errors.New("sign: no signer")
	}
	fields, body, err := splitMessage(message)
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
	// Signatures do not cover each other: any may be removed in transit.
	out := make([]byte, 0, 1024*len(signers))
	for _, s := range signers {
		if out, err = s.appendField(out, header, names, bodyHash); err != nil {
			return nil, fmt.Errorf("sign: %w", err)
		}
	}
	return out, nil
}

// canonicalHeader returns what every signer signs: the fields named in h=, relaxed.
func canonicalHeader(fields []field, names []string) []byte {
	canonical := make([]byte, 0, 2048)
	picker := newPicker(fields)
	for _, name := range names {
		if f, ok := picker.pickField(name); ok {
			canonical = appendRelaxedField(canonical, f)
		}
	}
	return canonical
}

func (s Signer) appendField(out, header []byte, names []string, bodyHash [sha256.Size]byte) ([]byte, error) {
	algorithm, err := s.validateKey()
	if err != nil {
		return nil, err
	}
	unsigned := s.unsignedField(algorithm, names, bodyHash)
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

// validateKey also returns the algorithm.
func (s Signer) validateKey() (string, error) {
	switch {
	case s.Domain == "":
		return "", errors.New("no domain")
	case s.Selector == "":
		return "", errors.New("no selector")
	case s.Key == nil:
		return "", errors.New("no key")
	}
	if !isPlainName(s.Domain) || !isPlainName(s.Selector) {
		return "", errors.New("domain or selector is not a host name")
	}
	return Algorithm(s.Key.Public())
}

// isPlainName reports whether a name contains no tag separators and line breaks.
func isPlainName(name string) bool {
	for i := range len(name) {
		c := name[i]
		if c != '.' && c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return true
}

// field is a header field of the message, without its final CRLF.
type field struct{ name, raw []byte }

// splitMessage returns the fields and the body.
func splitMessage(raw []byte) ([]field, []byte, error) {
	fields := make([]field, 0, 24)
	for len(raw) > 0 {
		next, rest, ok := message.NextField(raw)
		next, whole := bytes.CutSuffix(next, []byte("\r\n"))
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

// foldedOnly reports whether every CR in a field belongs to a CRLF. (NextField ensures that every LF does.)
func foldedOnly(raw []byte) bool {
	return bytes.Count(raw, []byte{'\r'}) == bytes.Count(raw, []byte{'\n'})
}
