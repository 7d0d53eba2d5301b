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
	"net/http"
	"net/http/httptest"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/web/egress"
)

const goodLogo = `<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" version="1.2" baseProfile="tiny-ps" viewBox="0 0 512 512">
  <title>Example</title>
  <defs><linearGradient id="g"><stop offset="0" stop-color="#fff"/></linearGradient></defs>
  <rect width="512" height="512" fill="url(#g)"/><use xmlns:xlink="http://www.w3.org/1999/xlink" xlink:href="#g"/>
</svg>`

// states returns the state of each finding by its code.
func states(list []Finding) map[string]string {
	out := map[string]string{}
	for _, f := range list {
		out[f.Code] = f.State
	}
	return out
}

func find(t *testing.T, list []Finding, code string) Finding {
	t.Helper()
	i := slices.IndexFunc(list, func(f Finding) bool { return f.Code == code })
	if i < 0 {
		t.Fatalf("no finding %s in %+v", code, list)
	}
	return list[i]
}

func TestGoodLogoMeetsEverything(t *testing.T) {
	t.Parallel()
	for _, f := range checkLogo([]byte(goodLogo)) {
		if f.State != Met || f.Fix != "" || f.Found == "" {
			t.Errorf("got %+v, want it met", f)
		}
	}
}

func TestBadLogos(t *testing.T) {
	t.Parallel()
	replace := func(old, by string) string { return strings.Replace(goodLogo, old, by, 1) }
	inside := func(text string) string { return replace("</svg>", text+"</svg>") }
	for name, c := range map[string]struct{ logo, code, says string }{
		"no profile":         {replace(` baseProfile="tiny-ps"`, ""), "logo_profile", `baseProfile ""`},
		"SVG Tiny":           {replace("tiny-ps", "tiny"), "logo_profile", `"tiny"`},
		"another version":    {replace(`version="1.2"`, `version="1.1"`), "logo_profile", `"1.1"`},
		"not square":         {replace("0 0 512 512", "0 0 512 300"), "logo_shape", "not square"},
		"no viewBox":         {replace(`viewBox="0 0 512 512"`, ""), "logo_shape", "no viewBox"},
		"broken viewBox":     {replace("0 0 512 512", "0 0 NaN NaN"), "logo_shape", "invalid"},
		"long viewBox":       {replace("0 0 512 512", "0 0 1 1 1 1"), "logo_shape", "invalid"},
		"empty viewBox":      {replace("0 0 512 512", "0 0 0 0"), "logo_shape", "invalid"},
		"no title":           {replace("<title>Example</title>", ""), "logo_title", "no title"},
		"empty title":        {replace("Example", " "), "logo_title", "no title"},
		"two titles":         {inside("<title>B</title>"), "logo_title", "2 titles"},
		"nested title":       {replace("<title>Example</title>", "<g><title>B</title></g>"), "logo_title", "no title"},
		"script":             {inside("<script>alert(1)</script>"), "logo_content", `"script"`},
		"animation":          {inside(`<rect><animate attributeName="x"/></rect>`), "logo_content", `"animate"`},
		"image":              {inside(`<image href="data:image/png;base64,AA"/>`), "logo_content", `"image"`},
		"foreign object":     {inside(`<foreignObject/>`), "logo_content", `"foreignObject"`},
		"another namespace":  {inside(`<b xmlns="http://www.w3.org/1999/xhtml"/>`), "logo_content", "another namespace"},
		"nested svg":         {inside(`<svg/>`), "logo_content", `"svg"`},
		"external use":       {inside(`<use href="https://tracker.example/a.svg#b"/>`), "logo_content", "tracker.example"},
		"external fill":      {inside(`<rect fill="red url( 'https://tracker.example/#a')"/>`), "logo_content", "tracker.example"},
		"second url":         {inside(`<rect fill="url(#g) URL(//tracker.example)"/>`), "logo_content", "tracker.example"},
		"event":              {inside(`<rect onload="alert(1)"/>`), "logo_content", "event handler"},
		"style":              {inside(`<rect style="fill:red"/>`), "logo_content", `"style"`},
		"style element":      {inside(`<style>@import url(x)</style>`), "logo_content", `"style"`},
		"root with x":        {replace(`viewBox`, `x="0" viewBox`), "logo_content", `"x" of the root`},
		"root with y":        {replace(`viewBox`, `y="0" viewBox`), "logo_content", `"y" of the root`},
		"style sheet":        {replace("<svg", `<?xml-stylesheet href="a.css"?><svg`), "logo_content", "xml-stylesheet"},
		"not XML":            {"GIF89a", "logo_content", "not an SVG image"},
		"cut off":            {goodLogo[:200], "logo_content", "not an SVG image"},
		"empty":              {"", "logo_content", "no elements"},
		"HTML":               {"<html/>", "logo_content", "root"},
		"no namespace":       {replace(` xmlns="http://www.w3.org/2000/svg"`, ""), "logo_content", "root"},
		"another encoding":   {replace("UTF-8", "ISO-8859-1"), "logo_content", "UTF-8"},
		"unknown entity":     {replace("Example", "&brand;"), "logo_content", "invalid"},
		"entity declaration": {replace("<svg", `<!DOCTYPE svg [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><svg`), "logo_content", "declarations"},
		"deep":               {inside(strings.Repeat("<g>", 100) + strings.Repeat("</g>", 100)), "logo_content", "nested"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := find(t, checkLogo([]byte(c.logo)), c.code)
			if f.State != Broken || f.Fix == "" || !strings.Contains(f.Found, c.says) {
				t.Errorf("got %+v, want it broken with %q", f, c.says)
			}
		})
	}
}

func TestLogosWithHarmlessExtrasPass(t *testing.T) {
	t.Parallel()
	extras := strings.NewReplacer("<svg ", `<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd"><svg `,
		"<title>", `<metadata><r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/></metadata><title>`,
		"<rect", `<rect xmlns:i="http://www.inkscape.org/" i:label="a" xml:space="preserve"`).Replace(goodLogo)
	for code, state := range states(checkLogo([]byte(extras))) {
		if state != Met {
			t.Errorf("%s is %s", code, state)
		}
	}
	long := strings.Replace(goodLogo, "Example", strings.Repeat("é", 65), 1)
	if f := find(t, checkLogo([]byte(long)), "logo_title"); f.State != Close {
		t.Errorf("a title with 65 characters is %+v, want it close", f)
	}
}

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

// files is a server with the files of a brand.
func newServer(t *testing.T, files map[string]http.HandlerFunc) (*Checker, string) {
	t.Helper()
	mux := http.NewServeMux()
	for path, handler := range files {
		mux.HandleFunc(path, handler)
	}
	server := httptest.NewTLSServer(mux)
	t.Cleanup(server.Close)
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	guard := egress.NewGuard([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")})
	c := New(egress.NewClient(egress.ClientConfig{Guard: guard, RootCAs: pool}))
	c.now = func() time.Time { return testTime }
	return c, server.URL
}

func serve(kind string, body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write(body)
	}
}

func TestFilesAreFetched(t *testing.T) {
	t.Parallel()
	file := newAuthority(t).issue(t, markTemplate(t, goodLogo))
	zipped, err := base64.StdEncoding.DecodeString(compressed(t, []byte(goodLogo)))
	if err != nil {
		t.Fatal(err)
	}
	c, url := newServer(t, map[string]http.HandlerFunc{
		"/logo.svg": serve("image/svg+xml", []byte(goodLogo)), "/logo.svgz": serve("image/svg+xml; charset=utf-8", zipped),
		"/logo.txt": serve("text/plain", []byte(goodLogo)), "/vmc.pem": serve("application/x-pem-file", file),
		"/large.svg": serve("image/svg+xml", []byte(goodLogo+strings.Repeat(" ", maxLogo))),
		"/moved.svg": http.RedirectHandler("/logo.svg", http.StatusFound).ServeHTTP,
		"/cut.svg": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "5000")
			_, _ = w.Write([]byte(goodLogo))
		},
	})
	for _, row := range []struct {
		logo, certificate string
		want              map[string]string // other findings are met
	}{
		{"/logo.svg", "/vmc.pem", nil},
		{"/logo.svgz", "/vmc.pem", nil},
		{"/logo.svg", "", map[string]string{"certificate": Close}},
		{"/logo.txt", "/vmc.pem", map[string]string{"logo": Close}},
		{"/large.svg", "/vmc.pem", map[string]string{"logo": Broken, "certificate_logo": Unknown}},
		{"/moved.svg", "/vmc.pem", map[string]string{"logo": Broken, "certificate_logo": Unknown}},
		{"/cut.svg", "/vmc.pem", map[string]string{"logo": Broken, "certificate_logo": Unknown}},
		{"/logo.svg", "/missing.pem", map[string]string{"certificate": Broken}},
		{"/logo.svg", "/logo.svg", map[string]string{"certificate": Broken}},
	} {
		certificate := row.certificate
		if certificate != "" {
			certificate = url + certificate
		}
		findings := c.Check(t.Context(), "example.com", url+row.logo, certificate)
		for _, f := range findings {
			want := row.want[f.Code]
			if want == "" {
				want = Met
			}
			if f.State != want || (f.State == Broken || f.State == Close) && f.Fix == "" {
				t.Errorf("%s and %s: got %+v, want it %s", row.logo, row.certificate, f, want)
			}
		}
	}
}

func TestPrivateServersAreRefused(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 1)
	_, url := newServer(t, map[string]http.HandlerFunc{"/": func(http.ResponseWriter, *http.Request) { asked <- struct{}{} }})
	c := New(egress.NewClient(egress.ClientConfig{Guard: egress.NewGuard(nil)}))
	f := find(t, c.Check(t.Context(), "example.com", url+"/logo.svg", ""), "logo")
	if f.State != Broken || !strings.Contains(f.Found, "private address") {
		t.Errorf("got %+v, want it refused", f)
	}
	if len(asked) > 0 {
		t.Error("the server received a request")
	}
}

// TestHostileFilesCostBoundedMemory fetches files that expand a thousandfold, and endless ones. It measures the whole
// process, so that it cannot run in parallel.
func TestHostileFilesCostBoundedMemory(t *testing.T) {
	bomb, err := base64.StdEncoding.DecodeString(compressed(t, bytes.Repeat([]byte(" "), 64<<20)))
	if err != nil {
		t.Fatal(err)
	}
	endless := func(w http.ResponseWriter, r *http.Request) {
		for chunk := bytes.Repeat([]byte("<g>"), 10_000); r.Context().Err() == nil; {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	}
	c, url := newServer(t, map[string]http.HandlerFunc{"/endless": endless, "/bomb.svg": serve("image/svg+xml", bomb[:min(len(bomb), maxLogo)]),
		"/encoded.svg": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb)
		}})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, path := range []string{"/endless", "/bomb.svg", "/encoded.svg"} {
		f := find(t, c.Check(t.Context(), "example.com", url+path, url+"/endless"), "logo")
		if f.State != Broken || !strings.Contains(f.Found, "more than 32 KiB") && !strings.Contains(f.Found, "could not be read") {
			t.Errorf("%s: got %+v, want it refused", path, f)
		}
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 32<<20 {
		t.Errorf("three checks allocated %d MiB", used>>20)
	}
}

func FuzzLogo(f *testing.F) {
	f.Add([]byte(goodLogo))
	f.Add([]byte("<svg xmlns='http://www.w3.org/2000/svg' viewBox='0,0,1e999,1'/>"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, finding := range checkLogo(data) {
			if finding.Found == "" || (finding.State == Met) != (finding.Fix == "") || len(finding.Found) > 2000 {
				t.Errorf("got %+v", finding)
			}
		}
	})
}

func FuzzLogotype(f *testing.F) {
	f.Add([]byte{0x30, 0x02, 0xa2, 0x00})
	f.Fuzz(func(_ *testing.T, data []byte) {
		if logo, err := embeddedLogo(data); err == nil && len(logo) > maxLogo {
			panic(fmt.Sprintf("a logo with %d bytes", len(logo)))
		}
	})
}
