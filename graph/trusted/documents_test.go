package trusted

import (
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/formatter"
	"github.com/vektah/gqlparser/v2/parser"

	"github.com/postrider/postrider/graph/schema"
	"github.com/postrider/postrider/rest/pages/dashboard"
)

// formatted returns a text in a uniform layout, or unchanged if it cannot be parsed.
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
		"nothing is gone": {`query A($n: Int) { it(first: $n) { ...F } } fragment F on It { id }`,
			`query A($n: Int) { it(first: $n) { ...F } } fragment F on It { id }`},
		"a field":             {`{ it { id gone } }`, `{ it { id } }`},
		"a field of the root": {`{ gone { id } it { id } }`, `{ it { id } }`},
		"all of an object":    {`{ it { gone } }`, `{ it { __typename } }`},
		"variables":           {`query A($n: Int, $s: String, $b: Boolean!, $c: Boolean!) { it(by: {names: [$s]}) { id @include(if: $b) gone(first: $n) @skip(if: $c) } }`, `query A($s: String, $b: Boolean!) { it(by: {names: [$s]}) { id @include(if: $b) } }`},
		"variables of fragments": {`query A($n: Int) { box { ...F } } fragment F on Box { it(first: $n) { id gone } }`,
			`query A($n: Int) { box { ...F } } fragment F on Box { it(first: $n) { id } }`},
		"a type": {`{ node(id: "1") { id ... on Gone { name } ... on It { name } } }`,
			`{ node(id: "1") { id ... on It { name } } }`},
		"a fragment on a type that is gone":         {`{ node(id: "1") { id ...F } } fragment F on Gone { name }`, `{ node(id: "1") { id } }`},
		"a fragment of a removed type":              {`{ it { id ...F } } fragment F on It { gone ...G } fragment G on It { gone }`, `{ it { id } }`},
		"a fragment that only what is gone spreads": {`{ it { id } gone { ...F } } fragment F on It { id }`, `{ it { id } }`},
		"one of two operations":                     {`query A { it { id } } query B { gone } mutation C { gone }`, `query A { it { id } }`},
		"aliases, strings":                          {`{ a: it(by: {name: "x \"y\" é"}) { b: name gone } }`, `{ a: it(by: {name: "x \"y\" é"}) { b: name } }`},
		"nothing is left":                           {`query A($n: Int) { gone(first: $n) { id } }`, `query A($n: Int) { gone(first: $n) { id } }`},
		"no query":                                  {`{ it { `, `{ it { `},
		"a circle":                                  {`{ it { ...F gone } } fragment F on It { ...F }`, `{ it { ...F gone } } fragment F on It { ...F }`},
		"a wrong argument":                          {`{ it(wrong: 1) { id gone } }`, `{ it(wrong: 1) { id gone } }`},
	} {
		got := Documents{"x": c.text}.LimitTo(served)["x"]
		if formatted(got) != formatted(c.want) {
			t.Errorf("%s: got %s\nwant %s", name, got, c.want)
		}
	}
}

// With any one module off, every document of the dashboard can still be run, unless it queries only that module.
func TestDocumentsOfTheDashboardLiveWithoutAModule(t *testing.T) {
	t.Parallel()
	documents, err := dashboard.Documents()
	if err != nil || len(documents) < 20 {
		t.Fatalf("%d documents, %v", len(documents), err)
	}
	whole, err := schema.ParseFull()
	if err != nil {
		t.Fatal(err)
	}
	all := schema.Modules(whole)
	for _, off := range all {
		if off == "accounts" {
			continue
		}
		served, err := schema.ParseServed(slices.DeleteFunc(slices.Clone(all),
			func(name string) bool { return name == off }))
		if err != nil {
			t.Fatal(err)
		}
		changed := Documents(documents).LimitTo(served)
		for id, text := range documents {
			switch {
			case valid(served, changed[id]): // as a whole or in part
			case changed[id] == text && prune(served, text) == "": // nothing is left of it
			default:
				t.Errorf("without %s: %.60s became %.200s", off, text, changed[id])
			}
		}
	}
}
