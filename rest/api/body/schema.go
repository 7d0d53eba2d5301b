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
	return &huma.Schema{Ref: refPrefix + name}
}

// OneOf is a value that may have several forms.
func OneOf(options ...*huma.Schema) *huma.Schema { return &huma.Schema{OneOf: options} }

// ArrayOf is an array of such values.
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

// describeObject returns the schema of an object that rejects unknown fields. Each alias is a property of its own,
// for readers and for validators.
func (o Object) describeObject(c Components) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeObject, AdditionalProperties: false, Description: o.About,
		Properties: map[string]*huma.Schema{}}
	for _, f := range o.Fields {
		p := f.describeField(c, o)
		if len(f.Aliases) > 0 {
			alias := *p
			p.Description = strings.TrimSpace(p.Description + " Aliases: `" + strings.Join(f.Aliases, "`, `") + "`.")
			alias.Description = "An alias of `" + f.Name + "`. Send only one of them."
			for i, other := range f.Aliases {
				s.Properties[other] = withGoName(alias, f.Name, i)
			}
		}
		s.Properties[f.Name] = p
		switch {
		case f.Need == Optional:
		case len(f.Aliases) == 0:
			s.Required = append(s.Required, f.Name)
		default: // under any of its names
			s.AnyOf = append(s.AnyOf, o.requireCombinations([]string{f.Name})...)
		}
	}
	slices.Sort(s.Required)
	for _, names := range o.AnyOf {
		s.AnyOf = append(s.AnyOf, o.requireCombinations(names)...)
	}
	for _, names := range o.OneOf {
		s.OneOf = append(s.OneOf, o.requireCombinations(names)...)
	}
	one := 1
	if o.Single {
		s.MinProperties, s.MaxProperties = &one, &one
	}
	return s
}

// withGoName returns an alias a name in generated Go clients, where html_body and htmlBody
// would be the same name.
func withGoName(alias huma.Schema, field string, i int) *huma.Schema {
	var name strings.Builder
	for word := range strings.SplitSeq(field, "_") {
		name.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	alias.Extensions = map[string]any{"x-go-name": fmt.Sprintf("%sAlias%d", name.String(), i+1)}
	return &alias
}

// requireCombinations requires fields, the last of them under any of its names.
func (o Object) requireCombinations(names []string) (all []*huma.Schema) {
	before, last := names[:len(names)-1], names[len(names)-1]
	i := slices.IndexFunc(o.Fields, func(f Field) bool { return f.Name == last })
	for _, name := range o.Fields[i].Names() {
		all = append(all, &huma.Schema{Required: append(slices.Clone(before), name)})
	}
	return all
}

// describeField returns the schema of one field. It documents whether null equals omitting the field or clears it.
func (f Field) describeField(c Components, o Object) *huma.Schema {
	s := f.Type.Schema(c)
	nullable := f.Null != nil || f.Need == Optional && !o.Change && !o.NoNull && !o.Single
	switch {
	case s.Ref != "" && nullable:
		s = OneOf(s, &huma.Schema{Type: "null"})
	case s.Ref != "" && f.About != "":
		s = &huma.Schema{AllOf: []*huma.Schema{s}}
	case len(s.OneOf) > 0 && nullable:
		s.OneOf = append(s.OneOf, &huma.Schema{Type: "null"})
	case s.Type != "" && nullable:
		s.Nullable = true
		if len(s.Enum) > 0 {
			s.Enum = append(s.Enum, nil)
		}
	}
	if f.About != "" {
		s.Description = f.About
	}
	if f.DefaultUnless == "" {
		s.Default = f.Default
	}
	if f.Example != nil {
		s.Examples = []any{f.Example}
	}
	return s
}
