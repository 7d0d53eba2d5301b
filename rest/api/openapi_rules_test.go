package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/postrider/postrider/rest/api/wire"
)

// schemaNode is a schema of the served document and its path.
type schemaNode struct {
	path   string
	schema map[string]any
}

// isComponent reports whether the schema is a component, whose name generators use.
func (n schemaNode) isComponent() bool { return strings.Count(n.path, ".") == 0 }

func (n schemaNode) options(word string) []map[string]any {
	list, _ := n.schema[word].([]any)
	var all []map[string]any
	for _, option := range list {
		if of, is := option.(map[string]any); is && of["type"] != "null" {
			all = append(all, of)
		}
	}
	return all
}

func (n schemaNode) properties() map[string]any {
	properties, _ := n.schema["properties"].(map[string]any)
	return properties
}

// servedSchemas returns every schema of the components of the document, at any depth.
func servedSchemas(t *testing.T) (all []schemaNode, components map[string]any) {
	t.Helper()
	var document struct {
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal(newBundle(t).api.Document().JSON, &document); err != nil {
		t.Fatalf("the document does not decode: %v", err)
	}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		schema, is := v.(map[string]any)
		if !is {
			return
		}
		n := schemaNode{path, schema}
		all = append(all, n)
		for _, name := range slices.Sorted(maps.Keys(n.properties())) {
			walk(path+"."+name, n.properties()[name])
		}
		walk(path+".[]", schema["items"])
		walk(path+".*", schema["additionalProperties"])
		for _, word := range []string{"allOf", "oneOf", "anyOf"} {
			for i, option := range n.options(word) {
				walk(fmt.Sprintf("%s.%s[%d]", path, word, i), option)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(document.Components.Schemas)) {
		walk(name, document.Components.Schemas[name])
	}
	if len(all) < 1000 {
		t.Fatalf("the document has %d schemas; it must have more than a thousand", len(all))
	}
	return all, document.Components.Schemas
}

// openapi-typescript and other generators make a field with the keyword default required. The description contains the
// default instead.
func TestFieldsOfBodiesHaveNoDefaultKeyword(t *testing.T) {
	t.Parallel()
	schemas, components := servedSchemas(t)
	for _, n := range schemas {
		if value, has := n.schema["default"]; has {
			t.Errorf("%s has the keyword default (%v); describe it instead", n.path, value)
		}
	}
	field, _ := components["AddDomain"].(map[string]any)
	inbound, _ := schemaNode{schema: field}.properties()["inbound_enabled"].(map[string]any)
	if about, _ := inbound["description"].(string); !strings.HasSuffix(about, "Defaults to `false`.") {
		t.Errorf("inbound_enabled is described as %q; the text must end with its default", about)
	}
}

// Generators derive identifiers from field names, so html_body and htmlBody collide. Aliases are accepted, but the
// document names them only in the description of their field.
func TestAliasesAreOnlyDescribed(t *testing.T) {
	t.Parallel()
	schemas, components := servedSchemas(t)
	for _, n := range schemas {
		names := map[string]string{}
		for _, name := range slices.Sorted(maps.Keys(n.properties())) {
			key := strings.ToLower(strings.ReplaceAll(name, "_", ""))
			if other := names[key]; other != "" {
				t.Errorf("%s has the fields %s and %s, whose identifiers collide", n.path, other, name)
			}
			names[key] = name
		}
	}
	for component, wants := range map[string]map[string]string{
		"SendEmail": {"html": "`htmlBody`, `html_body`", "text": "`textBody`, `text_body`, `plain_body`",
			"reply_to": "`replyTo`", "scheduled_at": "`scheduledAt`"},
		"AttachmentInput":  {"name": "`filename`", "content_type": "`contentType`", "data": "`content`", "content_id": "`contentId`"},
		"CustomEventInput": {"name": "`type`"},
	} {
		schema, _ := components[component].(map[string]any)
		for field, want := range wants {
			properties := schemaNode{schema: schema}.properties()
			of, _ := properties[field].(map[string]any)
			about, _ := of["description"].(string)
			if !strings.Contains(about, want) {
				t.Errorf("%s.%s is described as %q, without its aliases %s", component, field, about, want)
			}
			for alias := range strings.SplitSeq(strings.ReplaceAll(want, "`", ""), ", ") {
				if properties[alias] != nil {
					t.Errorf("%s declares the alias %s", component, alias)
				}
			}
		}
	}
}

// Generators name the type of an alternative after its component. For other alternatives they invent names, or fail. A
// union of objects needs a discriminator, and not all generators support anyOf.
func TestUnionsAreNamed(t *testing.T) {
	t.Parallel()
	schemas, components := servedSchemas(t)
	unions := 0
	for _, n := range schemas {
		if len(n.options("anyOf")) > 0 {
			t.Errorf("%s uses anyOf", n.path)
		}
		options := n.options("oneOf")
		if len(options) < 2 { // perhaps null
			continue
		}
		unions++
		if !n.isComponent() {
			t.Errorf("%s is a union without a name; make it a component", n.path)
		}
		objects := 0
		for i, option := range options {
			if option["properties"] != nil {
				t.Errorf("alternative %d of %s is an object without a name; make it a component", i, n.path)
			}
			if ref, _ := option["$ref"].(string); ref != "" {
				of, _ := components[strings.TrimPrefix(ref, "#/components/schemas/")].(map[string]any)
				if of["type"] == "object" {
					objects++
				}
			}
		}
		discriminator, _ := n.schema["discriminator"].(map[string]any)
		mapping, _ := discriminator["mapping"].(map[string]any)
		if objects > 1 && len(mapping) != len(options) {
			t.Errorf("%s is a union of %d objects, and its discriminator has %d", n.path, objects, len(mapping))
		}
	}
	if unions < 5 {
		t.Errorf("the document has %d unions; it must have several", unions)
	}
}

// Generators can only type what the document types. Without a type, a schema is any JSON value on purpose, and its
// description says so. An object without fields is a map, and an array has items.
func TestSchemasHaveTypes(t *testing.T) {
	t.Parallel()
	schemas, _ := servedSchemas(t)
	for _, n := range schemas {
		about, _ := n.schema["description"].(string)
		isType := func(name string) bool {
			types, _ := n.schema["type"].([]any)
			return n.schema["type"] == name || slices.Contains(types, any(name))
		}
		typed := slices.ContainsFunc([]string{"type", "$ref", "allOf", "oneOf", "enum"},
			func(word string) bool { return n.schema[word] != nil })
		switch {
		case !typed && !strings.HasSuffix(n.path, ".*") && !strings.HasPrefix(about, wire.AnyJSON):
			t.Errorf("%s has no type; describe it as %q if that is intended", n.path, wire.AnyJSON)
		case isType("object") && len(n.properties()) == 0 && (n.schema["additionalProperties"] == nil || about == ""):
			t.Errorf("%s is an object without fields; declare its fields, or describe it as a map", n.path)
		case isType("array") && n.schema["items"] == nil:
			t.Errorf("%s is an array without items", n.path)
		}
	}
}

// Editors show the description of a field without any context.
func TestFieldsAreDescribed(t *testing.T) {
	t.Parallel()
	schemas, _ := servedSchemas(t)
	fields := 0
	for _, n := range schemas {
		for _, name := range slices.Sorted(maps.Keys(n.properties())) {
			fields++
			of, _ := n.properties()[name].(map[string]any)
			about, _ := of["description"].(string)
			words := strings.ToLower(strings.Trim(about, "`. "))
			switch {
			case words == "":
				t.Errorf("%s.%s has no description", n.path, name)
			case words == name || words == strings.ReplaceAll(name, "_", " "):
				t.Errorf("the description of %s.%s repeats its name", n.path, name)
			case !strings.HasSuffix(about, "."):
				t.Errorf("the description of %s.%s does not end with a period: %q", n.path, name, about)
			}
		}
	}
	if fields < 1500 {
		t.Errorf("the document has %d fields; it must have more than 1,500", fields)
	}
}
