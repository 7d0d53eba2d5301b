package bimi

import (
	"bytes"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"
)

// authority issues certificates for tests.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Test Mark CA"}, IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign, NotBefore: testTime.AddDate(-1, 0, 0),
		NotAfter: testTime.AddDate(5, 0, 0)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return authority{certificate, key}
}

var testTime = time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)

// markTemplate returns a certificate for example.com with the logo.
func markTemplate(t *testing.T, logo string) *x509.Certificate {
	t.Helper()
	return &x509.Certificate{SerialNumber: big.NewInt(2), NotBefore: testTime.AddDate(0, -1, 0), NotAfter: testTime.AddDate(1, 0, 0),
		Subject:  pkix.Name{CommonName: "Example", ExtraNames: []pkix.AttributeTypeAndValue{{Type: oidMarkType, Value: "Registered Mark"}}},
		DNSNames: []string{"example.com"}, UnknownExtKeyUsage: []asn1.ObjectIdentifier{oidBrandIndicator},
		ExtraExtensions: []pkix.Extension{{Id: oidLogotype, Value: logotype(t, directImage, base64Prefix+compressed(t, []byte(logo)))}}}
}

// issue returns a PEM file with the certificate and its issuer.
func (a authority) issue(t *testing.T, template *x509.Certificate) []byte {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, newKey(t).Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	return append(pemOf(der), pemOf(a.certificate.Raw)...)
}

func pemOf(der []byte) []byte { return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}) }

func compressed(t *testing.T, data []byte) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// logotype encodes an extension of RFC 3709 with one logo of the subject.
func logotype(t *testing.T, choice int, uri string) []byte {
	t.Helper()
	encode := func(v any) []byte {
		der, err := asn1.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return der
	}
	wrap := func(class, tag int, content ...[]byte) []byte {
		return encode(asn1.RawValue{Class: class, Tag: tag, IsCompound: true, Bytes: bytes.Join(content, nil)})
	}
	sequence := func(content ...[]byte) []byte { return wrap(asn1.ClassUniversal, asn1.TagSequence, content...) }
	text := func(s string) []byte { return encode(asn1.RawValue{Tag: asn1.TagIA5String, Bytes: []byte(s)}) }
	hash := sequence(sequence(encode(asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 1})), encode(make([]byte, 32)))
	details := sequence(text("image/svg+xml"), sequence(hash), sequence(text(uri)))
	return sequence(wrap(asn1.ClassContextSpecific, subjectLogo,
		wrap(asn1.ClassContextSpecific, choice, sequence(sequence(details)))))
}

func TestCertificates(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	bomb := bytes.Repeat([]byte(" "), 8<<20)
	for name, c := range map[string]struct {
		domain, code, state, says string
		change                    func(*x509.Certificate)
	}{
		"good":              {"example.com", "", Met, "", func(*x509.Certificate) {}},
		"subdomain":         {"news.example.com", "", Met, "", func(*x509.Certificate) {}},
		"with the selector": {"example.com", "", Met, "", func(c *x509.Certificate) { c.DNSNames = []string{"default._bimi.example.com"} }},
		"another domain":    {"example.org", "certificate_domain", Broken, `"example.com", not example.org`, func(*x509.Certificate) {}},
		"another subdomain": {"example.com", "certificate_domain", Broken, "news", func(c *x509.Certificate) { c.DNSNames = []string{"news.example.com"} }},
		"suffix of a name":  {"ample.com", "certificate_domain", Broken, "not ample.com", func(*x509.Certificate) {}},
		"no names":          {"example.com", "certificate_domain", Broken, "no domain", func(c *x509.Certificate) { c.DNSNames = nil }},
		"expired":           {"example.com", "certificate_validity", Broken, "expired on 2026-05-31", func(c *x509.Certificate) { c.NotAfter = testTime.AddDate(0, 0, -1) }},
		"expires soon":      {"example.com", "certificate_validity", Close, "2026-06-21", func(c *x509.Certificate) { c.NotAfter = testTime.AddDate(0, 0, 20) }},
		"not yet valid":     {"example.com", "certificate_validity", Broken, "not valid before", func(c *x509.Certificate) { c.NotBefore = testTime.AddDate(0, 0, 1) }},
		"web server": {"example.com", "certificate", Broken, "brand indicators", func(c *x509.Certificate) {
			c.UnknownExtKeyUsage, c.ExtKeyUsage = nil, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
		}},
		"authority":     {"example.com", "certificate", Broken, "authority", func(c *x509.Certificate) { c.IsCA, c.BasicConstraintsValid = true, true }},
		"no logo":       {"example.com", "certificate_logo", Broken, "no logo", func(c *x509.Certificate) { c.ExtraExtensions = nil }},
		"another logo":  {"example.com", "certificate_logo", Broken, "another logo", setLogo(t, directImage, base64Prefix+compressed(t, []byte("<svg/>")))},
		"uncompressed":  {"example.com", "", Met, "", setLogo(t, directImage, base64Prefix+base64.StdEncoding.EncodeToString([]byte(goodLogo)))},
		"logo by URL":   {"example.com", "certificate_logo", Unknown, "by URL", setLogo(t, directImage, "https://example.com/logo.svg")},
		"reference":     {"example.com", "certificate_logo", Unknown, "by URL", setLogo(t, 1, "https://example.com/logo.svg")},
		"not base64":    {"example.com", "certificate_logo", Broken, "base64", setLogo(t, directImage, base64Prefix+"%%%")},
		"bomb":          {"example.com", "certificate_logo", Broken, "too large", setLogo(t, directImage, base64Prefix+compressed(t, bomb))},
		"not ASN.1":     {"example.com", "certificate_logo", Broken, "malformed", func(c *x509.Certificate) { c.ExtraExtensions[0].Value = []byte("<svg/>") }},
		"empty ASN.1":   {"example.com", "certificate_logo", Broken, "no logo of the subject", func(c *x509.Certificate) { c.ExtraExtensions[0].Value = []byte{0x30, 0} }},
		"length of ASN": {"example.com", "certificate_logo", Broken, "malformed", func(c *x509.Certificate) { c.ExtraExtensions[0].Value = []byte{0x30, 0x84, 0x7f, 0xff, 0xff, 0xff} }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			template := markTemplate(t, goodLogo)
			c.change(template)
			findings := checkCertificate(ca.issue(t, template), c.domain, []byte(goodLogo), testTime)
			for _, f := range findings {
				switch {
				case f.Code == c.code && (f.State != c.state || !strings.Contains(f.Found, c.says) || (f.Fix == "") != (c.state == Met || c.state == Unknown)):
					t.Errorf("got %+v, want it %s with %q", f, c.state, c.says)
				case f.Code != c.code && f.State != Met:
					t.Errorf("got %+v, want it met", f)
				}
			}
		})
	}
}

func setLogo(t *testing.T, choice int, uri string) func(*x509.Certificate) {
	t.Helper()
	value := logotype(t, choice, uri)
	return func(c *x509.Certificate) { c.ExtraExtensions[0].Value = value }
}

func TestCertificateFiles(t *testing.T) {
	t.Parallel()
	ca, other := newAuthority(t), newAuthority(t)
	good := ca.issue(t, markTemplate(t, goodLogo))
	first, _ := pem.Decode(good)
	for name, c := range map[string]struct {
		file       []byte
		code, says string
	}{
		"empty":         {nil, "certificate", "no PEM"},
		"DER":           {first.Bytes, "certificate", "no PEM"},
		"key":           {pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte("x")}), "certificate", "PRIVATE KEY"},
		"garbage":       {pemOf([]byte("<script>")), "certificate", "cannot be parsed"},
		"many":          {bytes.Repeat(pemOf(first.Bytes), maxChain+1), "certificate", "more than"},
		"without CA":    {pemOf(first.Bytes), "certificate_issuers", "no certificate of the issuer"},
		"another CA":    {append(pemOf(first.Bytes), pemOf(other.certificate.Raw)...), "certificate_issuers", "not signed"},
		"reverse order": {append(pemOf(ca.certificate.Raw), pemOf(first.Bytes)...), "certificate", "authority"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := find(t, checkCertificate(c.file, "example.com", []byte(goodLogo), testTime), c.code)
			if f.State != Broken || f.Fix == "" || !strings.Contains(f.Found, c.says) {
				t.Errorf("got %+v, want it broken with %q", f, c.says)
			}
		})
	}
}

func FuzzLogotype(f *testing.F) {
	f.Add([]byte{0x30, 0x02, 0xa2, 0x00})
	f.Fuzz(func(_ *testing.T, data []byte) {
		if logo, err := embeddedLogo(data); err == nil && len(logo) > maxLogo {
			panic(fmt.Sprintf("a logo with %d bytes", len(logo)))
		}
	})
}
