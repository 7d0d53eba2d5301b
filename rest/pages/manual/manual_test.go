package manual_test

import (
	"net/http"
	"net/http/httptest"
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
