package trusted

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/formatter"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"github.com/postrider/postrider/graph/refusal"
)

// Documents are the queries of this installation's pages: texts by their SHA-256 in hexadecimal. A request selects one
// with `documentId: "sha256:…"`. They are part of the program, so that a stolen session can query only what a page
// queries.
type Documents map[string]string

const documentPrefix = "sha256:"

// Text returns the document with an ID.
func (d Documents) Text(documentID string) (string, *gqlerror.Error) {
	if text := d[strings.TrimPrefix(documentID, documentPrefix)]; text != "" &&
		strings.HasPrefix(documentID, documentPrefix) {
		return text, nil
	}
	return "", refusal.NewError(refusal.CodeUnknownDocument,
		"Unknown documentId. Reload the page, which may be older than the service.")
}

// ErrUntrustedQuery returns the error for a request by a signed-in user that contains its own query.
func ErrUntrustedQuery() *gqlerror.Error {
	return refusal.NewError(refusal.CodeUntrusted,
		"Signed-in users can run only the queries of the dashboard, by `documentId`. Use an API key for other queries.")
}

// LimitTo returns the documents limited to the fields of a schema. A page queries the data of all modules in one
// document and gets the data of the enabled ones. A document without any remaining field does not change, and its
// response reports the missing fields.
func (d Documents) LimitTo(served *ast.Schema) Documents {
	out := make(Documents, len(d))
	for id, text := range d {
		out[id] = text
		if valid(served, text) {
			continue
		}
		if pruned := prune(served, text); valid(served, pruned) {
			out[id] = pruned
		}
	}
	return out
}

func valid(served *ast.Schema, text string) bool {
	doc, wrong := gqlparser.LoadQueryWithRules(served, text, rules.NewDefaultRules())
	return wrong == nil && len(doc.Operations) > 0
}

// prune removes the fields that a schema does not have, then the fragments and variables that are no longer
// used. For an object without remaining fields it selects only __typename, which shows that the object
// exists.
func prune(served *ast.Schema, text string) string {
	doc, err := parser.ParseQuery(&ast.Source{Input: text})
	if err != nil {
		return text
	}
	p := documentPruner{schema: served, fragments: doc.Fragments, left: map[string]bool{}}
	doc.Operations = slices.DeleteFunc(doc.Operations, func(op *ast.OperationDefinition) bool {
		root := map[ast.Operation]*ast.Definition{ast.Query: served.Query, ast.Mutation: served.Mutation,
			ast.Subscription: served.Subscription}[op.Operation]
		if root == nil {
			return true
		}
		op.SelectionSet = p.selections(op.SelectionSet, root.Name)
		return len(op.SelectionSet) == 0
	})
	spread := map[string]bool{}
	for _, op := range doc.Operations {
		used := usage{fragments: doc.Fragments, spread: map[string]bool{}, variables: map[string]bool{}}
		used.of(op.SelectionSet, op.Directives)
		op.VariableDefinitions = slices.DeleteFunc(op.VariableDefinitions,
			func(v *ast.VariableDefinition) bool { return !used.variables[v.Variable] })
		maps.Copy(spread, used.spread)
	}
	doc.Fragments = slices.DeleteFunc(doc.Fragments, func(f *ast.FragmentDefinition) bool { return !spread[f.Name] })
	var out strings.Builder
	formatter.NewFormatter(&out).FormatQueryDocument(doc)
	return out.String()
}

type documentPruner struct {
	schema    *ast.Schema
	fragments ast.FragmentDefinitionList
	left      map[string]bool // pruned fragments, and whether they still have fields
}

func (p documentPruner) selections(set ast.SelectionSet, parent string) ast.SelectionSet {
	return slices.DeleteFunc(set, func(selection ast.Selection) bool {
		switch s := selection.(type) {
		case *ast.Field:
			return !p.field(s, parent)
		case *ast.InlineFragment:
			on := cmp.Or(s.TypeCondition, parent)
			s.SelectionSet = p.selections(s.SelectionSet, on)
			return len(s.SelectionSet) == 0
		case *ast.FragmentSpread:
			return !p.fragment(s.Name)
		}
		return false
	})
}

// field prunes the selection of a field and reports whether the schema has the field.
func (p documentPruner) field(f *ast.Field, parent string) bool {
	const itself = "__typename"
	def := p.schema.Types[parent]
	if def == nil || f.Name == itself {
		return def != nil
	}
	known := def.Fields.ForName(f.Name)
	if known == nil {
		return false
	}
	if len(f.SelectionSet) > 0 {
		if f.SelectionSet = p.selections(f.SelectionSet, known.Type.Name()); len(f.SelectionSet) == 0 {
			f.SelectionSet = ast.SelectionSet{&ast.Field{Alias: itself, Name: itself}}
		}
	}
	return true
}

func (p documentPruner) fragment(name string) bool {
	if left, pruned := p.left[name]; pruned {
		return left
	}
	f := p.fragments.ForName(name)
	if f == nil {
		return true // invalid for another reason
	}
	p.left[name] = true // while it is pruned; a fragment that spreads itself is invalid anyway
	f.SelectionSet = p.selections(f.SelectionSet, f.TypeCondition)
	p.left[name] = len(f.SelectionSet) > 0
	return p.left[name]
}

// usage collects the fragments and variables that an operation uses.
type usage struct {
	fragments         ast.FragmentDefinitionList
	spread, variables map[string]bool
}

func (u *usage) of(set ast.SelectionSet, directives ast.DirectiveList) {
	for _, d := range directives {
		u.arguments(d.Arguments)
	}
	for _, selection := range set {
		switch s := selection.(type) {
		case *ast.Field:
			u.arguments(s.Arguments)
			u.of(s.SelectionSet, s.Directives)
		case *ast.InlineFragment:
			u.of(s.SelectionSet, s.Directives)
		case *ast.FragmentSpread:
			u.of(nil, s.Directives)
			if f := u.fragments.ForName(s.Name); f != nil && !u.spread[s.Name] {
				u.spread[s.Name] = true
				u.of(f.SelectionSet, f.Directives)
			}
		}
	}
}

func (u *usage) arguments(list ast.ArgumentList) {
	for _, a := range list {
		u.value(a.Value)
	}
}

func (u *usage) value(v *ast.Value) {
	if v.Kind == ast.Variable {
		u.variables[v.Raw] = true
	}
	for _, child := range v.Children {
		u.value(child.Value)
	}
}
