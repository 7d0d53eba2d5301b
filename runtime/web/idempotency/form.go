package idempotency

import "strings"

// Form describes the ways in which a value can be written differently with the same meaning. A nil Form
// allows only those of JSON itself.
type Form struct {
	// Fields are the fields of an object, or of the objects in an array, by each of their names.
	Fields map[string]*Field
	// OneOrMany: an item is equal to a list that contains only that item.
	OneOrMany bool
	// Headers: the object contains header fields. Their names ignore case, and null omits one.
	Headers bool
	// Tags: an array of {name, value} is equal to an object with these names and values.
	Tags bool
	// OmitEmpty: an object without members is equal to an omitted one.
	OmitEmpty bool
	// Text returns the canonical text of a string; nil if a string is its own canonical text.
	Text func(text string) string
	// Rewrite returns the form of a canonical value that is written alike in every notation; nil if there is only
	// one notation. For an array, it applies to the items.
	Rewrite func(value []byte) []byte
}

// Field describes a field of an object. null and an empty array are equal to omitting it.
type Field struct {
	Name string // the first of its names
	Form *Form
	// Default is the canonical JSON of the value that means the same as omitting the field, or "" if there is
	// none.
	Default string
	// DefaultUnless is a field without which Default applies; "" means that it always applies.
	DefaultUnless string
	// Omits reports whether a canonical value also means the same as omitting the field; nil if none does.
	Omits func(value []byte) bool
}

var headerField = &Field{}

// field returns the canonical name of a member and the description of the field, or nil for an undeclared
// member.
func (f *Form) field(token []byte) (string, *Field) {
	if f == nil {
		return decodeString(token), nil
	}
	if f.Headers {
		return strings.ToLower(decodeString(token)), headerField
	}
	if isPlainToken(token) {
		if field := f.Fields[string(token[1:len(token)-1])]; field != nil { // without an allocation
			return field.Name, field
		}
	}
	name := decodeString(token)
	if field := f.Fields[name]; field != nil {
		return field.Name, field
	}
	return name, nil
}

func (f *Field) form() *Form {
	if f == nil {
		return nil
	}
	return f.Form
}

// isOmitted reports whether a canonical value means the same as omitting the field.
func (f *Field) isOmitted(value []byte) bool {
	if f == nil {
		return false
	}
	switch string(value) {
	case "null", "[]":
		return true
	case "{}":
		return f.Form != nil && f.Form.OmitEmpty
	default:
		if f.Omits != nil && f.Omits(value) {
			return true
		}
		return f.Default != "" && f.DefaultUnless == "" && string(value) == f.Default
	}
}

// hasDefault reports whether a canonical value is a default that applies unless another field is present.
func (f *Field) hasDefault(value []byte) bool {
	return f != nil && f.DefaultUnless != "" && string(value) == f.Default
}
