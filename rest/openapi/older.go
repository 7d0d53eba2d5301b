package openapi

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/danielgtaylor/huma/v2"
)

// older returns the document as OpenAPI 3.0. Huma translates most of it; this completes
// what 3.0 does not know: the type null among alternatives, a reference with siblings,
// and webhooks.
func older(d *huma.OpenAPI) ([]byte, error) {
	translated, err := d.Downgrade()
	if err != nil {
		return nil, err
	}
	var whole map[string]any
	if err := json.Unmarshal(translated, &whole); err != nil {
		return nil, err
	}
	if webhooks, has := whole["webhooks"]; has {
		delete(whole, "webhooks")
		whole["x-webhooks"] = webhooks
	}
	translate(whole)
	return json.Marshal(whole)
}

func translate(v any) {
	switch v := v.(type) {
	case map[string]any:
		withoutNull(v)
		if ref, isText := v["$ref"].(string); isText && len(v) > 1 {
			delete(v, "$ref")
			v["allOf"] = []any{map[string]any{"$ref": ref}}
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if name != "example" && name != "examples" {
				translate(v[name])
			}
		}
	case []any:
		for _, item := range v {
			translate(item)
		}
	}
}

// withoutNull takes the type null out of a schema's alternatives. 3.0 cannot say it there:
// its nullable stands beside a type only. Where requests take null they take leaving out
// as well, with the same meaning.
func withoutNull(schema map[string]any) {
	for _, word := range []string{"oneOf", "anyOf"} {
		options, is := schema[word].([]any)
		if !is {
			continue
		}
		kept := slices.DeleteFunc(slices.Clone(options), isNull)
		if len(kept) == len(options) {
			continue
		}
		if len(kept) > 1 {
			schema[word] = kept
			continue
		}
		delete(schema, word)
		schema["allOf"] = kept
	}
}

func isNull(option any) bool {
	schema, is := option.(map[string]any)
	return is && schema["type"] == "null"
}
