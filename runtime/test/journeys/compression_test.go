package journeys_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/postrider/postrider/runtime/test/harness"
)

// Lists and query results are compressed for clients that accept it. Responses to writes, which can contain secrets,
// are not. The API log shows the response as JSON.
func TestJourneyResponsesAreCompressed(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}}
	defer client.CloseIdleConnections()
	call := func(method, path, body, coding string) (string, http.Header) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, app.BaseURL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+app.APIKey)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept-Encoding", coding)
		res, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		return readEncoded(t, res), res.Header
	}
	big := `{"from":"ada@dev.test","to":"a@example.net","subject":"` + strings.Repeat("words ", 100) + `","text":"t",` +
		`"scheduled_at":"` + time.Now().Add(24*time.Hour).UTC().Format(time.RFC3339) + `"}`
	for range 3 {
		call(http.MethodPost, "/api/emails", big, "gzip")
	}
	for _, c := range []struct{ method, path, body string }{
		{http.MethodGet, "/api/emails", ""},
		{http.MethodPost, "/graphql", `{"query":"{ emails(first: 3) { nodes { id subject createdAt } } }"}`},
	} {
		want, header := call(c.method, c.path, c.body, "identity")
		if len(want) < 1<<10 || header.Get("Content-Encoding") != "" || header.Get("Vary") == "" {
			t.Fatalf("%s returned %d bytes with %v, want at least 1 KB without a coding, and Vary", c.path, len(want), header)
		}
		for _, coding := range []string{"gzip", "zstd"} {
			got, header := call(c.method, c.path, c.body, coding)
			if got != want || header.Get("Content-Encoding") != coding || !strings.Contains(header.Get("Vary"), "Accept-Encoding") {
				t.Errorf("%s as %s returned %v and %s, want %s", c.path, coding, header, got, want)
			}
			if c.method != http.MethodGet {
				continue
			}
			harness.Eventually(t, "the API log to have the response as JSON", func() bool {
				logged, _ := call(http.MethodGet, "/api/requests/"+header.Get("X-Request-Id"), "", "identity")
				return strings.Contains(logged, "words words")
			})
		}
	}
	if _, header := call(http.MethodPost, "/api/api-keys", `{"name":"`+strings.Repeat("n", 200)+`"}`,
		"gzip"); header.Get("Content-Encoding") != "" {
		t.Errorf("a response with a secret is compressed: %v", header)
	}
}

// readEncoded returns the decoded body of a response.
func readEncoded(t *testing.T, res *http.Response) string {
	t.Helper()
	var from io.Reader = res.Body
	switch res.Header.Get("Content-Encoding") {
	case "gzip":
		unzipped, err := gzip.NewReader(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		from = unzipped
	case "zstd":
		decoder, err := zstd.NewReader(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		defer decoder.Close()
		from = decoder
	}
	content, err := io.ReadAll(from)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
