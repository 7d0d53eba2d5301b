package api_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/openapi"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/work/event"
)

// The document with all routes. TestGoldenDocumentHasAllOperations in runtime fails if it lacks the routes of a module.
func TestOpenAPIDocument(t *testing.T) {
	t.Parallel()
	routes := (&bundle{}).routes()
	document, err := api.DocumentOf("1.2.3", "https://mail.example.org", routes...)
	if err != nil {
		t.Fatal(err)
	}
	expect.Golden(t, "openapi.json", string(document.JSON))
	slices.Reverse(routes)
	other, err := api.DocumentOf("1.2.3", "https://mail.example.org/", routes...)
	if err != nil {
		t.Fatal(err)
	}
	if string(document.JSON) != string(other.JSON) {
		t.Error("the order of the routes changes the document")
	}
	if older, err := document.JSON30(); err != nil || !json.Valid(older) ||
		!strings.Contains(string(older), `"openapi":"3.0.3"`) {
		t.Errorf("the 3.0 form is not one: %v", err)
	}
	if strings.Contains(string(document.JSON), "422") {
		t.Error("the document has a 422")
	}
	if joined := unspaced.FindAllString(string(document.JSON), -1); joined != nil {
		t.Errorf("sentences without a space between them: %q", joined)
	}
}

// unspaced matches two sentences of a description that were joined without a space.
var unspaced = regexp.MustCompile(`[a-z` + "`" + `)]\.[A-Z][a-z]+ `)

func TestDocumentsAreServed(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	for path, contentType := range map[string]string{"/api/openapi.json": "application/json",
		"/api/openapi-3.0.json": "application/json", "/api/openapi-3.0.yaml": "application/yaml",
		"/api/openapi.yaml": "application/yaml", "/api/docs/emails": "text/html; charset=utf-8"} {
		got := b.do(t, request{method: "GET", path: path, key: "-"})
		if got.status != 200 || got.header.Get("Content-Type") != contentType ||
			!strings.Contains(got.body, "/emails/{id}") {
			t.Errorf("%s: got %d as %s, want 200 as %s", path, got.status, got.header.Get("Content-Type"), contentType)
		}
	}
}

// documents are the paths of the document in each format, and of the reference page.
var documents = []string{"/api/openapi.json", "/api/openapi-3.0.json", "/api/openapi.yaml", "/api/openapi-3.0.yaml",
	"/api/docs/emails"}

// on returns a change of options that sets the time of the requests.
func on(moment string) func(*api.Options) {
	return func(o *api.Options) {
		o.Now = func() time.Time {
			at, err := time.Parse(time.RFC3339, moment)
			if err != nil {
				panic(err)
			}
			return at
		}
	}
}

// Even a program that has run for years serves examples with future times, in each format.
func TestTimesInExamplesOfRequestsAreOfTheDayAfterTheRequest(t *testing.T) {
	t.Parallel()
	b := newBundle(t, on("2031-05-31T23:59:59Z"))
	for _, path := range documents {
		got := b.do(t, request{method: "GET", path: path, key: "-"}).body
		if !strings.Contains(got, "2031-06-01T09:30:00") || strings.Contains(got, openapi.Tomorrow) {
			t.Errorf("%s, asked for on 2031-05-31, does not have 2031-06-01 as the day of examples, or contains its placeholder", path)
		}
	}
	for name, operation := range operationsOf(t,
		[]byte(b.do(t, request{method: "GET", path: "/api/openapi.json", key: "-"}).body)) {
		for _, m := range operation.RequestBody.Content {
			for example, e := range m.Examples {
				for _, at := range timesIn(e.Value, "scheduled_at", "expires_at") {
					if !strings.HasPrefix(at, "2031-06-01T") {
						t.Errorf("the example %s of %s has the time %s, want one of the day after the request, which was made on 2031-05-31", example, name, at)
					}
				}
			}
		}
	}
}

// nowhere is a response writer that discards the response.
type nowhere struct {
	header http.Header
	status int
	bytes  int
}

func (n *nowhere) Header() http.Header    { return n.header }
func (n *nowhere) WriteHeader(status int) { n.status = status }
func (n *nowhere) Write(p []byte) (int, error) {
	n.bytes += len(p)
	return len(p), nil
}

// All readers of a day share one copy of each text, plain and compressed; the next day has another. It is
// not parallel, because it counts allocations.
func TestTheTextsOfADayAreShared(t *testing.T) { //nolint:paralleltest // as above
	day := time.Date(2031, 5, 31, 12, 0, 0, 0, time.UTC)
	b := newBundle(t, func(o *api.Options) { o.Now = func() time.Time { return day } })
	ask := func(path string, header ...string) *nowhere {
		r := httptest.NewRequest(http.MethodGet, path, http.NoBody)
		for i := 0; i+1 < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		w := &nowhere{header: http.Header{}}
		b.api.ServeHTTP(w, r)
		return w
	}
	for _, path := range documents {
		for _, accept := range []string{"", "gzip"} {
			first := ask(path, "Accept-Encoding", accept)
			const readers = 50
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for range readers {
				ask(path, "Accept-Encoding", accept)
			}
			runtime.ReadMemStats(&after)
			if each := (after.TotalAlloc - before.TotalAlloc) / readers; first.bytes < 8<<10 || each > 16<<10 {
				t.Errorf("%s as %q has %d bytes, and a reader takes %d, want a few KB for each", path, accept,
					first.bytes, each)
			}
			if again := ask(path, "Accept-Encoding", accept, "If-None-Match",
				first.header.Get("ETag")); again.status != http.StatusNotModified || again.bytes > 0 {
				t.Errorf("%s as %q, which the reader has: status %d and %d bytes, want 304", path, accept, again.status,
					again.bytes)
			}
		}
	}
	of := ask("/api/docs/emails").header.Get("ETag")
	day = day.AddDate(0, 0, 1)
	if next := ask("/api/docs/emails", "If-None-Match", of); next.status != http.StatusOK {
		t.Errorf("on the next day the text of the day before is answered %d, want 200: it has another day in its examples", next.status)
	}
}

// timesIn returns the texts of some fields anywhere in a value.
func timesIn(v any, fields ...string) (all []string) {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if at, ok := member.(string); ok && slices.Contains(fields, name) {
				all = append(all, at)
			}
			all = append(all, timesIn(member, fields...)...)
		}
	case []any:
		for _, member := range v {
			all = append(all, timesIn(member, fields...)...)
		}
	}
	return all
}

// referencePart matches the parts that the first page of the reference loads.
var referencePart = regexp.MustCompile(`data-part="([^"]+)"`)

// readReference returns the first page of the reference, and the pages of its parts in order.
func readReference(t *testing.T, b *bundle) (first string, parts []string) {
	t.Helper()
	first = b.do(t, request{method: "GET", path: "/api/docs", key: "-"}).body
	for _, part := range referencePart.FindAllStringSubmatch(first, -1) {
		got := b.do(t, request{method: "GET", path: "/api/docs/" + part[1], key: "-"})
		if got.status != http.StatusOK {
			t.Errorf("the part %s of the reference got %d", part[1], got.status)
		}
		parts = append(parts, got.body)
	}
	return first, parts
}

// The reference loads no external resources and runs only its own script, which the policy allows by its hash.
func TestReferencePageIsSelfContained(t *testing.T) {
	t.Parallel()
	b := newBundle(t, on("9999-12-30T12:00:00Z"))
	got := b.do(t, request{method: "GET", path: "/api/docs", key: "-"})
	policy := got.header.Get("Content-Security-Policy")
	if !strings.HasPrefix(policy, "default-src 'none'; style-src 'sha256-") || strings.Contains(policy, "unsafe") ||
		!strings.Contains(policy, "connect-src 'self';") {
		t.Errorf("the page came with the policy %q, want one that allows nothing but hashes and its parts", policy)
	}
	first, parts := readReference(t, b)
	var contents strings.Builder
	for i, page := range append([]string{first}, parts...) {
		_, after, _ := strings.Cut(page, "<script>")
		script, remainder, _ := strings.Cut(after, "</script>")
		sum := sha256.Sum256([]byte(script))
		if want := "script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
			"'"; !strings.Contains(policy, want) {
			t.Errorf("the script of page %d is not what the policy %q allows, want %s", i, policy, want)
		}
		if strings.Contains(remainder, "<script") {
			t.Errorf("page %d has more than one script, want one", i)
		}
		for _, banned := range []string{"<script ", "src=", "url(", "@import", "<link", " style=", `\u003c`, "onclick"} {
			if strings.Contains(page, banned) {
				t.Errorf("page %d has %q, want none", i, banned)
			}
		}
		_, content, _ := strings.Cut(page, "<main")
		content, _, _ = strings.Cut(content, "<script>")
		contents.WriteString("<main" + content)
	}
	expect.Golden(t, "docs.html", contents.String())
}

// A reader downloads the contents, and the parts that they look at. Every link leads to a section, with and without the
// script.
func TestReferenceIsServedInParts(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	first, parts := readReference(t, b)
	names := referencePart.FindAllStringSubmatch(first, -1)
	const most = 20 << 10 // bytes; everything together has seven times as many
	for _, path := range append([][]string{{"", ""}}, names...) {
		at := strings.TrimSuffix("/api/docs/"+path[1], "/")
		got := b.do(t, request{method: "GET", path: at, key: "-", header: map[string]string{"Accept-Encoding": "gzip"}})
		if got.header.Get("Content-Encoding") != "gzip" || len(got.body) > most || got.header.Get("ETag") == "" {
			t.Errorf("%s has %d bytes, Content-Encoding %q and ETag %q; want at most %d bytes, gzip and a tag", at,
				len(got.body), got.header.Get("Content-Encoding"), got.header.Get("ETag"), most)
		}
	}
	has := map[string]bool{}
	for i, page := range parts {
		for _, id := range regexp.MustCompile(`(?:section|h2) id="([^"]+)"`).FindAllStringSubmatch(page, -1) {
			has[names[i][1]+"#"+id[1]] = true
		}
	}
	links := 0
	for i, page := range append([]string{first}, parts...) {
		for _, link := range regexp.MustCompile(`href="(?:docs/)?([a-z-]+#[^"]+)"`).FindAllStringSubmatch(page, -1) {
			if links++; !has[link[1]] {
				t.Errorf("page %d has a link to %s, which does not exist", i, link[1])
			}
		}
	}
	if links < 2*len(asked) {
		t.Errorf("the reference has %d links between its parts, want at least %d", links, 2*len(asked))
	}
	if got := b.do(t, request{method: "GET", path: "/api/docs/nothing", key: "-"}); got.status != http.StatusNotFound {
		t.Errorf("an unknown part got %d, want 404", got.status)
	}
}

// In development mode, the samples send from the verified sender of that mode.
func TestSamplesSendFromTheSenderOfTheInstallation(t *testing.T) {
	t.Parallel()
	b := newBundle(t, func(o *api.Options) { o.Sender = "hello@dev.test" })
	first, parts := readReference(t, b)
	page := first + strings.Join(parts, "")
	if strings.Contains(page, "ada@example.com&#34;,\n  &#34;html") ||
		!strings.Contains(page, "&#34;from&#34;: &#34;hello@dev.test&#34;") {
		t.Error("the samples of the page do not send from hello@dev.test")
	}
	for _, language := range []string{"curl", "Node", "Python", "Go", "PHP"} {
		if got, want := strings.Count(page, `aria-label="Sample in `+language+`: `), len(asked)+1; got != want {
			t.Errorf("the page has %d samples in %s, want %d: one for each operation, and the first one", got,
				language, want)
		}
	}
}

// The document describes every event of the catalog, with a payload that has every field of the sample. The document in
// OpenAPI 3.0 does too.
func TestWebhooksOfTheDocument(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	checker := newSchemaChecker(t, b.api.Document().JSON)
	var document struct {
		Webhooks map[string]struct {
			Post struct {
				RequestBody struct{ Content map[string]media }
			}
		}
	}
	if err := json.Unmarshal(b.api.Document().JSON, &document); err != nil {
		t.Fatalf("the document does not decode: %v", err)
	}
	for _, name := range event.Names() {
		m := document.Webhooks[name].Post.RequestBody.Content["application/json"]
		if m.Schema == nil || m.Example == nil {
			t.Errorf("the document has no webhook %s with a schema and an example", name)
			continue
		}
		if wrong := checker.validate(m.Schema, m.Example); wrong != nil {
			t.Errorf("the example of %s is not of its schema: %s", name, wrong)
		}
	}
	if len(document.Webhooks) != len(event.Names()) {
		t.Errorf("the document has %d webhooks, want %d: the types of the catalog", len(document.Webhooks),
			len(event.Names()))
	}
	if older, err := b.api.Document().JSON30(); err != nil || !strings.Contains(string(older), `"x-webhooks"`) ||
		strings.Contains(string(older), `"type":"null"`) {
		t.Errorf("the 3.0 form has no x-webhooks, or the type null, which 3.0 does not know: %v", err)
	}
}

// Every reference in the document can be resolved, in both versions of OpenAPI.
func TestReferencesResolve(t *testing.T) {
	t.Parallel()
	document := newBundle(t).api.Document()
	older, err := document.JSON30()
	if err != nil {
		t.Fatal(err)
	}
	for version, text := range map[string][]byte{"3.1": document.JSON, "3.0": older} {
		var whole any
		if err := json.Unmarshal(text, &whole); err != nil {
			t.Fatalf("the document in %s does not decode: %v", version, err)
		}
		refs := references(whole)
		for _, ref := range refs {
			at := whole
			for part := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
				object, _ := at.(map[string]any)
				at = object[part]
			}
			if at == nil {
				t.Errorf("in %s the reference %s leads to nothing", version, ref)
			}
		}
		if len(refs) < 100 {
			t.Errorf("in %s there are %d references, want hundreds", version, len(refs))
		}
	}
}

func references(v any) (all []string) {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if ref, is := member.(string); is && name == "$ref" {
				all = append(all, ref)
			}
			all = append(all, references(member)...)
		}
	case []any:
		for _, item := range v {
			all = append(all, references(item)...)
		}
	}
	return all
}
