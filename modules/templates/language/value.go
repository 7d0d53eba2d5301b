package language

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/runtime/base/fault"
)

// Object is a JSON object in the form that Liquid uses. The library would iterate over a map in random order.
type Object map[string]any

// Len returns the number of fields.
func (o Object) Len() int { return len(o) }

// Index returns field i in name order, as the pair of name and value that {% for %} expects.
func (o Object) Index(i int) any {
	name := slices.Sorted(maps.Keys(o))[i]
	return []any{name, o[name]}
}

// String returns the output for a whole object.
func (o Object) String() string {
	encoded, err := json.Marshal(map[string]any(o))
	if err != nil {
		return ""
	}
	return string(encoded)
}

// FillVariables returns the values of a template's variables: the values of the send, checked against the declared
// types, or the fallbacks. Undeclared values are ignored. Errors are added by the key of the variable, prefixed
// with prefix.
func FillVariables(declared []shape.Variable, given map[string]any, prefix string, wrong fault.Fields) map[string]any {
	out := map[string]any{}
	for _, v := range declared {
		value, found := LookUp(given, v.Key)
		if !found {
			if v.Required {
				wrong.Add(prefix+v.Key, "is required by the template")
				continue
			}
			value = v.Fallback
		}
		if value == nil && v.Type == TypeList {
			value = []any{} // the library treats a list as empty only if it exists
		}
		if value == nil {
			continue
		}
		taken, reason := takeValue(v.Type, value)
		if reason != "" {
			wrong.Add(prefix+v.Key, "%s", reason)
			continue
		}
		putValue(out, strings.Split(v.Key, "."), taken)
	}
	return out
}

// AddExamples returns the given values, and the examples of the variables that are not among them.
func AddExamples(declared []shape.Variable, given map[string]any) map[string]any {
	out := map[string]any{}
	maps.Copy(out, given)
	for _, v := range declared {
		if _, found := LookUp(given, v.Key); !found && v.Example != nil {
			out[v.Key] = v.Example
		}
	}
	return out
}

// LookUp returns a value by its dotted key: under exactly that name, or nested. null counts as missing.
func LookUp(given map[string]any, key string) (any, bool) {
	if value, flat := given[key]; flat && value != nil {
		return value, true
	}
	var at any = given
	for part := range strings.SplitSeq(key, ".") {
		fields, ok := at.(map[string]any)
		if !ok {
			if o, isObject := at.(Object); isObject {
				fields = o
			}
		}
		if at = fields[part]; at == nil {
			return nil, false
		}
	}
	return at, true
}

// putValue sets a value at a path. It keeps existing fields of the same object, because both customer and
// customer.name may be declared.
func putValue(into map[string]any, path []string, value any) {
	for _, part := range path[:len(path)-1] {
		below, ok := into[part].(Object)
		if !ok {
			below = Object{}
			into[part] = below
		}
		into = below
	}
	last := path[len(path)-1]
	if before, ok := into[last].(Object); ok {
		if now, ok := value.(Object); ok {
			maps.Copy(now, before)
		}
	}
	into[last] = value
}

// takeValue checks a JSON value against a type and converts it for Liquid. The reason is empty if the types
// match.
func takeValue(typ string, value any) (any, string) {
	left := MaxValues
	taken, reason := convertValue(value, 0, &left)
	if reason != "" {
		return nil, reason
	}
	if got := typeOf(taken); got != typ {
		return nil, fmt.Sprintf("must be a value of type %s, not %s", typ, got)
	}
	return taken, ""
}

// Value converts a JSON value for Liquid. The error is a sentence for the client that sent the value.
func Value(value any) (any, error) {
	left := MaxValues
	taken, reason := convertValue(value, 0, &left)
	if reason != "" {
		return nil, errors.New(reason)
	}
	return taken, nil
}

func typeOf(taken any) string {
	switch taken.(type) {
	case string:
		return TypeString
	case bool:
		return TypeBoolean
	case []any:
		return TypeList
	case Object:
		return TypeObject
	default:
		return TypeNumber
	}
}

func convertValue(value any, depth int, left *int) (any, string) {
	if *left--; *left < 0 {
		return nil, fmt.Sprintf("contains more than %d values", MaxValues)
	}
	if depth > maxDepth {
		return nil, fmt.Sprintf("is nested more than %d deep", maxDepth)
	}
	switch v := value.(type) {
	case nil, bool, int:
		return v, ""
	case int64:
		return int(v), ""
	case string:
		if strings.ContainsRune(v, 0) {
			return nil, "contains a NUL character"
		}
		return v, ""
	case float64:
		return normalizeNumber(v)
	case json.Number:
		if whole, err := strconv.Atoi(v.String()); err == nil {
			return whole, ""
		}
		number, err := v.Float64()
		if err != nil {
			return nil, "is a number out of range"
		}
		return normalizeNumber(number)
	case []any:
		return convertList(v, depth, left)
	case map[string]any:
		return convertObject(v, depth, left)
	case Object:
		return convertObject(v, depth, left)
	default:
		return nil, fmt.Sprintf("has a type (%T) that does not exist in JSON", value)
	}
}

// normalizeNumber converts a whole number to an int, as filters and loop limits require.
func normalizeNumber(number float64) (any, string) {
	if math.IsInf(number, 0) || math.IsNaN(number) {
		return nil, "is a number out of range"
	}
	if number == math.Trunc(number) && math.Abs(number) < 1<<53 {
		return int(number), ""
	}
	return number, ""
}

func convertList(list []any, depth int, left *int) (any, string) {
	if len(list) > MaxList {
		return nil, fmt.Sprintf("has %d items; the limit is %d", len(list), MaxList)
	}
	out := make([]any, len(list))
	for i, item := range list {
		taken, reason := convertValue(item, depth+1, left)
		if reason != "" {
			return nil, reason
		}
		out[i] = taken
	}
	return out, ""
}

func convertObject(fields map[string]any, depth int, left *int) (any, string) {
	if len(fields) > MaxObject {
		return nil, fmt.Sprintf("has %d fields; the limit is %d", len(fields), MaxObject)
	}
	out := make(Object, len(fields))
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		taken, reason := convertValue(fields[name], depth+1, left)
		if reason != "" {
			return nil, reason
		}
		if out[name] = taken; strings.ContainsRune(name, 0) {
			return nil, "contains a NUL character"
		}
	}
	return out, ""
}
