package dkim

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// KeyBits is the size of new keys: the least that RFC 8301 section 3.2 advises
// and the most that fits every DNS provider's TXT form.
const KeyBits = 2048

// GenerateKey makes a signing key.
func GenerateKey() (*rsa.PrivateKey, error) {
	key, err := rsa.GenerateKey(rand.Reader, KeyBits)
	if err != nil {
		return nil, fmt.Errorf("generate DKIM key: %w", err)
	}
	return key, nil
}

// MarshalPrivate writes a key as PKCS #8 DER. It is a secret: seal it.
func MarshalPrivate(key *rsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("marshal DKIM key: %w", err)
	}
	return der, nil
}

// ParsePrivate reads what MarshalPrivate wrote, ready to sign.
func ParsePrivate(der []byte) (*rsa.PrivateKey, error) {
	parsed, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		// The cause may quote key material; it says no more than this anyway.
		return nil, errors.New("parse DKIM key: not a PKCS #8 private key")
	}
	key, ok := parsed.(*rsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("parse DKIM key: is %T, not RSA", parsed)
	}
	return key, nil
}

// PublicRecord is the value of the TXT record at RecordName (RFC 6376 section
// 3.6.1).
func PublicRecord(key *rsa.PrivateKey) string {
	return "v=DKIM1; k=rsa; p=" + PublicKey(key)
}

// PublicKey is the p= value: the SubjectPublicKeyInfo in base64, the form of RFC
// 6376 appendix C, which every verifier reads.
func PublicKey(key *rsa.PrivateKey) string {
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		panic("dkim: an RSA public key always has a PKIX form: " + err.Error())
	}
	return base64.StdEncoding.EncodeToString(der)
}

// RecordName is where the public key of a selector stands.
func RecordName(selector, domain string) string {
	return selector + "._domainkey." + domain
}

// TXTStrings cuts a record value into the strings of at most 255 octets that a
// TXT record is made of (RFC 1035 section 3.3.14). Verifiers join them again.
func TXTStrings(value string) []string {
	const most = 255
	var parts []string
	for len(value) > most {
		parts = append(parts, value[:most])
		value = value[most:]
	}
	return append(parts, value)
}

// ZoneText is a record value as it stands in a zone file: quoted strings.
func ZoneText(value string) string {
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	var b strings.Builder
	for i, part := range TXTStrings(value) {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteByte('"')
		b.WriteString(escape.Replace(part))
		b.WriteByte('"')
	}
	return b.String()
}
