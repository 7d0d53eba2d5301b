package app

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"net/textproto"
	"strings"
	"testing"
	"time"
)

// The certificate of an SMTP server is verified, and a server without STARTTLS is refused.
func TestVerifyStartTLS(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		extension string
		names     []string
		trusted   bool
		says      string
	}{
		"good":        {"STARTTLS", []string{"smtp.example.com"}, true, ""},
		"self-signed": {"STARTTLS", []string{"smtp.example.com"}, false, "unknown authority"},
		"other name":  {"STARTTLS", []string{"smtp.example.org"}, true, "smtp.example.org"},
		"no TLS":      {"SIZE", nil, false, "does not offer STARTTLS"},
		"no SMTP":     {"", nil, false, "no SMTP server"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, server := net.Pipe()
			defer client.Close()
			certificate, roots := selfSigned(t, c.names), x509.NewCertPool()
			if c.trusted {
				roots.AddCert(certificate.Leaf)
			}
			go serveSMTP(server, c.extension, certificate)
			err := verifyStartTLS(client, "smtp.example.com", roots)
			if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want an error with %q", err, c.says)
			}
		})
	}
}

// serveSMTP serves one client up to its first command after the TLS handshake.
func serveSMTP(conn net.Conn, extension string, certificate tls.Certificate) {
	defer conn.Close()
	c := textproto.NewConn(conn)
	if extension == "" {
		_ = c.PrintfLine("HTTP/1.1 400 Bad Request")
		return
	}
	_ = c.PrintfLine("220 ready")
	for {
		line, err := c.ReadLine()
		switch {
		case err != nil:
			return
		case strings.HasPrefix(line, "EHLO"):
			_ = c.PrintfLine("250-hello\r\n250 %s", extension)
		case line == "STARTTLS":
			_ = c.PrintfLine("220 go ahead")
			c = textproto.NewConn(tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{certificate},
				MinVersion: tls.VersionTLS12}))
		}
	}
}

func selfSigned(t *testing.T, names []string) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: names, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}
