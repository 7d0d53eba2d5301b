package journeys_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/test/harness"
)

// certificateFile writes a certificate for the name, with its key, and returns a pool that trusts it.
func certificateFile(t *testing.T, file, name string) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{name}, NotBefore: time.Now().
		Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	content := append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})...)
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(content)
	return pool
}

// With its own certificate the service needs no proxy: it serves the base URL over TLS and redirects plain
// requests there.
func TestJourneyHTTPSWithoutAProxy(t *testing.T) {
	t.Parallel()
	const host = "mail.example.com"
	file := filepath.Join(t.TempDir(), "https.pem")
	roots := certificateFile(t, file, host)
	plain := expect.FreeAddress(t)
	app := harness.Start(t, func(s setting.RawValues) {
		s["POSTRIDER_HTTP_ADDR"], s["POSTRIDER_HTTP_TLS_ADDR"], s["POSTRIDER_BASE_URL"] = plain, "127.0.0.1:0",
			"https://"+host
		s["POSTRIDER_HTTP_TLS_CERT"], s["POSTRIDER_HTTP_TLS_KEY"] = file, file
		s["POSTRIDER_INBOUND_ADDR"], s["POSTRIDER_RELAY_ADDR"], s["POSTRIDER_RELAY_TLS_ADDR"] = "127.0.0.1:0",
			"127.0.0.1:0", "127.0.0.1:0"
	})
	secure := listensAt(t, app, "serving HTTPS")
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
			DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
				if _, port, _ := net.SplitHostPort(addr); port == "443" {
					addr = secure
				} else {
					addr = plain
				}
				return (&net.Dialer{}).DialContext(ctx, network, addr)
			}}}
	ask := func(method, url, as string) *http.Response {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.Header.Set("Authorization", "Bearer "+app.APIKey); as != "" {
			r.Host = as
		}
		a, err := client.Do(r)
		if err != nil {
			t.Fatalf("%s %s: %v", method, url, err)
		}
		if _, err := io.Copy(io.Discard, a.Body); err != nil {
			t.Error(err)
		}
		a.Body.Close()
		return a
	}
	for _, c := range []struct {
		method, url, as string
		status          int
		location, hsts  string
	}{
		{"GET", "https://" + host + "/api/emails", "", 200, "", "max-age=31536000"},
		{"GET", "https://" + host + "/healthz", "", 200, "", "max-age=31536000"},
		{"GET", "https://" + host + "/api/emails", "links.customer.example", 404, "", ""},
		{"GET", "http://" + host + "/api/emails?limit=2", "", 308, "https://" + host + "/api/emails?limit=2", ""},
		{"POST", "http://" + host + "/api/emails", "", 308, "https://" + host + "/api/emails", ""},
		{"GET", "http://" + host + "//evil.example/", "", 308, "https://" + host + "//evil.example/", ""},
		{"GET", "http://stranger.example/", "", 308, "https://" + host + "/", ""},
		{"GET", "http://" + host + "/readyz", "", 200, "", ""},
		{"GET", "http://" + plain + "/api/emails", "", 200, "", ""},
	} {
		a := ask(c.method, c.url, c.as)
		if a.StatusCode != c.status || a.Header.Get("Location") != c.location ||
			a.Header.Get("Strict-Transport-Security") != c.hsts {
			t.Errorf("%s %s as %q: status %d, location %q, HSTS %q, want %d, %q, %q", c.method, c.url, c.as,
				a.StatusCode, a.Header.Get("Location"), a.Header.Get("Strict-Transport-Security"), c.status,
				c.location, c.hsts)
		}
		if a.TLS != nil && a.ProtoMajor != 2 {
			t.Errorf("%s speaks %s, want HTTP/2", c.url, a.Proto)
		}
	}
}
