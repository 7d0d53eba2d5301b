package limits

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"

	"github.com/postrider/postrider/graph/refusal"
)

// Limits of a request. Introspection is measured separately: the query of common tools has 250 tokens and a
// depth of 15.
const (
	Body          = 1 << 20
	Query         = 64 << 10 // bytes of the query text
	Tokens        = 2000
	Depth         = 10
	Introspection = 16 // levels, from __schema or __type on
	RootFields    = 20
	Aliases       = 15
	Directives    = 30
	Selections    = 1000    // fields and fragments, with fragments expanded
	Complexity    = 12100   // see graph/complexity.go
	Result        = 5 << 20 // bytes of a response
	CachedQueries = 128     // at most 8 MB of text
	Mistakes      = 10      // reported errors of a query, which can have hundreds
)

// Shape refuses queries by their shape. It runs before validation, because some of gqlparser's rules, and gqlgen's
// complexity limit, take exponential time for fragments that spread others twice.
type Shape struct{}

var _ interface {
	graphql.HandlerExtension
	graphql.OperationParameterMutator
} = Shape{}

// ExtensionName returns gqlgen's name of the extension.
func (Shape) ExtensionName() string { return "ShapeLimit" }

// Validate accepts every schema.
func (Shape) Validate(graphql.ExecutableSchema) error { return nil }

// MutateOperationParameters changes nothing. It is the earliest hook.
func (Shape) MutateOperationParameters(_ context.Context, request *graphql.RawParams) *gqlerror.Error {
	if len(request.Query) > Query {
		return refusal.TooComplex("the query text is longer than %d bytes", Query)
	}
	doc, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: request.Query}, Tokens)
	switch {
	case err != nil && strings.Contains(err.Error(), "exceeded token limit"):
		return refusal.TooComplex("the query has more than %d tokens", Tokens)
	case err != nil:
		return nil //nolint:nilerr // the executor gets the same error and reports it
	}
	if request.OperationName == "" && len(doc.Operations) > 1 { // gqlgen would name an operation without a name
		return gqlerror.Errorf("The request has %d operations: set operationName to the one to run",
			len(doc.Operations))
	}
	m := measure{fragments: doc.Fragments, known: map[string]extent{}}
	var whole extent
	for _, op := range doc.Operations {
		set := m.selections(op.SelectionSet)
		set.roots = set.level
		whole = whole.addLevel(set).addLevel(extent{directives: len(op.Directives)})
	}
	for _, f := range doc.Fragments { // validated even where no operation spreads them
		part := m.fragment(f.Name)
		if strings.HasPrefix(f.TypeCondition, "__") {
			part.depth, part.introspection = 0, part.depth
		}
		whole = whole.atLeast(part)
	}
	if m.cycle != "" {
		return gqlerror.Errorf("Cannot spread fragment %q within itself.", m.cycle)
	}
	return whole.refusal()
}

// extent is the size of a selection. level counts the fields of its first level, and roots those of an operation.
type extent struct{ depth, introspection, level, roots, aliases, directives, selections int }

func (s extent) refusal() *gqlerror.Error {
	switch {
	case s.depth > Depth:
		return refusal.TooComplex("the query is deeper than %d levels", Depth)
	case s.introspection > Introspection:
		return refusal.TooComplex("the introspection is deeper than %d levels", Introspection)
	case s.aliases > Aliases:
		return refusal.TooComplex("the query has more than %d aliases", Aliases)
	case s.directives > Directives:
		return refusal.TooComplex("the query has more than %d directives", Directives)
	case s.selections > Selections:
		return refusal.TooComplex("the query selects more than %d fields, with fragments expanded", Selections)
	case s.roots > RootFields:
		return refusal.TooComplex("the query has more than %d root fields", RootFields)
	}
	return nil
}

// addLevel adds two shapes of one level. Sums stop growing far above every limit, so that they cannot
// overflow.
func (s extent) addLevel(t extent) extent {
	const most = 1 << 20
	joined := s.atLeast(t)
	joined.level, joined.aliases = min(s.level+t.level, most), min(s.aliases+t.aliases, most)
	joined.directives, joined.selections = min(s.directives+t.directives, most), min(s.selections+t.selections, most)
	return joined
}

func (s extent) atLeast(t extent) extent {
	return extent{max(s.depth, t.depth), max(s.introspection, t.introspection), max(s.level, t.level),
		max(s.roots, t.roots),
		max(s.aliases, t.aliases), max(s.directives, t.directives), max(s.selections, t.selections)}
}

// measure counts selections, each fragment once.
type measure struct {
	fragments ast.FragmentDefinitionList
	known     map[string]extent
	open      []string // fragments being measured
	cycle     string   // a fragment that spreads itself
}

func (m *measure) selections(set ast.SelectionSet) extent {
	var total extent
	for _, selection := range set {
		one := extent{selections: 1}
		switch s := selection.(type) {
		case *ast.Field:
			one.directives = len(s.Directives)
			if s.Alias != s.Name {
				one.aliases = 1
			}
			one = one.addLevel(m.selections(s.SelectionSet))
			one.depth, one.level = one.depth+1, 1
			if s.Name == "__schema" || s.Name == "__type" {
				one.depth, one.introspection = 1, one.depth
			}
		case *ast.InlineFragment:
			one.directives = len(s.Directives)
			one = one.addLevel(m.selections(s.SelectionSet))
		case *ast.FragmentSpread:
			one.directives = len(s.Directives)
			one = one.addLevel(m.fragment(s.Name))
		}
		total = total.addLevel(one)
	}
	return total
}

func (m *measure) fragment(name string) extent {
	if s, measured := m.known[name]; measured {
		return s
	}
	if slices.Contains(m.open, name) {
		m.cycle = name
		return extent{}
	}
	f := m.fragments.ForName(name)
	if f == nil {
		return extent{} // the executor reports it
	}
	m.open = append(m.open, name)
	s := m.selections(f.SelectionSet).addLevel(extent{directives: len(f.Directives)})
	m.open = m.open[:len(m.open)-1]
	m.known[name] = s
	return s
}

// ResultTooLarge is the message for a response with too many bytes.
var ResultTooLarge = fmt.Sprintf(
	"The response is larger than %d MB. Request fewer entries or fields. The REST API returns complete entries", Result>>20)
