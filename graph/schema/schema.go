package schema

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/formatter"
)

//go:embed *.graphqls
var sdl embed.FS

// Names in the SDL: the directive that sets the module of a field, and the interface of objects with an ID.
const (
	ModuleDirective = "module"
	NodeInterface   = "Node"
)

// SDL returns the schema that is served if the given modules are enabled.
func SDL(on []string) (string, error) {
	served, err := ParseServed(on)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	formatter.NewFormatter(&out, formatter.WithIndent("  ")).FormatSchema(served)
	return out.String(), nil
}

// SDLPath is the path of the schema. The schema is the same for every account, and not secret.
const SDLPath = "/graphql/schema.graphql"

// ParseServed parses the SDL again, because pruning changes the parsed schema.
func ParseServed(on []string) (*ast.Schema, error) {
	parsed, err := ParseFull()
	if err == nil {
		Prune(parsed, on)
	}
	return parsed, err
}

// ParseFull parses the SDL without pruning.
func ParseFull() (*ast.Schema, error) {
	entries, err := sdl.ReadDir(".")
	if err != nil {
		return nil, fmt.Errorf("graph: read SDL: %w", err)
	}
	var sources []*ast.Source
	for _, e := range entries {
		text, err := sdl.ReadFile(e.Name())
		if err != nil {
			return nil, fmt.Errorf("graph: read SDL: %w", err)
		}
		sources = append(sources, &ast.Source{Name: e.Name(), Input: string(text)})
	}
	parsed, err := gqlparser.LoadSchema(sources...)
	if err != nil {
		return nil, fmt.Errorf("graph: parse SDL: %w", err)
	}
	return parsed, nil
}

// Prune removes the fields of disabled modules, and every type that no remaining field uses. It also removes the
// directive, which callers do not need.
func Prune(s *ast.Schema, on []string) {
	for _, def := range s.Types {
		def.Fields = slices.DeleteFunc(def.Fields, func(f *ast.FieldDefinition) bool {
			return slices.ContainsFunc(f.Directives.ForNames(ModuleDirective), func(marked *ast.Directive) bool {
				return !slices.Contains(on, marked.Arguments.ForName("name").Value.Raw)
			})
		})
		for _, f := range def.Fields {
			f.Directives = slices.DeleteFunc(f.Directives,
				func(d *ast.Directive) bool { return d.Name == ModuleDirective })
		}
	}
	delete(s.Directives, ModuleDirective)
	delete(s.Directives, "defer")                         // added by the parser; responses are not deferred
	if s.Mutation != nil && len(s.Mutation.Fields) == 0 { // a type must have fields
		s.Mutation = nil
	}
	if s.Subscription != nil && len(s.Subscription.Fields) == 0 {
		s.Subscription = nil
	}

	live := ReachableTypes(s)
	gone := func(def *ast.Definition) bool { return !live[def.Name] }
	for name := range s.Types {
		if !live[name] {
			delete(s.Types, name)
			delete(s.PossibleTypes, name)
			delete(s.Implements, name)
		}
	}
	for name := range s.PossibleTypes {
		s.PossibleTypes[name] = slices.DeleteFunc(s.PossibleTypes[name], gone)
	}
	for name := range s.Implements {
		s.Implements[name] = slices.DeleteFunc(s.Implements[name], gone)
	}
}

// ReachableTypes returns the names of the types that the root types, the directives and introspection use.
func ReachableTypes(s *ast.Schema) map[string]bool {
	live := map[string]bool{}
	var visit func(name string)
	arguments := func(list ast.ArgumentDefinitionList) {
		for _, a := range list {
			visit(a.Type.Name())
		}
	}
	visit = func(name string) {
		def := s.Types[name]
		if def == nil || live[name] {
			return
		}
		live[name] = true
		for _, f := range def.Fields {
			visit(f.Type.Name())
			arguments(f.Arguments)
		}
		for _, name := range slices.Concat(def.Interfaces, def.Types) {
			visit(name)
		}
		if name == NodeInterface { // its types are reachable through other fields, if their modules are enabled
			return
		}
		for _, p := range s.PossibleTypes[name] { // through an interface
			visit(p.Name)
		}
	}
	for _, root := range []*ast.Definition{s.Query, s.Mutation, s.Subscription} {
		if root != nil {
			visit(root.Name)
		}
	}
	for _, d := range s.Directives {
		arguments(d.Arguments)
	}
	for name, def := range s.Types {
		if def.BuiltIn {
			visit(name)
		}
	}
	return live
}

// Modules lists the modules that the directives of a schema name.
func Modules(s *ast.Schema) []string {
	var names []string
	for _, def := range s.Types {
		for _, f := range def.Fields {
			if marked := f.Directives.ForName(ModuleDirective); marked != nil {
				names = append(names, marked.Arguments.ForName("name").Value.Raw)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
