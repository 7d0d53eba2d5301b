package rest_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/postrider/postrider/rest"
	"github.com/postrider/postrider/runtime/expect"
)

// The document of everything. TestGoldenDocumentHasTheOperationsOfTheRegistry of
// runtime fails when the routes of a module are not in it.
func TestOpenAPIDocument(t *testing.T) {
	t.Parallel()
	routes := (&bundle{}).routes()
	document, err := rest.DocumentOf("1.2.3", "https://mail.example.org", routes...)
	if err != nil {
		t.Fatal(err)
	}
	expect.Golden(t, "openapi.json", string(document.JSON))
	slices.Reverse(routes)
	other, err := rest.DocumentOf("1.2.3", "https://mail.example.org/", routes...)
	if err != nil {
		t.Fatal(err)
	}
	if string(document.JSON) != string(other.JSON) {
		t.Error("the order of the routes changes the document")
	}
	if !json.Valid(document.JSON30) || !strings.Contains(string(document.JSON30), `"openapi":"3.0.3"`) {
		t.Error("the 3.0 form is not one")
	}
	if strings.Contains(string(document.JSON), "422") {
		t.Error("the document has a 422")
	}
}

func TestDocumentsAreServed(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	for path, contentType := range map[string]string{"/api/openapi.json": "application/json", "/api/openapi-3.0.json": "application/json",
		"/api/openapi.yaml": "application/yaml", "/api/docs": "text/html; charset=utf-8"} {
		got := b.do(t, request{method: "GET", path: path, key: "-"})
		if got.status != 200 || got.header.Get("Content-Type") != contentType || !strings.Contains(got.body, "/emails/{id}") {
			t.Errorf("%s: got %d as %s, want 200 as %s", path, got.status, got.header.Get("Content-Type"), contentType)
		}
	}
}

// Nothing on the reference page comes from elsewhere or runs.
func TestReferencePageIsSelfContained(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	got := b.do(t, request{method: "GET", path: "/api/docs", key: "-"})
	policy := got.header.Get("Content-Security-Policy")
	if !strings.HasPrefix(policy, "default-src 'none'; style-src 'sha256-") || strings.Contains(policy, "unsafe") {
		t.Errorf("policy %q", policy)
	}
	for _, banned := range []string{"<script", "src=", "url(", "@import", "<link", " style="} {
		if strings.Contains(got.body, banned) {
			t.Errorf("the page has %q", banned)
		}
	}
	expect.Golden(t, "docs.html", got.body)
}
