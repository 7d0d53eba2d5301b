package definition

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/postrider/postrider/runtime/base/fault"
)

// form is the expected form of a value: a check and the matching JSON Schema.
type form struct {
	judge  func(path string, value any, wrong fault.Fields)
	schema map[string]any
}

// member is one field of an object.
type member struct {
	name     string
	form     form
	required bool
	doc      string
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// objectForm returns the form of an object that has only these members.
func objectForm(members ...member) form {
	byName := map[string]member{}
	properties := map[string]any{}
	required := []string{}
	for _, m := range members {
		byName[m.name] = m
		properties[m.name] = describeMember(m)
		if m.required {
			required = append(required, m.name)
		}
	}
	schema := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		schema["required"] = required
	}
	return form{schema: schema, judge: func(path string, value any, wrong fault.Fields) {
		given, is := value.(map[string]any)
		if !is {
			wrong.Add(orDocument(path), "must be an object")
			return
		}
		for _, name := range sortedKeys(given) {
			m, known := byName[name]
			switch {
			case known && !m.required && m.form.omitsBlank(given[name]):
				delete(given, name)
			case !known:
				wrong.Add(joinPath(path, name), "is not a known field; must be one of %s",
					strings.Join(sortedKeys(byName), ", "))
			case given[name] == nil:
				wrong.Add(joinPath(path, name), "cannot be null; omit it")
			default:
				m.form.judge(joinPath(path, name), given[name], wrong)
			}
		}
		for _, m := range members {
			if _, has := given[m.name]; m.required && !has {
				wrong.Add(joinPath(path, m.name), "is required")
			}
		}
	}}
}

// omitsBlank reports whether a value is a blank text in the place of a text, which means that an optional member is
// omitted, as in the requests of the API.
func (f form) omitsBlank(value any) bool {
	s, is := value.(string)
	if !is || strings.TrimSpace(s) != "" {
		return false
	}
	if f.schema["type"] == "string" {
		return true
	}
	options, _ := f.schema["oneOf"].([]any)
	return slices.ContainsFunc(options, func(option any) bool {
		schema, _ := option.(map[string]any)
		return schema["type"] == "string"
	})
}

func describeMember(m member) map[string]any {
	schema := maps.Clone(m.form.schema)
	if m.doc != "" {
		schema["description"] = m.doc
	}
	return schema
}

// maxMember is the maximum size in bytes of a member name that the author chooses.
const maxMember = 200

// shortenName returns a name, shortened, for use in an error message.
func shortenName(name string) string {
	if name = strings.ToValidUTF8(name, "�"); len(name) > maxMember {
		return strings.ToValidUTF8(name[:maxMember], "") + "…"
	}
	return name
}

func joinPath(path, name string) string {
	name = shortenName(name)
	if path == "" {
		return name
	}
	return path + "." + name
}

func orDocument(path string) string {
	if path == "" {
		return "definition"
	}
	return path
}

// textForm returns the form of a string with a maximum number of bytes; check reports other errors.
func textForm(most int, check func(string) error) form {
	return form{schema: map[string]any{"type": "string", "minLength": 1, "maxLength": most},
		judge: func(path string, value any, wrong fault.Fields) {
			s, is := value.(string)
			switch {
			case !is:
				wrong.Add(path, "must be a string")
			case s == "":
				wrong.Add(path, "cannot be empty")
			case len(s) > most:
				wrong.Add(path, "has %d bytes; the limit is %d", len(s), most)
			case strings.ContainsRune(s, 0):
				wrong.Add(path, "cannot contain NUL characters")
			case !utf8.ValidString(s):
				wrong.Add(path, "must be UTF-8")
			case check != nil:
				if err := check(s); err != nil {
					wrong.Add(path, "%s", err)
				}
			}
		}}
}

// withSchema returns the form with a stricter schema.
func (f form) withSchema(more map[string]any) form {
	schema := maps.Clone(f.schema)
	maps.Copy(schema, more)
	return form{f.judge, schema}
}

// titled returns the form with a title, which names its type in the OpenAPI document.
func (f form) titled(title string) form { return f.withSchema(map[string]any{"title": title}) }

func oneOf(words ...string) form {
	return form{schema: map[string]any{"type": "string", "enum": words},
		judge: func(path string, value any, wrong fault.Fields) {
			if s, is := value.(string); !is || !slices.Contains(words, s) {
				wrong.Add(path, "must be one of %s", strings.Join(words, ", "))
			}
		}}
}

func booleanForm() form {
	return form{schema: map[string]any{"type": "boolean"}, judge: func(path string, value any, wrong fault.Fields) {
		if _, is := value.(bool); !is {
			wrong.Add(path, "must be true or false")
		}
	}}
}

func integerForm(least, most int64) form {
	return form{schema: map[string]any{"type": "integer", "minimum": least, "maximum": most},
		judge: func(path string, value any, wrong fault.Fields) {
			number, is := value.(json.Number)
			n, err := number.Int64()
			if !is || err != nil || n < least || n > most {
				wrong.Add(path, "must be an integer between %d and %d", least, most)
			}
		}}
}

// listForm returns the form of an array with a bounded number of elements.
func listForm(least, most int, element form) form {
	return form{schema: map[string]any{"type": "array", "minItems": least, "maxItems": most, "items": element.schema},
		judge: func(path string, value any, wrong fault.Fields) {
			elements, is := value.([]any)
			switch {
			case !is:
				wrong.Add(path, "must be an array")
				return
			case len(elements) < least || len(elements) > most:
				wrong.Add(path, "has %d elements; must have %d to %d", len(elements), least, most)
			}
			for i, e := range elements {
				if i >= most {
					break
				}
				element.judge(fmt.Sprintf("%s[%d]", path, i), e, wrong)
			}
		}}
}

// textOr returns the form of a string or of another value.
func textOr(s, other form) form {
	return form{schema: map[string]any{"oneOf": []any{s.schema, other.schema}},
		judge: func(path string, value any, wrong fault.Fields) {
			if _, is := value.(string); is {
				s.judge(path, value, wrong)
				return
			}
			other.judge(path, value, wrong)
		}}
}

// mapForm returns the form of an object with arbitrary names whose values have one form.
func mapForm(most int, name func(string) error, value form) form {
	return form{schema: map[string]any{"type": "object", "maxProperties": most, "additionalProperties": value.schema},
		judge: func(path string, given any, wrong fault.Fields) {
			object, is := given.(map[string]any)
			switch {
			case !is:
				wrong.Add(path, "must be an object")
				return
			case len(object) > most:
				wrong.Add(path, "has %d members; the limit is %d", len(object), most)
				return
			}
			for _, n := range sortedKeys(object) {
				if err := name(n); err != nil {
					wrong.Add(joinPath(path, n), "%s", err)
					continue
				}
				value.judge(joinPath(path, n), object[n], wrong)
			}
		}}
}

// maxNesting bounds the depth of nested objects and arrays.
const maxNesting = 16

// checkMember validates a member name that the author chose.
func checkMember(name string) error {
	switch {
	case strings.ContainsRune(name, 0):
		return errors.New("cannot contain NUL characters")
	case len(name) > maxMember:
		return fmt.Errorf("has a name of %d bytes; the limit is %d", len(name), maxMember)
	}
	return nil
}

// anyValue returns the form of any JSON value whose strings are short enough.
func anyValue() form {
	var judge func(path string, value any, depth int, wrong fault.Fields)
	judge = func(path string, value any, depth int, wrong fault.Fields) {
		if depth > maxNesting {
			wrong.Add(path, "cannot be nested more than %d levels deep", maxNesting)
			return
		}
		switch v := value.(type) {
		case string:
			if len(v) > MaxString {
				wrong.Add(path, "has %d bytes; the limit is %d", len(v), MaxString)
			}
			if strings.ContainsRune(v, 0) {
				wrong.Add(path, "cannot contain NUL characters")
			}
		case []any:
			for i, e := range v {
				judge(fmt.Sprintf("%s[%d]", path, i), e, depth+1, wrong)
			}
		case map[string]any:
			for _, name := range sortedKeys(v) {
				if err := checkMember(name); err != nil {
					wrong.Add(joinPath(path, name), "%s", err)
					continue
				}
				judge(joinPath(path, name), v[name], depth+1, wrong)
			}
		}
	}
	return form{schema: map[string]any{},
		judge: func(path string, value any, wrong fault.Fields) { judge(path, value, 0, wrong) }}
}
