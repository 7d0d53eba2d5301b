package graph

import (
	"net/http"
	"strings"
	"testing"

	"github.com/postrider/postrider/graph/trusted"
)

// asPerson sends a request with a session cookie.
func asPerson(t *testing.T, s *testServer, body string) *http.Request {
	t.Helper()
	r := request(t, s.url, "", body)
	r.Header.Del("Authorization")
	r.Header.Set("Cookie", "postrider=owner")
	r.Header.Set("Origin", ownOrigin)
	return r
}

// Fields of a document whose module is off are omitted for users. A key gets an error.
func TestAPersonsDocumentIsPruned(t *testing.T) {
	t.Parallel()
	const text = `query Both($n: Int) { viewer { role } emails(first: $n) { nodes { ...F } } } fragment F on Email { id }`
	on := []string{"signin", "accounts", "domains"}
	s := newServer(t, setup{on: on, trusted: trusted.Documents{"abc": text, "abd": `{ emails { nodes { id } } }`}})
	if got := s.send(t, asPerson(t, s,
		`{"documentId": "sha256:abc", "operationName": "Both", "variables": {"n": 5}}`)); got.body != `{"data":{"viewer":{"role":"OWNER"}}}` {
		t.Errorf("a person got %d %s", got.status, got.body)
	}
	const unknown = `Cannot query field "emails" on type "Query".`
	if got := s.send(t, asPerson(t, s, `{"documentId": "sha256:abd"}`)); got.status != 400 ||
		!strings.HasPrefix(got.message(), unknown) {
		t.Errorf("a document of which nothing is left got %d %s", got.status, got.body)
	}
	for what, r := range map[string]*http.Request{
		"a document under a key":   request(t, s.url, "svc_full", `{"documentId": "sha256:abc"}`),
		"a key's query of its own": request(t, s.url, "svc_full", `{"query": `+quoted(text)+`}`),
	} {
		if got := s.send(t, r); got.status != 400 ||
			!strings.Contains(got.body, `Cannot query field \"emails\" on type \"Query\".`) {
			t.Errorf("%s got %d %s, want 400 that says %s", what, got.status, got.body, unknown)
		}
	}
	whole := newServer(t, setup{emails: 1, trusted: trusted.Documents{"abc": text}})
	if got := whole.send(t, asPerson(t, whole,
		`{"documentId": "sha256:abc"}`)); got.body != `{"data":{"viewer":{"role":"OWNER"},"emails":{"nodes":[{"id":"msg_001"}]}}}` {
		t.Errorf("with every module on a person got %d %s", got.status, got.body)
	}
}
