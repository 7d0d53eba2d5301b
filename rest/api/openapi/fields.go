package openapi

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

func fieldsOf(s *huma.Schema) []referenceField {
	var fields []referenceField
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name]
		fields = append(fields, referenceField{Name: name, Type: typeName(p), Description: p.Description,
			Required: slices.Contains(s.Required, name), Schema: componentOf(p)})
	}
	return fields
}

// componentOf returns the name of the component that a schema refers to, or "".
func componentOf(s *huma.Schema) string {
	switch {
	case s == nil:
		return ""
	case s.Ref != "":
		return s.Ref[strings.LastIndex(s.Ref, "/")+1:]
	case s.Items != nil:
		return componentOf(s.Items)
	}
	for _, option := range slices.Concat(s.AllOf, s.OneOf) {
		if name := componentOf(option); name != "" {
			return name
		}
	}
	return ""
}

// typeName describes the type of a schema in one line.
func typeName(s *huma.Schema) string {
	switch {
	case s == nil:
		return ""
	case s.Ref != "":
		return s.Ref[strings.LastIndex(s.Ref, "/")+1:]
	case len(s.AllOf) > 0:
		return typeName(s.AllOf[0])
	case len(s.OneOf) > 0:
		var options []string
		for _, option := range s.OneOf {
			options = append(options, typeName(option))
		}
		return strings.Join(options, " or ")
	case s.Type == huma.TypeArray:
		return "array of " + typeName(s.Items)
	case len(s.Enum) > 0:
		var values []string
		for _, v := range s.Enum {
			if v == nil {
				v = "null"
			}
			values = append(values, fmt.Sprint(v))
		}
		return strings.Join(values, " | ")
	}
	name := s.Type
	if s.Format == "date-time" {
		name = "timestamp"
	}
	if s.Nullable {
		name += " or null"
	}
	return name
}
