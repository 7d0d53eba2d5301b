package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// keepsBlank lists the optional fields for which an empty string is a distinct value.
var keepsBlank = map[string]string{
	"POST /emails: text":                 "prevents that a text part is generated from html",
	"POST /emails/check: text":           "as in POST /emails",
	"POST /emails/batch: emails[0].text": "as in POST /emails",
	"POST /emails/batch: emails[1].text": "as in POST /emails",
}

// An empty string in an optional field means the same as omitting it when something is created. In a PATCH it clears
// a field that can be null, and is refused otherwise. The test covers each field of the document.
func TestEmptyTextsFollowOneRule(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	document := b.api.Document().JSON
	tried, kept := 0, map[string]bool{}
	components, bodies := bodiesOf(t, document)
	for name, form := range bodies {
		q := asked[name]
		if q[1] == "" {
			continue // without a body, or tested elsewhere
		}
		method, _, _ := strings.Cut(name, " ")
		send := func(body any) answer {
			text, err := json.Marshal(body)
			if err != nil {
				t.Fatal(err)
			}
			return b.do(t, request{method: method, path: "/api" + q[0], body: string(text)})
		}
		w := textWalk{components: components}
		w.visit("", form, decodeBody(t, q[1]), func(body any) any { return body })
		for _, field := range w.fields {
			id := name + ": " + field.path
			if keepsBlank[id] != "" {
				kept[id] = true
				continue
			}
			tried++
			got := send(field.body(""))
			want := send(field.body(nil))
			if method == http.MethodPatch && !strings.Contains(field.path, ".") && !strings.Contains(field.path, "[") {
				if field.nullable {
					want = send(field.body(json.RawMessage("null")))
				} else if want.status = http.StatusBadRequest; got.status == want.status && strings.Contains(got.body, `"`+field.path+`"`) {
					continue
				}
			}
			if got.status != want.status || maskNumbers(got.body) != maskNumbers(want.body) {
				t.Errorf("%s with an empty string: %d %.400s, want %d %.400s", id, got.status, got.body, want.status, want.body)
			}
		}
	}
	if tried < 100 {
		t.Errorf("%d fields were tried, want those of all operations", tried)
	}
	for id := range keepsBlank {
		if !kept[id] {
			t.Errorf("%s, an exception of the rule, is not in the document", id)
		}
	}
}

var numbers = regexp.MustCompile(`[0-9]+`)

// maskNumbers hides what differs between two equal requests: times, secrets and ids.
func maskNumbers(body string) string { return numbers.ReplaceAllString(body, "0") }

// schema is the part of a schema in the document that shows which fields are texts.
type schema struct {
	Ref          string `json:"$ref"`
	Type         any
	Properties   map[string]*schema
	Items        *schema
	OneOf, AllOf []*schema
	Required     []string
	Enum         []any
}

// textField is an optional field that takes a string.
type textField struct {
	path     string
	nullable bool
	body     func(value any) any // the whole body with this value; nil: without the field
}

// textWalk collects the optional text fields of a body.
type textWalk struct {
	components map[string]*schema
	fields     []textField
}

func (w *textWalk) resolve(s *schema) *schema {
	for s != nil && s.Ref != "" {
		s = w.components[strings.TrimPrefix(s.Ref, "#/components/schemas/")]
	}
	if s != nil && len(s.AllOf) == 1 {
		return w.resolve(s.AllOf[0])
	}
	return s
}

// visit goes through a value and its schema. rebuild returns the whole body with another value in this place.
func (w *textWalk) visit(path string, s *schema, value any, rebuild func(any) any) {
	s = w.resolve(s)
	switch v := value.(type) {
	case map[string]any:
		for _, option := range s.OneOf {
			if o := w.resolve(option); o != nil && len(o.Properties) > 0 {
				s = o
			}
		}
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			at, property := strings.TrimPrefix(path+"."+name, "."), s.Properties[name]
			set := func(n any) any {
				out := maps.Clone(v)
				if out[name] = n; n == nil {
					delete(out, name)
				}
				return rebuild(out)
			}
			if text, nullable := w.takesText(property); text && !slices.Contains(s.Required, name) {
				w.fields = append(w.fields, textField{path: at, nullable: nullable, body: set})
			}
			if member, has := v[name]; has {
				w.visit(at, property, member, set)
			}
		}
	case []any:
		for _, option := range append([]*schema{s}, s.OneOf...) {
			if o := w.resolve(option); o != nil && o.Items != nil {
				s = o
			}
		}
		for i, item := range v {
			w.visit(fmt.Sprintf("%s[%d]", path, i), s.Items, item, func(n any) any {
				out := slices.Clone(v)
				out[i] = n
				return rebuild(out)
			})
		}
	}
}

// takesText reports whether a schema accepts strings, and whether it accepts null.
func (w *textWalk) takesText(s *schema) (text, nullable bool) {
	s = w.resolve(s)
	types, many := s.Type.([]any)
	if !many {
		types = []any{s.Type}
	}
	text = slices.Contains(types, any("string")) && len(s.Enum) == 0 // a choice is refused
	nullable = slices.Contains(types, any("null"))
	for _, option := range s.OneOf {
		t, n := w.takesText(option)
		text, nullable = text || t, nullable || n
	}
	return text, nullable
}

// bodiesOf returns the components of a document and the schema of each JSON body, by method and path.
func bodiesOf(t *testing.T, document []byte) (components, bodies map[string]*schema) {
	t.Helper()
	var read struct {
		Paths map[string]map[string]struct {
			RequestBody struct {
				Content map[string]struct{ Schema *schema }
			}
		}
		Components struct{ Schemas map[string]*schema }
	}
	if err := json.Unmarshal(document, &read); err != nil {
		t.Fatal(err)
	}
	bodies = map[string]*schema{}
	for path, methods := range read.Paths {
		for method, operation := range methods {
			if form := operation.RequestBody.Content["application/json"].Schema; form != nil {
				bodies[strings.ToUpper(method)+" "+path] = form
			}
		}
	}
	return read.Components.Schemas, bodies
}

func decodeBody(t *testing.T, text string) (value any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatalf("%s is not JSON: %v", text, err)
	}
	return value
}
