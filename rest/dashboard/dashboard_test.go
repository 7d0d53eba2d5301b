package dashboard

import (
	"bytes"
	"compress/gzip"
	"io"
	"log/slog"
	"maps"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

const index = `<!doctype html>
<html lang="en"><head><meta name="style-nonce" content=""><script type="module" src="/assets/index-a1.js"></script></head><body></body></html>`

func newTestApp(t *testing.T, files fstest.MapFS) http.Handler {
	t.Helper()
	a, err := newApp(files, Options{Version: "1.2.3", Dev: true, Logger: slog.New(slog.DiscardHandler), Links: []Link{{"/api/docs", "API reference", "every operation"}}})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func built(t *testing.T) fstest.MapFS {
	t.Helper()
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	if _, err := z.Write([]byte("script")); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return fstest.MapFS{"index.html": {Data: []byte(index)}, "assets/index-a1.js.gz": {Data: zipped.Bytes()}, "assets/index-a1.js.br": {Data: []byte("brotli")},
		"assets/live.worker-b2.js.gz": {Data: zipped.Bytes()}, "assets/live.worker-b2.js.br": {Data: []byte("brotli")}}
}

func get(t *testing.T, h http.Handler, path string, header http.Header) *http.Response {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, path, http.NoBody)
	r.Header = header
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func bodyOf(t *testing.T, r *http.Response) string {
	t.Helper()
	defer r.Body.Close()
	content, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

var person = http.Header{"Accept": {"text/html,*/*"}}

func TestEveryPathOfTheAppGetsThePage(t *testing.T) {
	t.Parallel()
	h := newTestApp(t, built(t))
	nonces := map[string]bool{}
	for _, path := range []string{"/", "/emails", "/emails/msg_1", "/settings/billing"} {
		r := get(t, h, path, person)
		page, policy := bodyOf(t, r), r.Header.Get("Content-Security-Policy")
		if r.StatusCode != http.StatusOK || r.Header.Get("Cache-Control") != "no-store" || r.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: got %d with %v", path, r.StatusCode, r.Header)
		}
		nonce := regexp.MustCompile(`style-nonce" content="(\w+)"`).FindStringSubmatch(page)
		if nonce == nil || nonces[nonce[1]] || !strings.Contains(policy, "'nonce-"+nonce[1]+"'") {
			t.Fatalf("%s: the page has the nonce %v, the policy is %s; want a new one in both", path, nonce, policy)
		}
		nonces[nonce[1]] = true
		for _, want := range []string{"default-src 'none'", "script-src 'self';", "connect-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"} {
			if !strings.Contains(policy, want) {
				t.Errorf("%s: the policy lacks %s: %s", path, want, policy)
			}
		}
	}
}

func TestTheThemeIsInThePage(t *testing.T) {
	t.Parallel()
	h := newTestApp(t, built(t))
	for cookie, want := range map[string]string{"dark": `<html data-theme="dark" lang`, "light": `<html data-theme="light" lang`, `"><script>`: `<html lang`, "": `<html lang`} {
		page := bodyOf(t, get(t, h, "/", http.Header{"Accept": {"text/html"}, "Cookie": {"postrider-theme=" + cookie}}))
		if !strings.Contains(page, want) {
			t.Errorf("with the cookie %q the page lacks %s", cookie, want)
		}
	}
}

func TestProgramsAreToldWhatIsNotThere(t *testing.T) {
	t.Parallel()
	h := newTestApp(t, built(t))
	if r := get(t, h, "/wp-login.php", http.Header{"Accept": {"*/*"}}); r.StatusCode != http.StatusNotFound {
		t.Errorf("a program got %d for a path that is not there, want 404", r.StatusCode)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/emails", http.NoBody))
	if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("POST /emails got %d, Allow %q", w.Code, w.Header().Get("Allow"))
	}
}

func TestAssetsAreCompressedAndKept(t *testing.T) {
	t.Parallel()
	h := newTestApp(t, built(t))
	for accept, want := range map[string]struct{ encoding, body string }{
		"gzip, deflate, br": {"br", "brotli"}, "gzip;q=1, br;q=0": {"gzip", ""}, "GZIP": {"gzip", ""}, "": {"", "script"}, "identity": {"", "script"},
	} {
		r := get(t, h, "/assets/index-a1.js", http.Header{"Accept-Encoding": {accept}})
		body := bodyOf(t, r)
		if r.StatusCode != http.StatusOK || r.Header.Get("Content-Encoding") != want.encoding || want.body != "" && body != want.body {
			t.Errorf("Accept-Encoding %q: got %d, encoding %q, body %q", accept, r.StatusCode, r.Header.Get("Content-Encoding"), body)
		}
		if r.Header.Get("Content-Type") != "text/javascript; charset=utf-8" || !strings.Contains(r.Header.Get("Cache-Control"), "immutable") || r.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("Accept-Encoding %q: got the header %v", accept, r.Header)
		}
	}
	for _, path := range []string{"/assets/none-c3.js", "/assets/", "/assets/index-a1.js.gz", "/assets/../index.html", "/assets/x/y.js", "/assets/%2e%2e/index.html"} {
		if r := get(t, h, path, person); r.StatusCode != http.StatusNotFound || strings.Contains(r.Header.Get("Cache-Control"), "immutable") {
			t.Errorf("%s: got %d with %v, want 404 that is not kept", path, r.StatusCode, r.Header)
		}
	}
	if policy := get(t, h, "/assets/live.worker-b2.js", person).Header.Get("Content-Security-Policy"); !strings.Contains(policy, "connect-src 'self'") {
		t.Errorf("the worker has the policy %q", policy)
	}
}

func TestWithoutABuildAPageSaysSo(t *testing.T) {
	t.Parallel()
	h := newTestApp(t, fstest.MapFS{".gitkeep": {}})
	r := get(t, h, "/", nil)
	page := bodyOf(t, r)
	for _, want := range []string{"make dashboard", "20.19", "1.2.3", "Development mode", `href="/api/docs"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if r.StatusCode != http.StatusOK || !strings.Contains(r.Header.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("got %d with %v", r.StatusCode, r.Header)
	}
	if r := get(t, h, "/emails", person); r.StatusCode != http.StatusNotFound {
		t.Errorf("/emails got %d, want 404", r.StatusCode)
	}
}

func TestDocumentsAreByTheirHash(t *testing.T) {
	t.Parallel()
	documents, err := Documents()
	if err != nil || len(documents) == 0 {
		t.Fatalf("got %d documents and the error %v", len(documents), err)
	}
	for hash, text := range documents {
		if !regexp.MustCompile(`^[0-9a-f]{64}$`).MatchString(hash) || text == "" {
			t.Errorf("the document %q has the text %q", hash, text)
		}
	}
}

func post(t *testing.T, h http.Handler, fields map[string]string, header http.Header) *http.Response {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for name, value := range fields {
		if err := form.WriteField(name, value); err != nil {
			t.Fatal(err)
		}
	}
	if err := form.Close(); err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodPost, Preview, &body)
	maps.Copy(r.Header, header)
	r.Header.Set("Content-Type", form.FormDataContentType())
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func TestAPreviewCanDoNothing(t *testing.T) {
	t.Parallel()
	h := newTestApp(t, built(t))
	here := http.Header{"Sec-Fetch-Site": {"same-origin"}}
	const html = "<p>Hello</p><script>alert(1)</script>"
	r := post(t, h, map[string]string{"html": html}, here)
	policy := r.Header.Get("Content-Security-Policy")
	if r.StatusCode != http.StatusOK || bodyOf(t, r) != html || !strings.HasPrefix(policy, "sandbox; default-src 'none'; ") || strings.Contains(policy, "https:") || strings.Contains(policy, "script-src") {
		t.Errorf("got %d with the policy %s", r.StatusCode, policy)
	}
	if policy := post(t, h, map[string]string{"html": html, "pictures": "yes"}, here).Header.Get("Content-Security-Policy"); !strings.Contains(policy, "img-src data: https: http:;") {
		t.Errorf("with pictures the policy is %s", policy)
	}
	if r := post(t, h, map[string]string{"html": html}, http.Header{"Sec-Fetch-Site": {"cross-site"}}); r.StatusCode != http.StatusForbidden {
		t.Errorf("a preview from another site got %d, want 403", r.StatusCode)
	}
	if r := post(t, h, map[string]string{"html": html}, http.Header{"Origin": {"https://evil.example"}}); r.StatusCode != http.StatusForbidden {
		t.Errorf("a preview from another origin got %d, want 403", r.StatusCode)
	}
	if r := post(t, h, map[string]string{"html": strings.Repeat("x", maxPreview)}, here); r.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("too large a preview got %d, want 413", r.StatusCode)
	}
	if r := get(t, h, Preview, person); r.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("GET got %d, want 405", r.StatusCode)
	}
}
