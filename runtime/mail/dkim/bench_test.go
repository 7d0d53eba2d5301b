package dkim_test

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/sha256"
	"io"
	"strings"
	"testing"

	msgauth "github.com/emersion/go-msgauth/dkim"

	"github.com/postrider/postrider/runtime/mail/dkim"
)

func message4K() []byte {
	return []byte("From: Ann <ann@example.com>\r\nTo: bob@example.net\r\nSubject: Hi\r\nDate: Fri, 21 Nov 2025 08:00:00 +0000\r\n" +
		"Message-ID: <1@example.com>\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n" +
		strings.Repeat("The quick brown fox jumps over the lazy dog, again and again.\r\n", 60))
}

// BenchmarkRSA is the ceiling: the signature alone.
func BenchmarkRSA(b *testing.B) {
	digest := sha256.Sum256([]byte("x"))
	for b.Loop() {
		if _, err := testKey().Sign(rand.Reader, digest[:], crypto.SHA256); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSign4K(b *testing.B) {
	message, signer := message4K(), testSigner()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := dkim.Sign(message, signer); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSign4KTwice adds the Ed25519 signature of RFC 8463.
func BenchmarkSign4KTwice(b *testing.B) {
	message, rsaSigner, edSigner := message4K(), testSigner(), secondSigner()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := dkim.Sign(message, rsaSigner, edSigner); err != nil {
			b.Fatal(err)
		}
	}
}

// freeSigner skips the RSA operation, so what is left is our own cost.
type freeSigner struct{ crypto.Signer }

func (freeSigner) Sign(io.Reader, []byte, crypto.SignerOpts) ([]byte, error) {
	return make([]byte, 256), nil
}

func BenchmarkSign4KWithoutRSA(b *testing.B) {
	message, signer := message4K(), testSigner()
	signer.Key = freeSigner{signer.Key}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := dkim.Sign(message, signer); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkMsgauth4K measures the library that Sign4K replaces. If it becomes nearly as fast, use it again.
func BenchmarkMsgauth4K(b *testing.B) {
	message := message4K()
	b.ReportAllocs()
	for b.Loop() {
		var out bytes.Buffer
		if err := msgauth.Sign(&out, bytes.NewReader(message), &msgauth.SignOptions{
			Domain: "example.com", Selector: "s1", Signer: testKey(), HeaderCanonicalization: "relaxed",
			BodyCanonicalization: "relaxed",
			HeaderKeys: []string{"From", "From", "To", "To", "Subject", "Subject", "Date", "Date", "Message-ID",
				"Message-ID"},
		}); err != nil {
			b.Fatal(err)
		}
	}
}
