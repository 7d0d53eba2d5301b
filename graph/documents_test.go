package graph

import (
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/formatter"
	"github.com/vektah/gqlparser/v2/parser"
)

func dashboardDocuments(t *testing.T) Documents {
	t.Helper()
	text, err := os.ReadFile("../rest/dashboard/documents.json")
	if err != nil {
		t.Fatal(err)
	}
	var documents Documents
	if err := json.Unmarshal(text, &documents); err != nil || len(documents) < 20 {
		t.Fatalf("%d documents, %v", len(documents), err)
	}
	return documents
}

// asPerson makes a request with the cookie of a session.
func asPerson(t *testing.T, s *server, body string) *http.Request {
	t.Helper()
	r := request(t, s.url, "", body)
	r.Header.Del("Authorization")
	r.Header.Set("Cookie", "postrider=owner")
	r.Header.Set("Origin", ownOrigin)
	return r
}

// formatted is a text in one layout; what cannot be read is as it stands.
func formatted(text string) string {
	doc, err := parser.ParseQuery(&ast.Source{Input: text})
	if err != nil {
		return text
	}
	var out strings.Builder
	formatter.NewFormatter(&out).FormatQueryDocument(doc)
	return out.String()
}

func TestPruneDocument(t *testing.T) {
	t.Parallel()
	served := gqlparser.MustLoadSchema(&ast.Source{Input: `
		interface Node { id: ID! }
		type Query { node(id: ID!): Node  it(first: Int, by: By): It  box: Box }
		type It implements Node { id: ID!  name: String }
		type Box { id: ID!  it(first: Int): It }
		input By { name: String  names: [String] }`})
	for name, c := range map[string]struct{ text, want string }{
		"nothing is gone":                   {`query A($n: Int) { it(first: $n) { ...F } } fragment F on It { id }`, `query A($n: Int) { it(first: $n) { ...F } } fragment F on It { id }`},
		"a field":                           {`{ it { id gone } }`, `{ it { id } }`},
		"a field of the root":               {`{ gone { id } it { id } }`, `{ it { id } }`},
		"all of an object":                  {`{ it { gone } }`, `{ it { __typename } }`},
		"variables":                         {`query A($n: Int, $s: String, $b: Boolean!, $c: Boolean!) { it(by: {names: [$s]}) { id @include(if: $b) gone(first: $n) @skip(if: $c) } }`, `query A($s: String, $b: Boolean!) { it(by: {names: [$s]}) { id @include(if: $b) } }`},
		"variables of fragments":            {`query A($n: Int) { box { ...F } } fragment F on Box { it(first: $n) { id gone } }`, `query A($n: Int) { box { ...F } } fragment F on Box { it(first: $n) { id } }`},
		"a type":                            {`{ node(id: "1") { id ... on Gone { name } ... on It { name } } }`, `{ node(id: "1") { id ... on It { name } } }`},
		"a fragment on a type that is gone": {`{ node(id: "1") { id ...F } } fragment F on Gone { name }`, `{ node(id: "1") { id } }`},
		"a fragment of what is gone":        {`{ it { id ...F } } fragment F on It { gone ...G } fragment G on It { gone }`, `{ it { id } }`},
		"a fragment that only what is gone spreads": {`{ it { id } gone { ...F } } fragment F on It { id }`, `{ it { id } }`},
		"one of two operations":                     {`query A { it { id } } query B { gone } mutation C { gone }`, `query A { it { id } }`},
		"aliases, strings":                          {`{ a: it(by: {name: "x \"y\" é"}) { b: name gone } }`, `{ a: it(by: {name: "x \"y\" é"}) { b: name } }`},
		"nothing is left":                           {`query A($n: Int) { gone(first: $n) { id } }`, `query A($n: Int) { gone(first: $n) { id } }`},
		"no query":                                  {`{ it { `, `{ it { `},
		"a circle":                                  {`{ it { ...F gone } } fragment F on It { ...F }`, `{ it { ...F gone } } fragment F on It { ...F }`},
		"a wrong argument":                          {`{ it(wrong: 1) { id gone } }`, `{ it(wrong: 1) { id gone } }`},
	} {
		got := Documents{"x": c.text}.within(served)["x"]
		if formatted(got) != formatted(c.want) {
			t.Errorf("%s: got %s\nwant %s", name, got, c.want)
		}
	}
}

// With any one module off every document of the dashboard can be asked, or asks of that module alone.
func TestDocumentsOfTheDashboardLiveWithoutAModule(t *testing.T) {
	t.Parallel()
	documents := dashboardDocuments(t)
	for _, off := range allModules {
		if off == moduleAccounts {
			continue
		}
		served, err := schema(slices.DeleteFunc(slices.Clone(allModules), func(name string) bool { return name == off }))
		if err != nil {
			t.Fatal(err)
		}
		changed := documents.within(served)
		for id, text := range documents {
			switch {
			case valid(served, changed[id]): // as a whole or in part
			case changed[id] == text && pruneDocument(served, text) == "": // nothing of it is left
			default:
				t.Errorf("without %s: %.60s became %.200s", off, text, changed[id])
			}
		}
	}
}

// What people ask by a document is left out where its module is off. A key is told.
func TestAPersonsDocumentIsPruned(t *testing.T) {
	t.Parallel()
	const text = `query Both($n: Int) { viewer { role } emails(first: $n) { nodes { ...F } } } fragment F on Email { id }`
	on := []string{"signin", "accounts", "domains"}
	s := newServer(t, setup{on: on, trusted: Documents{"abc": text, "abd": `{ emails { nodes { id } } }`}})
	if got := s.send(t, asPerson(t, s, `{"documentId": "sha256:abc", "operationName": "Both", "variables": {"n": 5}}`)); got.body != `{"data":{"viewer":{"role":"OWNER"}}}` {
		t.Errorf("a person got %d %s", got.status, got.body)
	}
	const unknown = `Cannot query field "emails" on type "Query".`
	if got := s.send(t, asPerson(t, s, `{"documentId": "sha256:abd"}`)); got.status != 400 || !strings.HasPrefix(got.message(), unknown) {
		t.Errorf("a document of which nothing is left got %d %s", got.status, got.body)
	}
	for what, r := range map[string]*http.Request{
		"a document under a key":   request(t, s.url, "svc_full", `{"documentId": "sha256:abc"}`),
		"a key's query of its own": request(t, s.url, "svc_full", `{"query": `+quoted(text)+`}`),
	} {
		if got := s.send(t, r); got.status != 400 || !strings.Contains(got.body, `Cannot query field \"emails\" on type \"Query\".`) {
			t.Errorf("%s got %d %s, want 400 that says %s", what, got.status, got.body, unknown)
		}
	}
	whole := newServer(t, setup{emails: 1, trusted: Documents{"abc": text}})
	if got := whole.send(t, asPerson(t, whole, `{"documentId": "sha256:abc"}`)); got.body != `{"data":{"viewer":{"role":"OWNER"},"emails":{"nodes":[{"id":"msg_001"}]}}}` {
		t.Errorf("with every module on a person got %d %s", got.status, got.body)
	}
}
