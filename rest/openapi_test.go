package rest_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/postrider/postrider/rest"
	"github.com/postrider/postrider/runtime/expect"
)

func TestOpenAPIDocument(t *testing.T) {
	t.Parallel()
	document, err := rest.DocumentOf("1.2.3", "https://mail.example.org", rest.Domains(nil, nil), rest.DomainDNS(nil, nil), rest.Emails(nil, nil), rest.Templates(nil, nil), rest.TestEvents(nil, nil))
	if err != nil {
		t.Fatal(err)
	}
	expect.Golden(t, "openapi.json", string(document.JSON))
	other, err := rest.DocumentOf("1.2.3", "https://mail.example.org/", rest.TestEvents(nil, nil), rest.Templates(nil, nil), rest.Emails(nil, nil), rest.DomainDNS(nil, nil), rest.Domains(nil, nil))
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

// An example that lost a field, or kept one, misleads whoever copies it.
func TestExamplesHaveTheFieldsOfTheAnswers(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.sending.page.Emails = append(b.sending.page.Emails, sampleEmail())
	var document struct {
		Paths map[string]map[string]struct {
			Responses map[string]struct {
				Content map[string]struct{ Example any }
			}
		}
	}
	if err := json.Unmarshal([]byte(b.do(t, request{method: "GET", path: "/api/openapi.json"}).body), &document); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ method, path, concrete, body string }{
		{"GET", "/emails", "/emails", ""},
		{"GET", "/emails/{id}", "/emails/" + emailID, ""},
		{"POST", "/emails", "/emails", simple},
		{"GET", "/domains", "/domains", ""},
		{"GET", "/domains/{id}", "/domains/" + domainID, ""},
		{"POST", "/domains", "/domains", `{"name":"example.com"}`},
		{"POST", "/domains/{id}/verify", "/domains/" + domainID + "/verify", ""},
		{"PATCH", "/domains/{id}", "/domains/" + domainID, `{"tls_mode":"enforced"}`},
		{"DELETE", "/domains/{id}", "/domains/" + domainID, ""},
		{"GET", "/domains/claims", "/domains/claims", ""},
		{"GET", "/domains/claims/{id}", "/domains/claims/" + claimID, ""},
		{"POST", "/domains/claims", "/domains/claims", `{"name":"example.com"}`},
		{"POST", "/domains/claims/{id}/verify", "/domains/claims/" + claimID + "/verify", ""},
	} {
		var answered any
		if err := json.Unmarshal([]byte(b.do(t, request{method: c.method, path: "/api" + c.concrete, body: c.body}).body), &answered); err != nil {
			t.Fatal(err)
		}
		example := document.Paths[c.path][strings.ToLower(c.method)].Responses["200"].Content["application/json"].Example
		if want, got := paths("", answered), paths("", example); !slices.Equal(want, got) {
			t.Errorf("%s %s: example has %v, the answer %v", c.method, c.path, got, want)
		}
	}
}

// paths lists the fields of a JSON value, once for all items of an array. The
// priority of DNS records is optional.
func paths(at string, v any) []string {
	var out []string
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if name != "priority" {
				out = append(out, at+"."+name)
				out = append(out, paths(at+"."+name, member)...)
			}
		}
	case []any:
		for _, item := range v {
			out = append(out, paths(at+"[]", item)...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func TestDocumentsAreServed(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	for path, contentType := range map[string]string{"/api/openapi.json": "application/json", "/api/openapi-3.0.json": "application/json",
		"/api/openapi.yaml": "application/yaml", "/api/docs": "text/html; charset=utf-8"} {
		got := b.do(t, request{method: "GET", path: path, key: "-"})
		if got.status != 200 || got.header.Get("Content-Type") != contentType || !strings.Contains(got.body, "/emails/{id}") {
			t.Errorf("%s: %d %s", path, got.status, got.header.Get("Content-Type"))
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
