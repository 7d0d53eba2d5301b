package manual_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/postrider/postrider/rest/pages/manual"
)

const base = "https://mail.example.com"

func serve(t *testing.T) func(path string) (int, string) {
	t.Helper()
	h, err := manual.New(base)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	for _, pattern := range manual.Patterns() {
		mux.Handle(pattern, h)
	}
	return func(path string) (int, string) {
		answer := httptest.NewRecorder()
		mux.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		return answer.Code, answer.Body.String()
	}
}

// The index leads to every page of the manual, and the full text contains each of them.
func TestIndexLeadsToEveryPage(t *testing.T) {
	t.Parallel()
	get := serve(t)
	status, index := get("/llms.txt")
	if status != http.StatusOK || !strings.HasPrefix(index, "# Postrider\n\n> ") {
		t.Fatalf("the index is %d %.60q, want the name and a summary", status, index)
	}
	_, full := get("/llms-full.txt")
	links := regexp.MustCompile(`\]\(`+base+`(/llms/\S+\.md)\)`).FindAllStringSubmatch(index, -1)
	if len(links) < 40 {
		t.Fatalf("the index has %d links, want 40 at least", len(links))
	}
	for _, found := range links {
		status, page := get(found[1])
		if status != http.StatusOK || !strings.HasPrefix(page, "# ") || !strings.Contains(full, page) {
			t.Errorf("%s is %d %.40q, want a page that the full text contains", found[1], status, page)
		}
	}
	if status, _ := get("/llms/nowhere.md"); status != http.StatusNotFound {
		t.Errorf("a page that does not exist is %d, want 404", status)
	}
}

// The pages for people lead to each other, and every screen of the dashboard to one of them.
func TestPagesForPeople(t *testing.T) {
	t.Parallel()
	get := serve(t)
	status, index := get("/manual/")
	links := regexp.MustCompile(`href="(/manual/[^"#]*)`).FindAllStringSubmatch(index, -1)
	if status != http.StatusOK || len(links) < 40 {
		t.Fatalf("the index is %d with %d links, want 40 at least", status, len(links))
	}
	seen := map[string]bool{}
	for _, found := range links {
		seen[found[1]] = true
	}
	source, err := os.ReadFile("../dashboard/src/app/help.ts")
	if err != nil {
		t.Fatal(err)
	}
	table, _, _ := strings.Cut(string(source), "// helpFor")
	helps := regexp.MustCompile(`'/[^']*': '([^']+)'`).FindAllStringSubmatch(table, -1)
	if len(helps) < 20 {
		t.Fatalf("help.ts has %d pages, want 20 at least", len(helps))
	}
	for _, found := range helps {
		name, anchor, _ := strings.Cut(found[1], "#")
		seen["/manual/"+name] = true
		if _, page := get("/manual/" + name); anchor != "" && !strings.Contains(page, `id="`+anchor+`"`) {
			t.Errorf("the help %s has no such heading", found[1])
		}
	}
	for path := range seen {
		status, page := get(path)
		if status != http.StatusOK || !strings.Contains(page, "<h1 id=") || strings.Contains(page, "](") && !strings.Contains(page, "<pre") {
			t.Errorf("%s is %d %.60q, want a page without Markdown", path, status, page)
		}
		for _, found := range regexp.MustCompile(`href="(/manual/[^"#]*)`).FindAllStringSubmatch(page, -1) {
			if status, _ := get(found[1]); status != http.StatusOK {
				t.Errorf("%s links to %s, which is %d", path, found[1], status)
			}
		}
	}
	if status, _ := get("/manual/nowhere"); status != http.StatusNotFound {
		t.Errorf("a page that does not exist is %d, want 404", status)
	}
}
