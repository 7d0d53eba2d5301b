package bimi

import (
	"bytes"
	"crypto/x509"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/web/egress"
)

// newServer returns a checker and the URL of a server with files.
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
