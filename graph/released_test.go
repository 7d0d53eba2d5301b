package graph

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/postrider/postrider/graph/schema"
)

// releasedFile contains the schema of the latest release. make release-schema writes it at each release.
const releasedFile = "schema/released.graphql"

// A field may be removed only after a release that marked it as deprecated.
func TestTheReleasedSchemaIsKept(t *testing.T) {
	t.Parallel()
	text := everyModulesSDL(t)
	if os.Getenv("POSTRIDER_RELEASE_SCHEMA") != "" {
		if err := os.WriteFile(releasedFile, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	released, err := os.ReadFile(releasedFile)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("no release yet: there is no " + releasedFile)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, what := range broken(t, string(released), text) {
		t.Errorf("Clients of the latest release break: %s. Bring it back, marked @deprecated(reason:); it may go after the next release.", what)
	}
}

// everyModulesSDL returns the schema with every module on, as an installation serves it.
func everyModulesSDL(t *testing.T) string {
	t.Helper()
	whole, err := schema.ParseFull()
	if err != nil {
		t.Fatal(err)
	}
	var on []string
	for _, def := range whole.Types {
		for _, f := range def.Fields {
			for _, d := range f.Directives.ForNames(schema.ModuleDirective) {
				on = append(on, d.Arguments.ForName("name").Value.Raw)
			}
		}
	}
	text, err := schema.SDL(slices.DeleteFunc(on, func(name string) bool { return name == ModuleDevelopment }))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// broken lists what clients of the old schema rely on and the new one no longer has.
func broken(t *testing.T, oldText, newText string) []string {
	t.Helper()
	load := func(text string) *ast.Schema {
		s, err := gqlparser.LoadSchema(&ast.Source{Input: text})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	now := load(newText)
	c := comparison{old: withoutDeprecated(load(oldText)), now: now}
	for _, def := range c.old.Types {
		if !def.BuiltIn {
			c.definition(def, now.Types[def.Name])
		}
	}
	slices.Sort(c.found)
	return c.found
}

// withoutDeprecated returns the part of a schema that clients may continue to rely on.
func withoutDeprecated(s *ast.Schema) *ast.Schema {
	gone := func(list ast.DirectiveList) bool { return list.ForName("deprecated") != nil }
	for _, def := range s.Types {
		def.Fields = slices.DeleteFunc(def.Fields, func(f *ast.FieldDefinition) bool { return gone(f.Directives) })
		for _, f := range def.Fields {
			f.Arguments = slices.DeleteFunc(f.Arguments,
				func(a *ast.ArgumentDefinition) bool { return gone(a.Directives) })
		}
		def.EnumValues = slices.DeleteFunc(def.EnumValues,
			func(v *ast.EnumValueDefinition) bool { return gone(v.Directives) })
	}
	live := schema.ReachableTypes(s)
	for name := range s.Types {
		if !live[name] {
			delete(s.Types, name)
		}
	}
	return s
}

type comparison struct {
	old, now *ast.Schema
	found    []string
}

func (c *comparison) add(format string, args ...any) {
	c.found = append(c.found, fmt.Sprintf(format, args...))
}

func (c *comparison) definition(was, is *ast.Definition) {
	switch {
	case is == nil:
		c.add("type %s is gone", was.Name)
		return
	case was.Kind != is.Kind:
		c.add("type %s was %s and is %s", was.Name, was.Kind, is.Kind)
		return
	}
	for _, name := range was.Interfaces {
		if !slices.Contains(is.Interfaces, name) {
			c.add("%s is no longer a %s", was.Name, name)
		}
	}
	for _, name := range was.Types {
		if c.old.Types[name] != nil && !slices.Contains(is.Types, name) {
			c.add("%s is no longer part of %s", name, was.Name)
		}
	}
	for _, v := range was.EnumValues {
		if is.EnumValues.ForName(v.Name) == nil {
			c.add("%s.%s is gone", was.Name, v.Name)
		}
	}
	if was.Kind == ast.InputObject {
		c.inputs(was.Name+".%s", asInputs(was.Fields), asInputs(is.Fields))
		return
	}
	for _, f := range was.Fields {
		c.field(was.Name+"."+f.Name, f, is.Fields.ForName(f.Name))
	}
}

func (c *comparison) field(name string, was, is *ast.FieldDefinition) {
	if strings.HasPrefix(was.Name, "__") {
		return
	}
	if is == nil {
		c.add("%s is gone", name)
		return
	}
	if !gives(was.Type, is.Type) {
		c.add("%s was %s and is %s", name, was.Type, is.Type)
	}
	var before, after []input
	for _, a := range was.Arguments {
		before = append(before, input{a.Name, a.Type, a.DefaultValue})
	}
	for _, a := range is.Arguments {
		after = append(after, input{a.Name, a.Type, a.DefaultValue})
	}
	c.inputs(name+"(%s:)", before, after)
}

// input is an argument, or a field of an input object.
type input struct {
	name     string
	of       *ast.Type
	standard *ast.Value
}

func asInputs(fields ast.FieldList) (out []input) {
	for _, f := range fields {
		out = append(out, input{f.Name, f.Type, f.DefaultValue})
	}
	return out
}

func (c *comparison) inputs(format string, before, after []input) {
	named := func(list []input, name string) int {
		return slices.IndexFunc(list, func(i input) bool { return i.name == name })
	}
	for _, was := range before {
		name, i := fmt.Sprintf(format, was.name), named(after, was.name)
		if i < 0 {
			c.add("%s is gone", name)
			continue
		}
		is := after[i]
		if !takes(was.of, is.of) {
			c.add("%s was %s and is %s", name, was.of, is.of)
		}
		if was.standard.String() != is.standard.String() {
			c.add("%s was %s unless given and is %s", name, orNothing(was.standard), orNothing(is.standard))
		}
	}
	for _, is := range after {
		if named(before, is.name) < 0 && is.of.NonNull && is.standard == nil {
			c.add("%s is new and has to be given", fmt.Sprintf(format, is.name))
		}
	}
}

func orNothing(v *ast.Value) string {
	if v == nil {
		return "nothing"
	}
	return v.String()
}

// gives reports whether a field of the new type returns only values that the old type could return.
func gives(was, is *ast.Type) bool {
	if was.NonNull && !is.NonNull || (was.Elem == nil) != (is.Elem == nil) {
		return false
	}
	if was.Elem != nil {
		return gives(was.Elem, is.Elem)
	}
	return was.NamedType == is.NamedType
}

// takes reports whether an input of the new type accepts all values that the old type accepted.
func takes(was, is *ast.Type) bool {
	if is.NonNull && !was.NonNull || (was.Elem == nil) != (is.Elem == nil) {
		return false
	}
	if was.Elem != nil {
		return takes(was.Elem, is.Elem)
	}
	return was.NamedType == is.NamedType
}

func TestBrokenNamesWhatClientsLose(t *testing.T) {
	t.Parallel()
	const before = `
		type Query { it(id: ID!, first: Int = 25, old: Int @deprecated(reason: "x")): It  them: [It!]!  any: Any  former: Former @deprecated(reason: "x") }
		interface Node { id: ID! }
		type It implements Node { id: ID!  name: String!  note: String  kind: Kind!  gone: Int @deprecated(reason: "x") }
		type Other { id: ID! }
		type Former { id: ID! }
		union Any = It | Other
		enum Kind { ONE  TWO  OLD @deprecated(reason: "x") }
		input By { name: String  kinds: [Kind!]  old: Int @deprecated(reason: "x") }
		type Mutation { change(by: By!): It }`
	for name, c := range map[string]struct {
		change []string // pairs: existing text and its replacement
		want   []string
	}{
		"nothing": {nil, nil},
		"what was deprecated": {[]string{`, old: Int @deprecated(reason: "x")`, ``,
			`  former: Former @deprecated(reason: "x")`, ``, `type Former { id: ID! }`, ``,
			`  gone: Int @deprecated(reason: "x")`, ``, `  OLD @deprecated(reason: "x")`, ``,
			`  old: Int @deprecated(reason: "x")`, ``}, nil},
		"more": {[]string{`ONE `, `ONE ZERO `, `name: String!`,
			`name: String!  more(x: Int, y: Int! = 1): Int`, `input By {`, `input By { more: String `,
			`first: Int = 25`, `first: Int = 25, last: Int`}, nil},
		"stricter and looser":        {[]string{`note: String`, `note: String!`, `it(id: ID!`, `it(id: ID`, `by: By!`, `by: By`, `[Kind!]`, `[Kind]`}, nil},
		"a deprecation":              {[]string{`note: String`, `note: String @deprecated(reason: "x")`}, nil},
		"a field":                    {[]string{`  note: String`, ``}, []string{"It.note is gone"}},
		"a field that may be null":   {[]string{`name: String!`, `name: String`}, []string{"It.name was String! and is String"}},
		"an entry that may be null":  {[]string{`[It!]!`, `[It]!`}, []string{"Query.them was [It!]! and is [It]!"}},
		"a type of a field":          {[]string{`note: String`, `note: Int`}, []string{"It.note was String and is Int"}},
		"a list for one":             {[]string{`note: String`, `note: [String]`}, []string{"It.note was String and is [String]"}},
		"an argument":                {[]string{`, first: Int = 25`, ``}, []string{"Query.it(first:) is gone"}},
		"an argument's type":         {[]string{`first: Int = 25`, `first: Int! = 25`}, []string{"Query.it(first:) was Int and is Int!"}},
		"an argument's default":      {[]string{`first: Int = 25`, `first: Int = 20`}, []string{"Query.it(first:) was 25 unless given and is 20"}},
		"an argument without one":    {[]string{`first: Int = 25`, `first: Int`}, []string{"Query.it(first:) was 25 unless given and is nothing"}},
		"a new argument":             {[]string{`it(id: ID!`, `it(x: Int!, id: ID!`}, []string{"Query.it(x:) is new and has to be given"}},
		"a field of an input":        {[]string{`kinds: [Kind!]`, ``}, []string{"By.kinds is gone"}},
		"a new field of an input":    {[]string{`input By {`, `input By { x: Int! `}, []string{"By.x is new and has to be given"}},
		"a field of an input, wider": {[]string{`kinds: [Kind!]`, `kinds: [Kind!]!`}, []string{"By.kinds was [Kind!] and is [Kind!]!"}},
		"a value":                    {[]string{`  TWO`, ``}, []string{"Kind.TWO is gone"}},
		"an interface":               {[]string{` implements Node`, ``}, []string{"It is no longer a Node"}},
		"a part of a union":          {[]string{`It | Other`, `It`}, []string{"Other is no longer part of Any"}},
		"a kind":                     {[]string{`union Any = It | Other`, `type Any { id: ID! }`}, []string{"type Any was UNION and is OBJECT"}},
		"a type": {[]string{`  any: Any`, ``, `union Any = It | Other`, ``,
			`type Other { id: ID! }`, ``}, []string{"Query.any is gone", "type Any is gone", "type Other is gone"}},
		"a kind of operation": {[]string{`type Mutation { change(by: By!): It }`, ``}, []string{"type Mutation is gone"}},
	} {
		after := before
		for i := 0; i < len(c.change); i += 2 {
			if !strings.Contains(after, c.change[i]) {
				t.Fatalf("%s: %q is not there", name, c.change[i])
			}
			after = strings.Replace(after, c.change[i], c.change[i+1], 1)
		}
		same(t, name, c.want, broken(t, before, after))
	}
	text := everyModulesSDL(t)
	same(t, "the schema compared with itself", []string(nil), broken(t, text, text))
	at := strings.Index(text, "type Email implements ")
	renamed := text[:at] + strings.Replace(text[at:], "  subject: String!", "  topic: String!", 1)
	same(t, "the schema without a field", []string{"Email.subject is gone"}, broken(t, text, renamed))
}
