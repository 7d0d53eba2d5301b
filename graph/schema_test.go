package graph

import (
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/postrider/postrider/graph/schema"
	"github.com/postrider/postrider/runtime/base/expect"
)

func TestServedSchema(t *testing.T) {
	t.Parallel()
	for file, on := range map[string][]string{
		"schema.graphql":               allModules,
		"schema_accounts_only.graphql": {"accounts"},
	} {
		text, err := schema.SDL(on)
		if err != nil {
			t.Fatal(err)
		}
		expect.Golden(t, file, text)
		// The served schema is complete: no remaining field refers to a removed type.
		if _, err := gqlparser.LoadSchema(&ast.Source{Input: text}); err != nil {
			t.Errorf("%s: the schema that is served does not load: %v", file, err)
		}
	}
}

func TestEverythingIsDocumented(t *testing.T) {
	t.Parallel()
	s, err := schema.ParseServed(allModules)
	if err != nil {
		t.Fatal(err)
	}
	for _, def := range s.Types {
		if def.BuiltIn {
			continue
		}
		if def.Description == "" {
			t.Errorf("%s has no description", def.Name)
		}
		for _, f := range def.Fields {
			if f.Description == "" && !strings.HasPrefix(f.Name, "__") {
				t.Errorf("%s.%s has no description", def.Name, f.Name)
			}
			for _, a := range f.Arguments {
				if a.Description == "" && !strings.HasPrefix(f.Name, "__") {
					t.Errorf("%s.%s(%s:) has no description", def.Name, f.Name, a.Name)
				}
			}
		}
		for _, v := range def.EnumValues {
			if v.Description == "" {
				t.Errorf("%s.%s has no description", def.Name, v.Name)
			}
		}
	}
}

func TestEveryRootFieldNamesItsModule(t *testing.T) {
	t.Parallel()
	s, err := schema.ParseServed(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range s.Query.Fields {
		if !strings.HasPrefix(f.Name, "__") {
			t.Errorf("Query.%s is there with every module off: mark it with @module", f.Name)
		}
	}
	if s.Mutation != nil {
		t.Errorf("%v are there with every module off: mark them with @module", s.Mutation.Fields)
	}
}

const typesQuery = `{ __schema { queryType { fields { name } } types { name } directives { name } } }`

func TestHiddenModuleNeverExisted(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{on: []string{"accounts", "domains"}, emails: 1})
	a := s.ask(t, typesQuery, nil)
	for _, hidden := range []string{"email", "emails", "Email", "EmailConnection", "EmailEdge", "EmailStatus",
		"Recipient", "TimelineEntry", "JSON", "module", "Mutation", "QueueSelection"} {
		if strings.Contains(a.body, `"`+hidden+`"`) {
			t.Errorf("introspection shows %s", hidden)
		}
	}
	for _, shown := range []string{"domains", "account", "Domain", "PageInfo", "DateTime"} {
		if !strings.Contains(a.body, `"`+shown+`"`) {
			t.Errorf("introspection does not show %s", shown)
		}
	}
	if a := s.ask(t, `{ __type(name: "Email") { name } }`, nil); a.body != `{"data":{"__type":null}}` {
		t.Errorf("__type: %s", a.body)
	}
	for query, message := range map[string]string{
		`{ emails { nodes { id } } }`:                    `Cannot query field "emails" on type "Query".`,
		`{ account { id ... on Email { id } } }`:         `Unknown type "Email".`,
		`fragment F on Email { id } { __typename ...F }`: `Unknown type "Email".`,
	} {
		a := s.ask(t, query, nil)
		if a.status != 400 || a.codes() != "validation_error" || !strings.HasPrefix(a.message(), message) {
			t.Errorf("%s got status %d and %s, want 400 validation_error that says %q", query, a.status,
				a.body, message)
		}
		if strings.Contains(a.body, "Did you mean \\\"email") {
			t.Errorf("%s: the suggestion reveals the hidden field: %s", query, a.body)
		}
	}
	if n := s.calls.counted()["List"]; n != 0 {
		t.Errorf("the hidden module was called %d times", n)
	}
	if a := newServer(t, setup{emails: 1}).ask(t, typesQuery, nil); !strings.Contains(a.body, `"EmailConnection"`) ||
		strings.Contains(a.body, `"module"`) {
		t.Errorf("with every module on: %s", a.body)
	}
}

func TestReaderOfAModuleThatIsOnMustBeThere(t *testing.T) {
	t.Parallel()
	_, err := New(Options{On: allModules})
	for _, missing := range []string{"accounts", "domains", "sending", "authenticator", "logger"} {
		if err == nil || !strings.Contains(err.Error(), missing) {
			t.Errorf("error %v does not name %s", err, missing)
		}
	}
}

func TestPruneTakesFieldsOfSharedTypesAndWhatOnlyTheyLedTo(t *testing.T) {
	t.Parallel()
	s := gqlparser.MustLoadSchema(&ast.Source{Input: `
		directive @module(name: String!) on FIELD_DEFINITION
		type Query { it: Shared  found: Result @module(name: "b")  node: Node  only(by: Filter): Int @module(name: "b") }
		type Shared { id: ID!  mine: A @module(name: "a")  theirs: B @module(name: "b") }
		interface Node { id: ID! }
		type A implements Node { id: ID!  back: Shared }
		type B { id: ID!  deep: Deep }
		type Deep { kind: Kind }
		enum Kind { ONE }
		union Result = A | B
		input Filter { kind: Kind  at: Stamp }
		scalar Stamp`})
	schema.Prune(s, []string{"a"})
	var left []string
	for name, def := range s.Types {
		if !def.BuiltIn {
			left = append(left, name)
		}
	}
	slices.Sort(left)
	same(t, "types", []string{"A", "Node", "Query", "Shared"}, left)
	same(t, "field of the shared type", true, s.Types["Shared"].Fields.ForName("theirs") == nil &&
		s.Types["Shared"].Fields.ForName("mine") != nil)
	same(t, "directive", true, s.Directives["module"] == nil && s.Directives["include"] != nil)
	for _, defs := range s.PossibleTypes {
		for _, def := range defs {
			if s.Types[def.Name] == nil {
				t.Errorf("possible type %s is gone", def.Name)
			}
		}
	}
}
