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
	const shown = "<html><head></head><body><p>Hello</p></body></html>"
	r := post(t, h, map[string]string{"html": html}, here)
	policy := r.Header.Get("Content-Security-Policy")
	if r.StatusCode != http.StatusOK || bodyOf(t, r) != shown || !strings.HasPrefix(policy, "sandbox; default-src 'none'; ") || strings.Contains(policy, "https:") || strings.Contains(policy, "script-src") {
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

// What reaches the network past a policy is not in a preview; how an email looks is.
func TestAnEmailIsShownAsItLooks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, email, shown string
		pictures           bool
	}{
		{"styles", `<style>p{color:red}</style><p style="color:blue" class="a">x</p>`, `<html><head><style>p{color:red}</style></head><body><p style="color:blue" class="a">x</p></body></html>`, false},
		{"links", `<a href="https://a.example/?a=1&amp;b=2">x</a><a href="mailto:a@b.c">y</a>`, `<html><head></head><body><a href="https://a.example/?a=1&amp;b=2">x</a><a href="mailto:a@b.c">y</a></body></html>`, false},
		{"pictures of elsewhere", `<img src="https://a.example/x.png" alt="x"><img srcset="a.png 1x, //a.example/y.png 2x"><td background="//a.example/z.png">`, `<html><head></head><body><img alt="x"/><img/></body></html>`, false},
		{"pictures that were asked for", `<img src="https://a.example/x.png">`, `<html><head></head><body><img src="https://a.example/x.png"/></body></html>`, true},
		{"pictures of its own", `<img src="data:image/gif;base64,R0lGOD">`, `<html><head></head><body><img src="data:image/gif;base64,R0lGOD"/></body></html>`, false},
		{"what is fetched past a policy", `<link rel="dns-prefetch" href="//evil.example"><base href="//evil.example"><meta http-equiv="refresh" content="0;url=//evil.example"><meta charset="utf-8"><p>x</p>`, `<html><head><meta charset="utf-8"/></head><body><p>x</p></body></html>`, false},
		{"frames and objects", `<p>x</p><iframe srcdoc="<p>y"></iframe><object data="//evil.example"></object><embed src="//evil.example"><portal src="//evil.example"></portal>`, `<html><head></head><body><p>x</p></body></html>`, false},
		{"handlers and links that run", "<p onclick=alert(1)>x</p><a href=\" java\tscript:alert(1)\">y</a><svg><a xlink:href=\"javascript:alert(1)\">z</a></svg>", `<html><head></head><body><p>x</p><a>y</a><svg><a>z</a></svg></body></html>`, false},
		{"a script in an SVG", `<svg><script>alert(1)</script><text>x</text></svg>`, `<html><head></head><body><svg><text>x</text></svg></body></html>`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var got strings.Builder
			if err := clean(&got, c.email, c.pictures); err != nil || got.String() != c.shown {
				t.Errorf("shown as %s (%v), want %s", got.String(), err, c.shown)
			}
		})
	}
}
