package dashboard

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/postrider/postrider/runtime/base/intake"
)

// graphQL answers the queries of the user named in a cookie, as the API does.
type graphQL struct{ subject string }

func (g graphQL) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if cookie, err := r.Cookie("user"); err != nil || cookie.Value != "usr_1" || r.Method != http.MethodGet {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	data := map[string]any{"viewer": map[string]string{"name": "Ada"}}
	switch r.URL.Query().Get("operationName") {
	case "EmailList":
		data = map[string]any{"emails": g.subject}
	case "LatestEvent":
		w.Write([]byte(`{"data":null,"errors":[{"message":"off"}]}`))
		return
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.Encode(map[string]any{"data": data})
}

func pageOf(t *testing.T, subject, path, user string) string {
	t.Helper()
	a, err := newApp(fstest.MapFS{"index.html": {Data: []byte(index)},
		"routes.json": {Data: []byte(`{"/emails":["/assets/list.js","/assets/list.css"],"/emails/$id":["/assets/one.js"]}`)}},
		Options{GraphQL: graphQL{subject}, Door: byCookie{}, Budget: &intake.Budget{}, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodGet, path, http.NoBody)
	r.Header.Set("Accept", "text/html")
	if user != "" {
		r.AddCookie(&http.Cookie{Name: "user", Value: user})
	}
	w := httptest.NewRecorder()
	a.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		t.Fatalf("%s returned %d", path, w.Code)
	}
	return w.Body.String()
}

func TestThePageNamesTheFilesOfItsRoute(t *testing.T) {
	t.Parallel()
	for path, wanted := range map[string][]string{
		"/emails":       {`<link rel="modulepreload" crossorigin href="/assets/list.js">`, `<link rel="stylesheet" crossorigin href="/assets/list.css">`},
		"/emails/msg_1": {`<link rel="modulepreload" crossorigin href="/assets/one.js">`},
		"/emails/":      nil,
		"/other":        nil,
	} {
		var got []string
		for line := range strings.SplitSeq(pageOf(t, "", path, ""), "\n") {
			if _, link, is := strings.Cut(line, "<link "); is {
				got = append(got, "<link "+strings.TrimSuffix(link, "</head><body>"))
			}
		}
		if diff := cmp.Diff(wanted, got); diff != "" {
			t.Errorf("links of %s (-want +got):\n%s", path, diff)
		}
	}
}

// Text by strangers is in the page: a subject cannot end the element or start another one.
func TestThePageContainsTheFirstDataSafely(t *testing.T) {
	t.Parallel()
	hostile := "</script><script>alert(1)</script><!-- \u2028 ]]> &lt;"
	page := pageOf(t, hostile, "/emails", "usr_1")
	_, rest, found := strings.Cut(page, `<script type="application/json" id="preloaded">`)
	text, after, closed := strings.Cut(rest, "</script>")
	if !found || !closed || strings.ContainsAny(text, "<>&\u2028") || strings.TrimSpace(after) != "</body></html>" {
		t.Fatalf("the element is not closed where it should be:\n%s", page)
	}
	var data pageData
	if err := json.Unmarshal([]byte(text), &data); err != nil {
		t.Fatal(err)
	}
	var emails struct{ Emails string }
	if err := json.Unmarshal(data.Results["EmailList"].Data, &emails); err != nil || emails.Emails != hostile {
		t.Errorf("emails are %q (%v), want %q", emails.Emails, err, hostile)
	}
	if _, is := data.Results["Viewer"]; !is || data.At.IsZero() {
		t.Errorf("the page contains %v, want the viewer and the time", data)
	}
	if _, is := data.Results["LatestEvent"]; is {
		t.Error("the page contains a result with an error")
	}
}

func TestThePageContainsNoDataOfOthers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, path, user string }{
		{"no session", "/emails", ""}, {"the session has ended", "/emails", "usr_2"},
	} {
		if page := pageOf(t, "secret", c.path, c.user); strings.Contains(page, "preloaded") {
			t.Errorf("%s: the page contains data:\n%s", c.name, page)
		}
	}
	if page := pageOf(t, "secret", "/emails?q=a", "usr_1"); strings.Contains(page, "secret") {
		t.Errorf("the page of a filter contains the unfiltered list:\n%s", page)
	}
	if page := pageOf(t, strings.Repeat("x", maxData), "/emails", "usr_1"); len(page) > maxData {
		t.Errorf("the page has %d bytes of data", len(page))
	}
}

func TestThePageIsCompressed(t *testing.T) {
	t.Parallel()
	a, err := newApp(fstest.MapFS{"index.html": {Data: []byte(index)}},
		Options{GraphQL: graphQL{strings.Repeat("Receipt ", 1000)}, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodGet, "/emails", http.NoBody)
	r.Header.Set("Accept", "text/html")
	r.Header.Set("Accept-Encoding", "gzip, zstd")
	r.AddCookie(&http.Cookie{Name: "user", Value: "usr_1"})
	w := httptest.NewRecorder()
	a.ServeHTTP(w, r)
	sent := w.Body.Len()
	reader, err := zstd.NewReader(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	page, err := io.ReadAll(reader)
	if err != nil || !strings.Contains(string(page), "Receipt Receipt") || sent > 2000 {
		t.Errorf("the page has %d bytes (%v):\n%s", sent, err, page)
	}
}
