package smtptest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"math/big"
	"net"
	"testing"
	"time"
)

func (s *Server) wrapTLS(t testing.TB, l net.Listener) net.Listener {
	t.Helper()
	if s.cfg.TLS != Implicit {
		return l
	}
	return tls.NewListener(l, s.tlsConfig(t))
}

// tlsConfig creates a certificate authority and a certificate for this server.
func (s *Server) tlsConfig(t testing.TB) *tls.Config {
	t.Helper()
	if s.cfg.TLS == BrokenTLS {
		return &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			return nil, errors.New("broken by the test")
		}}
	}
	name := s.cfg.Hostname
	if s.cfg.TLS == WrongName {
		name = "another.test"
	}
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "smtptest"}, IsCA: true,
		BasicConstraintsValid: true,
		NotBefore:             time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageCertSign,
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: authority.NotBefore, NotAfter: authority.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if s.cfg.TLS != WrongName {
		leaf.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	}
	authorityKey, leafKey := newKey(t), newKey(t)
	authorityDER := createCertificate(t, authority, authority, authorityKey, authorityKey)
	root, err := x509.ParseCertificate(authorityDER)
	if err != nil {
		t.Fatal(err)
	}
	s.roots = x509.NewCertPool()
	s.roots.AddCert(root)
	der := createCertificate(t, leaf, root, leafKey, authorityKey)
	if s.leaf, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	s.authority = root
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der, authorityDER}, PrivateKey: leafKey}}}
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func createCertificate(t testing.TB, template, parent *x509.Certificate, key, signer *ecdsa.PrivateKey) []byte {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	return der
}
