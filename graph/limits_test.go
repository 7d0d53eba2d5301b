package graph

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql/introspection"
)

func repeated(n int, format string) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, format, i)
	}
	return out.String()
}

// bomb is n fragments, each of which spreads the next one twice.
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
	nested := `{ __type(name: "Query") { name` + strings.Repeat(" ofType { name", maxDepth) + strings.Repeat(" }", maxDepth) + ` } }`
	for name, c := range map[string]struct{ query, message string }{
		"complexity":            {`{ emails(first: 100) { nodes { content { html } } } }`, "operation has complexity 12201, which exceeds the limit of 12000"},
		"complexity of aliases": {`{` + repeated(20, ` a%d: emails(first: 100) { nodes { id subject from to status } }`) + `}`, "complexity"},
		"complexity of both":    {`{ emails(first: 100) { edges { node { timeline { data } recipients { address kind state } attempts { number } } } nodes { timeline { data } recipients { address kind state } attempts { number } } } domains(first: 100) ` + everything(t, "DomainConnection") + ` }`, "complexity"},
		"page out of range":     {`{ emails(first: 2000000000) { nodes { content { html } } } }`, "complexity 12201"},
		"depth":                 {nested, "the query is deeper than 16 levels"},
		"aliases":               {`{` + repeated(maxAliases+1, " a%d: __typename") + `}`, "the query has more than 30 aliases"},
		"aliases in fragments":  {`{ ...F ...F } fragment F on Query {` + repeated(maxAliases/2+1, " a%d: __typename") + `}`, "the query has more than 30 aliases"},
		"directives":            {`{ __typename` + strings.Repeat(" @include(if: true)", maxDirectives+1) + `}`, "the query has more than 30 directives"},
		"selections":            {`{` + strings.Repeat(" __typename", maxSelections+1) + `}`, "the query selects more than 1000 fields"},
		"text":                  {`{ __typename }` + strings.Repeat(" ", maxQuery), "the query text is longer than 65536 octets"},
		"fragment bomb":         {`{ ...F0 } ` + bomb(60, "Query", "__typename"), "the query selects more than 1000 fields"},
		"fragment bomb, empty":  {`{ ...F0 } ` + bomb(60, "Query", "...F59"), `Cannot spread fragment "F59" within itself.`},
		"fragment bomb, unused": {`{ __typename } ` + bomb(60, "Query", "__typename"), "the query selects more than 1000 fields"},
		"introspection bomb":    {`{ __schema { types { ...F0 } } } ` + bomb(60, "__Type", "name"), "the query selects more than 1000 fields"},
		"introspection circle":  {`{ __schema { types { fields { type { fields { type { fields { name } } } } } } } }`, "Maximum introspection depth exceeded"},
		"tokens":                {`{` + strings.Repeat(" a", maxTokens) + `}`, "the query has more than 2000 tokens"},
	} {
		start := time.Now()
		a := s.ask(t, c.query, nil)
		if a.status != 400 || !strings.Contains(a.message(), c.message) || a.Data != nil {
			t.Errorf("%s: got status %d and %.300s, want 400 without data that says %q", name, a.status, a.body, c.message)
		}
		if code := a.codes(); code != codeTooComplex && !strings.Contains("introspection circle, fragment bomb, empty", name) {
			t.Errorf("%s: code %s", name, code)
		}
		if took := time.Since(start); took > 2*time.Second {
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
		"all domains":            `{ domains(first: 100) ` + everything(t, "DomainConnection") + ` }`,
		"introspection":          introspection.Query,
		"aliases":                `{` + repeated(maxAliases, " a%d: __typename") + `}`,
		"selections":             `{` + strings.Repeat(" __typename", maxSelections) + `}`,
	} {
		if a := s.ask(t, query, nil); a.status != 200 || len(a.Errors) != 0 {
			t.Errorf("%s: got status %d and %.400s, want 200 without errors", name, a.status, a.body)
		}
	}
}

// The costliest shapes for gqlparser's validation that the limits let through:
// it compares fields of one name pairwise.
func TestWorstAcceptedShapesAreCheap(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{emails: 1})
	for name, query := range map[string]string{
		"one name":        `{` + strings.Repeat(" emails { nodes { id } }", 280) + `}`,
		"one name nested": `{` + strings.Repeat(" emails { nodes { recipients { address address address } } }", 150) + `}`,
		"wide fragments":  `{` + repeated(130, " ...F%d") + ` }` + repeated(130, " fragment F%d on Query { emails { nodes { id } } }"),
	} {
		start := time.Now()
		a := s.ask(t, query, nil)
		tokens := a.message() == "the query has more than 2000 tokens" // then it proves nothing
		if took := time.Since(start); took > 3*time.Second || a.status >= 500 || tokens {
			t.Errorf("%s: %d after %v: %.200s", name, a.status, took, a.body)
		}
	}
}
