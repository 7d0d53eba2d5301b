package dkim

import (
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// KeyBits is the size of new keys: the minimum advised by RFC 8301 section 3.2 and the maximum that fits
// every DNS provider's TXT form.
const KeyBits = 2048

// The algorithms, as named by a=.
const (
	RSASHA256     = "rsa-sha256"
	Ed25519SHA256 = "ed25519-sha256" // RFC 8463
)

// Algorithm returns the algorithm for a key.
func Algorithm(public crypto.PublicKey) (string, error) {
	switch public.(type) {
	case *rsa.PublicKey:
		return RSASHA256, nil
	case ed25519.PublicKey:
		return Ed25519SHA256, nil
	}
	return "", fmt.Errorf("key is %T, neither RSA nor Ed25519", public)
}

// GenerateKey returns a new RSA signing key.
func GenerateKey() (*rsa.PrivateKey, error) {
	key, err := rsa.GenerateKey(rand.Reader, KeyBits)
	if err != nil {
		return nil, fmt.Errorf("generate DKIM key: %w", err)
	}
	return key, nil
}

// GenerateEd25519 returns a new Ed25519 signing key. Not every receiver supports it yet: it signs in
// addition to RSA, never instead.
func GenerateEd25519() (ed25519.PrivateKey, error) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("generate DKIM key: %w", err)
	}
	return key, nil
}

// MarshalPrivate encodes a key as PKCS #8 DER. It is a secret: seal it.
func MarshalPrivate(key crypto.Signer) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("marshal DKIM key: %w", err)
	}
	return der, nil
}

// ParsePrivate parses the result of MarshalPrivate.
func ParsePrivate(der []byte) (crypto.Signer, error) {
	parsed, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		// The cause may contain key material, and adds no information.
		return nil, errors.New("parse DKIM key: not a PKCS #8 private key")
	}
	key, ok := parsed.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("parse DKIM key: %T cannot sign", parsed)
	}
	if _, err := Algorithm(key.Public()); err != nil {
		return nil, fmt.Errorf("parse DKIM key: %w", err)
	}
	return key, nil
}

// PublicRecord returns the value of the TXT record at RecordName for a key.
func PublicRecord(key crypto.Signer) string {
	algorithm, err := Algorithm(key.Public())
	if err != nil {
		panic("dkim: " + err.Error()) // Sign also rejects such a key
	}
	return Record(algorithm, PublicKey(key))
}

// Record returns the value of the TXT record for a p= value (RFC 6376 section 3.6.1).
func Record(algorithm, publicKey string) string {
	return "v=DKIM1; k=" + KeyType(algorithm) + "; p=" + publicKey
}

// KeyType returns the k= value of an algorithm.
func KeyType(algorithm string) string {
	name, _, _ := strings.Cut(algorithm, "-")
	return name
}

// PublicKey returns the p= value. For RSA it is the SubjectPublicKeyInfo in base64, the form of RFC 6376
// appendix C, which every verifier reads; for Ed25519 the key itself (RFC 8463 section 4.2).
func PublicKey(key crypto.Signer) string {
	if public, ok := key.Public().(ed25519.PublicKey); ok {
		return base64.StdEncoding.EncodeToString(public)
	}
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		panic("dkim: an RSA public key always has a PKIX form: " + err.Error())
	}
	return base64.StdEncoding.EncodeToString(der)
}

// RecordName returns the DNS name of a selector's public key.
func RecordName(selector, domain string) string {
	return selector + "._domainkey." + domain
}

// TXTStrings splits a record value into the strings of at most 255 bytes that form a TXT record (RFC 1035
// section 3.3.14). Verifiers join them again.
func TXTStrings(value string) []string {
	const most = 255
	var parts []string
	for len(value) > most {
		parts = append(parts, value[:most])
		value = value[most:]
	}
	return append(parts, value)
}

// ZoneText returns a record value in zone file format: quoted strings.
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
