package dashboard

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/admission"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/intake"
)

const index = `<!doctype html>
<html lang="en"><head><meta name="style-nonce" content=""><script type="module" src="/assets/index-a1.js"></script></head><body></body></html>`

func newTestApp(t *testing.T, files fstest.MapFS) http.Handler {
	t.Helper()
	h, _ := newBoundApp(t, files, intake.Config{})
	return h
}

// newBoundApp returns the app within a budget, as in the service.
func newBoundApp(t *testing.T, files fstest.MapFS, c intake.Config) (http.Handler, *intake.Budget) {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	c.Dir, c.Logger = t.TempDir(), log
	budget, err := intake.New(c)
	if err != nil {
		t.Fatal(err)
	}
	a, err := newApp(files, Options{Version: "1.2.3", Dev: true, Door: byCookie{}, Budget: budget, Logger: log,
		Links: []Link{{"/api/docs", "API reference", "every operation"}}})
	if err != nil {
		t.Fatal(err)
	}
	return budget.LimitHandler(a, func(*http.Request) intake.Tenant { return intake.Tenant{} },
		func(w http.ResponseWriter) { w.WriteHeader(http.StatusServiceUnavailable) }), budget
}

// byCookie authenticates the user named in a cookie, and any key.
type byCookie struct{}

func (byCookie) Authenticate(r *http.Request) (accounts.Caller, error) {
	if r.Header.Get("Authorization") != "" {
		return accounts.Caller{AccountID: "acc_1", KeyID: "key_1"}, nil
	}
	c, err := r.Cookie("postrider")
	switch {
	case err != nil:
		return accounts.Caller{}, fault.Unauthenticated()
	case r.Header.Get("Sec-Fetch-Site") != "same-origin":
		return accounts.Caller{}, admission.ErrCrossOrigin()
	}
	return accounts.Caller{AccountID: "acc_1", Person: &accounts.Person{UserID: c.Value}}, nil
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
	return fstest.MapFS{"index.html": {Data: []byte(index)}, "assets/index-a1.js.gz": {Data: zipped.Bytes()},
		"assets/index-a1.js.br":       {Data: []byte("brotli")},
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
		if r.StatusCode != http.StatusOK || r.Header.Get("Cache-Control") != "no-store" ||
			r.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: got %d with %v", path, r.StatusCode, r.Header)
		}
		nonce := regexp.MustCompile(`style-nonce" content="(\w+)"`).FindStringSubmatch(page)
		if nonce == nil || nonces[nonce[1]] || !strings.Contains(policy, "'nonce-"+nonce[1]+"'") {
			t.Fatalf("%s: the page has the nonce %v, the policy is %s; want a new one in both", path, nonce, policy)
		}
		nonces[nonce[1]] = true
		for _, want := range []string{"default-src 'none'", "script-src 'self';", "connect-src 'self'",
			"frame-ancestors 'none'", "base-uri 'none'"} {
			if !strings.Contains(policy, want) {
				t.Errorf("%s: the policy lacks %s: %s", path, want, policy)
			}
		}
	}
}

func TestTheThemeIsInThePage(t *testing.T) {
	t.Parallel()
	h := newTestApp(t, built(t))
	for cookie, want := range map[string]string{"dark": `<html data-theme="dark" lang`,
		"light": `<html data-theme="light" lang`, `"><script>`: `<html lang`, "": `<html lang`} {
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
		if r.StatusCode != http.StatusOK || r.Header.Get("Content-Encoding") != want.encoding || want.body != "" &&
			body != want.body {
			t.Errorf("Accept-Encoding %q: got %d, encoding %q, body %q", accept, r.StatusCode,
				r.Header.Get("Content-Encoding"), body)
		}
		if r.Header.Get("Content-Type") != "text/javascript; charset=utf-8" ||
			!strings.Contains(r.Header.Get("Cache-Control"), "immutable") || r.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("Accept-Encoding %q: got the header %v", accept, r.Header)
		}
	}
	for _, path := range []string{"/assets/none-c3.js", "/assets/", "/assets/index-a1.js.gz", "/assets/../index.html",
		"/assets/x/y.js", "/assets/%2e%2e/index.html"} {
		if r := get(t, h, path, person); r.StatusCode != http.StatusNotFound ||
			strings.Contains(r.Header.Get("Cache-Control"), "immutable") {
			t.Errorf("%s: got %d with %v, want 404 that is not kept", path, r.StatusCode, r.Header)
		}
	}
	if policy := get(t, h, "/assets/live.worker-b2.js", person).
		Header.Get("Content-Security-Policy"); !strings.Contains(policy, "connect-src 'self'") {
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
	if r.StatusCode != http.StatusOK ||
		!strings.Contains(r.Header.Get("Content-Security-Policy"), "default-src 'none'") {
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
	for _, name := range []string{"pictures", "html"} { // in the order of the app's form
		value, given := fields[name]
		if !given {
			continue
		}
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

// here returns the header of a request from the dashboard of a signed-in user.
var here = http.Header{"Sec-Fetch-Site": {"same-origin"}, "Cookie": {"postrider=usr_1"}}

func TestAPreviewCanDoNothing(t *testing.T) {
	t.Parallel()
	h := newTestApp(t, built(t))
	const html = "<p>Hello</p><script>alert(1)</script>"
	const shown = "<p>Hello</p>"
	r := post(t, h, map[string]string{"html": html}, here)
	policy := r.Header.Get("Content-Security-Policy")
	if r.StatusCode != http.StatusOK || bodyOf(t, r) != shown ||
		!strings.HasPrefix(policy, "sandbox; default-src 'none'; ") || strings.Contains(policy, "https:") ||
		strings.Contains(policy, "script-src") {
		t.Errorf("got %d with the policy %s", r.StatusCode, policy)
	}
	if policy := post(t, h, map[string]string{"pictures": "yes", "html": html}, here).
		Header.Get("Content-Security-Policy"); !strings.Contains(policy, "img-src data: https: http:;") {
		t.Errorf("with pictures the policy is %s", policy)
	}
	if r := get(t, h, Preview, person); r.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("GET got %d, want 405", r.StatusCode)
	}
}

func TestPreviewsAreForWhoIsSignedIn(t *testing.T) {
	t.Parallel()
	h := newTestApp(t, built(t))
	for name, c := range map[string]struct {
		header http.Header
		status int
	}{
		"a stranger":                      {http.Header{"Sec-Fetch-Site": {"same-origin"}}, http.StatusUnauthorized},
		"an API key":                      {http.Header{"Authorization": {"Bearer svc_x"}}, http.StatusUnauthorized},
		"a page of another site":          {http.Header{"Sec-Fetch-Site": {"cross-site"}, "Cookie": {"postrider=usr_1"}}, http.StatusForbidden},
		"a signed-in user":                {here, http.StatusOK},
		"the same, with too large a mail": {here, http.StatusRequestEntityTooLarge},
		"the same, with no form":          {here, http.StatusBadRequest},
	} {
		fields := map[string]string{"html": "<p>x</p>"}
		switch c.status {
		case http.StatusRequestEntityTooLarge:
			fields["html"] = strings.Repeat("x", maxPreview)
		case http.StatusBadRequest:
			delete(fields, "html")
		}
		if r := post(t, h, fields, c.header); r.StatusCode != c.status {
			t.Errorf("%s got %d, want %d", name, r.StatusCode, c.status)
		}
	}
}

// An upload that stalls does not delay other previews, and is ended by the minimum rate.
func TestPreviewsThatDoNotComeHoldUpNobody(t *testing.T) {
	t.Parallel()
	h, budget := newBoundApp(t, built(t), intake.Config{MinRate: intake.Rate{Bytes: 60 << 10, Period: 2 * time.Second}})
	srv := httptest.NewServer(h)
	defer srv.Close()
	const silent = 20
	for range silent {
		c, err := net.Dial("tcp", srv.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprint(c,
			"POST /preview HTTP/1.1\r\nHost: x\r\nSec-Fetch-Site: same-origin\r\nCookie: postrider=usr_2\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: 900\r\n\r\n--x")
	}
	expect.Eventually(t, "each silent upload has a place", func() bool { return budget.Usage().Bodies == silent })
	if r := post(t, h, map[string]string{"html": "<p>x</p>"}, here); r.StatusCode != http.StatusOK {
		t.Errorf("during silent uploads a preview got %d, want 200", r.StatusCode)
	}
	expect.Eventually(t, "the silent uploads are ended", func() bool { return budget.Usage() == intake.Usage{} })
}

// Untrusted content takes time and memory in proportion to its size, and the preview is never blank.
func TestHostileEmailsTakeLittle(t *testing.T) { //nolint:paralleltest // it counts allocations
	h := newTestApp(t, built(t))
	const size = 3 << 20
	repeated := func(unit string) string { return strings.Repeat(unit, size/len(unit)) }
	for name, email := range map[string]string{
		"deep":                    repeated("<div>") + "seen",
		"many attributes":         "<p " + repeated("a ") + ">seen",
		"formats never closed":    repeated("<b a=1><i b=2><p>") + "seen",
		"tables in tables":        repeated("<table><tr><td>") + "seen",
		"tags alone":              repeated("<a>") + "seen",
		"comments":                repeated("<!---->") + "seen",
		"one comment":             "<!--" + repeated("-") + "-->seen",
		"half tags":               repeated("<<") + " seen",
		"entities":                repeated("&lt;") + "seen",
		"one style sheet":         "<style>" + repeated("</styl") + "</style>seen",
		"scripts in scripts":      repeated("<script><!--<script>") + "</script></script>seen",
		"a picture of its own":    `<img src="data:image/png;base64,` + repeated("A") + `">seen`,
		"foreign elements":        repeated("<svg><math>") + "seen",
		"links that run, hidden":  repeated(`<a href="&#9;j`) + `">seen`,
		"processing instructions": repeated("<?x>") + "seen",
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r := post(t, h, map[string]string{"html": email}, here)
		runtime.ReadMemStats(&after)
		if body := bodyOf(t, r); r.StatusCode != http.StatusOK || !strings.Contains(body, "seen") &&
			name != "scripts in scripts" {
			t.Errorf("%s: got %d and %d bytes, want what is seen in them", name, r.StatusCode, len(body))
		}
		// This includes the request, its form and its response, which the test keeps in memory.
		if took := int64(after.TotalAlloc-before.TotalAlloc) / size; took > mostAllocated {
			t.Errorf("%s: %d bytes were allocated for each byte, want at most %d", name, took, mostAllocated)
		}
	}
}

// A preview omits the parts that could use the network in spite of the policy, and keeps the appearance of the email.
func TestAnEmailIsShownAsItLooks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, email, shown string
		pictures           bool
	}{
		{"styles", `<style>p>a{color:red}</style><p style="color:blue" class="a">x</p>`,
			`<style>p>a{color:red}</style><p style="color:blue" class="a">x</p>`, false},
		{"styles in comments", "<style><!--\np{color:red}\n--></style>", "<style>\np{color:red}\n</style>", false},
		{"a style that would end early elsewhere",
			`<svg><style><link rel=dns-prefetch href=//evil.example></style></svg>`,
			`<svg><style>\3c link rel=dns-prefetch href=//evil.example></style></svg>`, false},
		{"a document",
			"<!DOCTYPE html><html lang=en><head><title>A & B</title></head><body bgcolor=white>x</body></html>",
			`<!doctype html><html lang="en"><head><title>A &amp; B</title></head><body bgcolor="white">x</body></html>`,
			false},
		{"characters", "<p>1 &lt; 2 &amp; \u00fc &euro;</p>", "<p>1 &lt; 2 &amp; \u00fc \u20ac</p>", false},
		{"links", `<a href="https://a.example/?a=1&amp;b=2">x</a><a href="mailto:a@b.c">y</a>`,
			`<a href="https://a.example/?a=1&amp;b=2">x</a><a href="mailto:a@b.c">y</a>`, false},
		{"pictures of elsewhere",
			`<img src="https://a.example/x.png" alt="x"><img srcset="a.png 1x, //a.example/y.png 2x"><td background="//a.example/z.png">`, `<img alt="x"><img><td>`, false},
		{"pictures that were asked for", `<img src="https://a.example/x.png">`, `<img src="https://a.example/x.png">`, true},
		{"pictures of its own", `<img src="data:image/gif;base64,R0lGOD"/>`, `<img src="data:image/gif;base64,R0lGOD"/>`, false},
		{"what is fetched past a policy",
			`<link rel="dns-prefetch" href="//evil.example"><base href="//evil.example"><meta http-equiv="refresh" content="0;url=//evil.example"><meta charset="utf-8"><p>x</p>`, `<meta charset="utf-8"><p>x</p>`, false},
		{"the same where no script runs", `<noscript><link rel="dns-prefetch" href="//evil.example"><p>x</p></noscript>`, `<p>x</p>`, false},
		{"the same in an attribute of what a browser takes for text",
			`<title><p title="</title><link rel=dns-prefetch href=//evil.example>">`,
			`<title>&lt;p title=&#34;</title>&#34;&gt;`, false},
		{"the same in a comment that a browser ends earlier", `<!--><link rel=dns-prefetch href=//evil.example>--><p>x</p>`, `--&gt;<p>x</p>`, false},
		{"the same in an attribute's name", `<p x<link rel=dns-prefetch>x</p>`, `<p rel="dns-prefetch">x</p>`, false},
		{"frames and objects",
			`<p>x</p><iframe srcdoc="<p>y"></iframe><object data="//evil.example">y</object><embed src="//evil.example"><portal src="//evil.example"></portal>`, `<p>x</p>y`, false},
		{"handlers and links that run",
			"<p onclick=alert(1)>x</p><a href=\" java\tscript:alert(1)\">y</a><svg><a xlink:href=\"javascript:alert(1)\">z</a></svg>", `<p>x</p><a>y</a><svg><a>z</a></svg>`, false},
		{"a script in an SVG", `<svg><script>alert(1)</script><text>x</text></svg>`, `<svg><text>x</text></svg>`, false},
		{"conditions for one mail program", `<!--[if mso]><p>y</p><![endif]--><![if !mso]><p>x</p><![endif]>`, `<p>x</p>`, false},
		{"raw text of old", `<xmp><b>x</b></xmp><plaintext><b>y`, `<pre>&lt;b&gt;x&lt;/b&gt;</pre><pre>&lt;b&gt;y`, false},
		{"nested more than 512 deep", strings.Repeat("<div>", 1000) + "x", strings.Repeat("<div>", 1000) + "x", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var got strings.Builder
			if err := clean(&got, strings.NewReader(c.email), appearance{pictures: c.pictures}); err != nil || got.String() != c.shown {
				t.Errorf("shown as %s (%v), want %s", got.String(), err, c.shown)
			}
		})
	}
}

// For any input, each tag of the result was checked, even for a parser that treats the whole as something other than
// markup, as browsers do within some elements.
func FuzzPreviewsHaveJudgedTagsOnly(f *testing.F) {
	for _, email := range []string{`<svg><style><link rel=x></style>`, `<title><a b="</title><base>">`,
		`<noscript><link></noscript>`, `<xmp></xmp><script>`, `<!--><link>-->`, `<p a<link b>`,
		`<math><mtext><table><mglyph><style><!--</style><img title="--><img src=x onerror=alert(1)>">`,
		"<style>\x00</style>", `<a href="java&#x09;script:x">`, `<textarea><link></textarea>`} {
		f.Add(email)
	}
	tag := regexp.MustCompile(`<[^>]*`)
	judged := regexp.MustCompile(`^<(/?[a-z][a-z0-9:_.-]*( [a-z][a-z0-9:_.-]*="[^"<>]*")*/?|!doctype [\w\s"'/:.+-]+)$`)
	name := regexp.MustCompile(`^</?([a-z][a-z0-9:_.-]*)`)
	values := regexp.MustCompile(`="[^"]*"`)
	leads := regexp.MustCompile(` (href|action|formaction|xlink:href)="\s*(javascript|vbscript|data):`)
	f.Fuzz(func(t *testing.T, email string) {
		var out strings.Builder
		if err := clean(&out, strings.NewReader(email), appearance{}); err != nil {
			t.Fatalf("the email cannot be shown: %v", err)
		}
		for _, found := range tag.FindAllString(out.String(), -1) {
			if !judged.MatchString(found) {
				t.Errorf("shown as %q, which has %q, want tags of names and quoted values only", out.String(), found)
			}
			if n := name.FindStringSubmatch(found); n != nil && slices.Contains(removed, n[1]) {
				t.Errorf("shown as %q, which has the element %s", out.String(), n[1])
			}
			if strings.Contains(values.ReplaceAllString(found, ""), " on") || leads.MatchString(found) {
				t.Errorf("shown as %q, which runs something in %q", out.String(), found)
			}
		}
	})
}
