package graph

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/postrider/postrider/graph/trusted"
)

// get returns a GET request with parameters, with or without a key.
func get(t *testing.T, s *testServer, key string, parameters map[string]string) *http.Request {
	t.Helper()
	query := url.Values{}
	for name, value := range parameters {
		query.Set(name, value)
	}
	r := request(t, s.url+"?"+query.Encode(), key, "")
	r.Method, r.Body, r.ContentLength = http.MethodGet, http.NoBody, 0
	r.Header.Del("Content-Type")
	if key == "" {
		r.Header.Del("Authorization")
	}
	return r
}

func TestQueriesByGET(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{emails: 2})
	const query = `query One($id: ID!) { email(id: $id) { id } } query Other { __typename }`
	a := s.send(t, get(t, s, "svc_full", map[string]string{"query": query, "operationName": "One",
		"variables": `{"id": "msg_002"}`, "extensions": `{"x": 1}`}))
	if a.status != 200 || a.body != `{"data":{"email":{"id":"msg_002"}}}` {
		t.Errorf("a query by GET got %d %s, want the email msg_002", a.status, a.body)
	}
	if cached := a.header.Get("Cache-Control"); cached != "no-store" {
		t.Errorf("the response has Cache-Control %q, want no-store", cached)
	}
	for name, c := range map[string]struct {
		key    string
		given  map[string]string
		status int
		code   string
	}{
		"no query":         {"svc_full", nil, 400, "validation_error"},
		"wrong variables":  {"svc_full", map[string]string{"query": query, "variables": "[1"}, 400, "validation_error"},
		"two values":       {"svc_full", map[string]string{"query": query, "variables": "{} {}"}, 400, "validation_error"},
		"a complex query":  {"svc_full", map[string]string{"query": "{ emails(first: 100) { nodes { content { html text } } } }"}, 400, "query_too_complex"},
		"a deep query":     {"svc_full", map[string]string{"query": strings.Repeat("{ viewer ", 20) + strings.Repeat("}", 20)}, 400, "query_too_complex"},
		"a sending key":    {"svc_sending", map[string]string{"query": "{ domains { nodes { id } } }"}, 200, "insufficient_scope"},
		"a subscription":   {"svc_full", map[string]string{"query": "subscription { events { id } }"}, 400, "validation_error"},
		"an unknown key":   {"svc_none", map[string]string{"query": "{ __typename }"}, 401, ""},
		"no key, no query": {"", nil, 401, ""},
	} {
		if a := s.send(t, get(t, s, c.key, c.given)); a.status != c.status || c.code != "" && a.codes() != c.code {
			t.Errorf("%s got %d %s, want %d and %q", name, a.status, a.body, c.status, c.code)
		}
	}
	twice := get(t, s, "svc_full", map[string]string{"query": "{ __typename }"})
	twice.URL.RawQuery += "&query=%7Bviewer%7Bcan%7D%7D"
	if a := s.send(t, twice); a.codes() != "validation_error" {
		t.Errorf("two queries got %d %s, want a validation_error", a.status, a.body)
	}
}

func TestGETsCountForTheRate(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{rate: &oneThenNone{}})
	for i, want := range []int{200, 429} {
		if a := s.send(t, get(t, s, "svc_full", map[string]string{"query": "{ __typename }"})); a.status != want {
			t.Errorf("GET %d got %d %s, want %d", i, a.status, a.body, want)
		}
	}
}

// A session cookie can run the same queries with GET as with POST, on pages of this installation. GET changes nothing.
func TestGETWithASession(t *testing.T) {
	t.Parallel()
	const mutation = `mutation { retryDelivery(selection: {all: true}) { changed } }`
	s := newServer(t, setup{trusted: trusted.Documents{"abc": `{ viewer { role } }`, "abd": mutation}})
	for name, c := range map[string]struct {
		site   string // value of Sec-Fetch-Site
		given  map[string]string
		status int
		code   string
	}{
		"a document of the dashboard":      {"same-origin", map[string]string{"documentId": "sha256:abc"}, 200, ""},
		"without the browser's header":     {"", map[string]string{"documentId": "sha256:abc"}, 200, ""},
		"another site":                     {"cross-site", map[string]string{"documentId": "sha256:abc"}, 403, "cross_origin"},
		"another host of the site":         {"same-site", map[string]string{"documentId": "sha256:abc"}, 403, "cross_origin"},
		"a query of its own":               {"same-origin", map[string]string{"query": "{ viewer { role } }"}, 400, "query_not_trusted"},
		"a mutation of the dashboard":      {"same-origin", map[string]string{"documentId": "sha256:abd"}, 405, "method_not_allowed"},
		"a mutation of its own":            {"same-origin", map[string]string{"query": mutation}, 400, "query_not_trusted"},
		"a mutation, typed as the address": {"none", map[string]string{"documentId": "sha256:abd"}, 405, "method_not_allowed"},
	} {
		r := get(t, s, "", c.given)
		r.Header.Set("Cookie", "postrider=owner")
		if c.site != "" {
			r.Header.Set("Sec-Fetch-Site", c.site)
		}
		if a := s.send(t, r); a.status != c.status || a.codes() != c.code {
			t.Errorf("%s got %d %s, want %d and %q", name, a.status, a.body, c.status, c.code)
		}
	}
	if n := len(s.calls.counted()); n != 0 {
		t.Errorf("a GET changed something: %v", s.calls.counted())
	}
}
