package body

import (
	"fmt"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// Components are the schemas of the document that bodies refer to, by name.
type Components map[string]*huma.Schema

const refPrefix = "#/components/schemas/"

// Ref describes a schema once and returns a reference to it.
func (c Components) Ref(name string, describe func() *huma.Schema) *huma.Schema {
	if c[name] == nil {
		c[name] = describe()
	}
	return RefTo(name)
}

// RefTo returns a reference to a component.
func RefTo(name string) *huma.Schema { return &huma.Schema{Ref: refPrefix + name} }

// OneOf describes a value with several possible forms as a component, because client generators name the types of the
// alternatives after it.
func (c Components) OneOf(name, about string, options ...*huma.Schema) *huma.Schema {
	return c.Ref(name, func() *huma.Schema { return &huma.Schema{OneOf: options, Description: about} })
}

// ArrayOf describes an array of such values.
func ArrayOf(items *huma.Schema) *huma.Schema {
	return &huma.Schema{Type: huma.TypeArray, Items: items}
}

// Schema implements Type.
func (o Object) Schema(c Components) *huma.Schema {
	if o.Name == "" {
		return o.describeObject(c)
	}
	return c.Ref(o.Name, func() *huma.Schema { return o.describeObject(c) })
}

// describeObject returns the schema of an object that rejects unknown fields. Aliases are named in the description of
// their field, not declared: in generated code, several names of one field collide.
func (o Object) describeObject(c Components) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeObject, AdditionalProperties: false, Description: o.About,
		Properties: map[string]*huma.Schema{}}
	for _, f := range o.Fields {
		if f.Means != "" {
			continue
		}
		s.Properties[f.Name] = f.describeField(c, o)
		if f.Need != Optional {
			s.Required = append(s.Required, f.Name)
		}
	}
	slices.Sort(s.Required)
	one := 1
	if o.Single {
		s.MinProperties, s.MaxProperties = &one, &one
	}
	return s
}

// aliasesOf lists the other names of a field.
func (o Object) aliasesOf(f Field) []string {
	aliases := slices.Clone(f.Aliases)
	for _, other := range o.Fields {
		if other.Means == f.Name {
			aliases = append(aliases, other.Name)
		}
	}
	return aliases
}

// describe returns the description of a field, with its default and its aliases. The default is only described, because
// client generators make a field with the keyword default required.
func (o Object) describe(f Field) string {
	about := f.About
	if f.Default != nil && f.DefaultUnless == "" && !strings.Contains(about, "Defaults to") {
		about += fmt.Sprintf(" Defaults to `%v`.", f.Default)
	}
	switch aliases := o.aliasesOf(f); len(aliases) {
	case 0:
	case 1:
		about += " Alias: `" + aliases[0] + "`."
	default:
		about += " Aliases: `" + strings.Join(aliases, "`, `") + "`."
	}
	return strings.TrimSpace(about)
}

// describeField returns the schema of one field. It documents whether null equals omitting the field or clears it.
func (f Field) describeField(c Components, o Object) *huma.Schema {
	s, about := f.Type.Schema(c), o.describe(f)
	nullable := f.Null != nil || f.Need == Optional && !o.Change && !o.NoNull && !o.Single
	switch {
	case s.Ref != "" && nullable:
		s = &huma.Schema{OneOf: []*huma.Schema{s, {Type: "null"}}}
	case s.Ref != "" && about != "":
		s = &huma.Schema{AllOf: []*huma.Schema{s}}
	case s.Type != "" && nullable:
		s.Nullable = true
		if len(s.Enum) > 0 {
			s.Enum = append(s.Enum, nil)
		}
	}
	if about != "" {
		s.Description = about
	}
	if f.Example != nil {
		s.Examples = []any{f.Example}
	}
	return s
}
