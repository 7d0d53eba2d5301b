package graph

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/99designs/gqlgen/complexity"
	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/introspection"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"github.com/postrider/postrider/graph/generated"
	"github.com/postrider/postrider/graph/limits"
	"github.com/postrider/postrider/graph/refusal"
	"github.com/postrider/postrider/graph/schema"
	"github.com/postrider/postrider/rest/pages/dashboard"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/storage/page"
)

func repeated(n int, format string) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, format, i)
	}
	return out.String()
}

// deep returns an introspection query with the given number of levels.
func deep(levels int) string {
	return `{ __type(name: "Query") { name` + strings.Repeat(" ofType { name", levels-2) + strings.Repeat(" }",
		levels-2) + ` } }`
}

// bomb returns n fragments, each of which spreads the next one twice.
func bomb(n int, on, last string) string {
	var out strings.Builder
	for i := range n - 1 {
		fmt.Fprintf(&out, "fragment F%d on %s { ...F%d ...F%d } ", i, on, i+1, i+1)
	}
	fmt.Fprintf(&out, "fragment F%d on %s { %s }", n-1, on, last)
	return out.String()
}

func TestQueriesThatAskForTooMuchAreRefused(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{emails: 1})
	for name, c := range map[string]struct{ query, message string }{
		"complexity": {`{ emails(first: 100) { nodes { content { html } } } }`,
			"operation has complexity 12201, which exceeds the limit of 12100"},
		"complexity of aliases": {`{` +
			repeated(15,
				` a%d: emails(first: 100) { nodes { id subject from to status lastEvent createdAt sentAt } }`) + `}`,
			"complexity"},
		"complexity of both": {`{ emails(first: 100) { edges { node { timeline { data } recipients { address kind state } attempts { number } } } nodes { timeline { data } recipients { address kind state } attempts { number } } } domains(first: 100) ` + everything(t, "DomainConnection") + ` }`, "complexity"},
		"page out of range":  {`{ emails(first: 2000000000) { nodes { content { html } } } }`, "complexity 12201"},
		"depth": {`{ viewer {` + strings.Repeat(" account {", limits.Depth-1) + " id" +
			strings.Repeat(" }", limits.Depth) + ` }`, "the query is deeper than 10 levels"},
		"depth of introspection": {deep(limits.Introspection + 1), "the introspection is deeper than 16 levels"},
		"root fields":            {`{` + strings.Repeat(" __typename", limits.RootFields+1) + `}`, "the query has more than 20 root fields"},
		"root fields in fragments": {`{ ...F ... { ...F ...F } } fragment F on Query {` +
			strings.Repeat(" __typename", 7) + `}`, "the query has more than 20 root fields"},
		"aliases": {`{` + repeated(limits.Aliases+1, " a%d: __typename") + `}`, "the query has more than 15 aliases"},
		"aliases in fragments": {`{ ...F ...F } fragment F on Query {` +
			repeated(limits.Aliases/2+1, " a%d: __typename") + `}`, "the query has more than 15 aliases"},
		"directives": {`{ __typename` + strings.Repeat(" @include(if: true)", limits.Directives+1) + `}`,
			"the query has more than 30 directives"},
		"selections":            {`{ viewer {` + strings.Repeat(" __typename", limits.Selections) + `} }`, "the query selects more than 1000 fields"},
		"text":                  {`{ __typename }` + strings.Repeat(" ", limits.Query), "the query text is longer than 65536 bytes"},
		"fragment bomb":         {`{ ...F0 } ` + bomb(60, "Query", "__typename"), "the query selects more than 1000 fields"},
		"fragment bomb, empty":  {`{ ...F0 } ` + bomb(60, "Query", "...F59"), `Cannot spread fragment "F59" within itself.`},
		"fragment bomb, unused": {`{ __typename } ` + bomb(60, "Query", "__typename"), "the query selects more than 1000 fields"},
		"introspection bomb":    {`{ __schema { types { ...F0 } } } ` + bomb(60, "__Type", "name"), "the query selects more than 1000 fields"},
		"introspection circle":  {`{ __schema { types { fields { type { fields { type { fields { name } } } } } } } }`, "Maximum introspection depth exceeded"},
		"tokens":                {`{` + strings.Repeat(" a", limits.Tokens) + `}`, "the query has more than 2000 tokens"},
	} {
		start := time.Now()
		a := s.ask(t, c.query, nil)
		if a.status != 400 || !strings.Contains(a.message(), c.message) || a.Data != nil {
			t.Errorf("%s: got status %d and %.300s, want 400 without data that says %q", name, a.status,
				a.body, c.message)
		}
		if code := a.codes(); code != refusal.CodeTooComplex &&
			!strings.Contains("introspection circle, fragment bomb, empty", name) {
			t.Errorf("%s: code %s", name, code)
		}
		if took := time.Since(start); took > 30*time.Second { // without the limit, this takes minutes or never ends
			t.Errorf("%s: took %v to refuse", name, took)
		}
	}
	if n := s.calls.counted()["List"]; n != 0 {
		t.Errorf("refused queries reached the service %d times", n)
	}
}

func TestOrdinaryQueriesAreWithinTheLimits(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{emails: 1})
	for name, query := range map[string]string{
		"page of everything":     `{ emails(first: 25) { edges { cursor node ` + everything(t, "Email") + ` } pageInfo { hasNextPage endCursor } } }`,
		"large page with states": `{ emails(first: 100) { nodes { id from to subject status lastEvent createdAt sentAt recipients { address kind state diagnostic } } pageInfo { endCursor } } }`,
		"all domains":            `{ domains(first: 100) { nodes ` + everything(t, "Domain") + ` pageInfo { hasNextPage endCursor } } }`,
		"introspection":          introspection.Query,
		"aliases":                `{` + repeated(limits.Aliases, " a%d: __typename") + `}`,
		"selections":             `{ viewer {` + strings.Repeat(" __typename", limits.Selections-1) + `} }`,
		"root fields": `query A {` + strings.Repeat(" __typename", limits.RootFields) + `} query B {` +
			strings.Repeat(" __typename", limits.RootFields) + `}`,
		"depth of introspection": deep(limits.Introspection),
	} {
		body, err := json.Marshal(map[string]any{"query": query,
			"operationName": map[bool]string{true: "A"}[strings.HasPrefix(query, "query A")]})
		if err != nil {
			t.Fatal(err)
		}
		if a := s.send(t, request(t, s.url, "svc_full", string(body))); a.status != 200 || len(a.Errors) != 0 {
			t.Errorf("%s: got status %d and %.400s, want 200 without errors", name, a.status, a.body)
		}
	}
}

// The most expensive shapes for gqlparser's validation within the limits: it compares fields with the same
// name pairwise.
func TestWorstAcceptedShapesAreCheap(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{emails: 1})
	for name, query := range map[string]string{
		"one name":        `{ emails {` + strings.Repeat(" nodes { apiKey { id } }", 280) + `} }`,
		"one name nested": `{ emails {` + strings.Repeat(" nodes { recipients { address address address } }", 150) + `} }`,
		"wide fragments":  `{ emails {` + repeated(130, " ...F%d") + ` } }` + repeated(130, " fragment F%d on EmailConnection { nodes { apiKey { id } } }"),
	} {
		start := time.Now()
		a := s.ask(t, query, nil)
		tokens := a.message() == "the query has more than 2000 tokens" // then it proves nothing
		if took := time.Since(start); took > 30*time.Second || a.status >= 500 || tokens {
			t.Errorf("%s: %d after %v: %.200s", name, a.status, took, a.body)
		}
	}
}

// A response that is too large is refused as a whole, whatever made it large.
func TestLargeResultsAreRefused(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{emails: 9, html: strings.Repeat("x", 1<<20)})
	for count, fits := range map[int]bool{4: true, 7: false, 9: false} {
		a := s.ask(t, fmt.Sprintf(`{ emails(first: %d) { nodes { id content { html } } } }`, count), nil)
		switch {
		case fits && (a.status != 200 || len(a.Errors) != 0):
			t.Errorf("%d of 1 MB: got status %d and %s, want 200", count, a.status, a.codes())
		case !fits && (a.status != 400 || a.codes() != refusal.CodeResultTooLarge || a.Data != nil ||
			!strings.Contains(a.message(), "larger than 5 MB")):
			t.Errorf("%d of 1 MB: got status %d and %.300s, want 400 %s without data", count, a.status, a.body,
				refusal.CodeResultTooLarge)
		}
	}
	if left := s.held.Usage(); left != (intake.Usage{}) {
		t.Errorf("afterwards %+v is held", left)
	}
}

// Every document of the dashboard is within the limits, even with the largest page that a variable allows.
func TestDocumentsOfTheDashboardAreWithinTheLimits(t *testing.T) {
	t.Parallel()
	documents, err := dashboard.Documents()
	if err != nil || len(documents) < 20 {
		t.Fatalf("%d documents, %v", len(documents), err)
	}
	served, err := schema.ParseFull()
	if err != nil {
		t.Fatal(err)
	}
	executable := generated.NewExecutableSchema(generated.Config{Schema: served, Complexity: costs()})
	for _, text := range documents {
		if err := (limits.Shape{}).MutateOperationParameters(t.Context(), &graphql.RawParams{Query: text}); err != nil {
			t.Errorf("%.40s: %v", text, err)
			continue
		}
		doc, wrong := gqlparser.LoadQueryWithRules(served, text, rules.NewDefaultRules())
		if wrong != nil {
			t.Errorf("%.40s: %v", text, wrong)
			continue
		}
		op := doc.Operations[0]
		pages := map[string]any{}
		for _, v := range op.VariableDefinitions {
			if v.Type.Name() == "Int" {
				pages[v.Variable] = int64(page.MaxLimit)
			}
		}
		if cost := complexity.Calculate(t.Context(), executable, op, pages); cost > limits.Complexity {
			t.Errorf("%s has complexity %d, want at most %d", op.Name, cost, limits.Complexity)
		}
	}
}
