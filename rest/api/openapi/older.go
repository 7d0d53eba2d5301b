package openapi

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/yaml"
)

// convertTo30 returns the document as OpenAPI 3.0. Huma translates most of it. This function handles the features that
// 3.0 lacks: the type null among alternatives, references with siblings, and webhooks.
func convertTo30(d *huma.OpenAPI) ([]byte, error) {
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
	older30{recordsOf(whole)}.translate(whole)
	return json.Marshal(whole)
}

// convertToYAML returns a document as YAML.
func convertToYAML(inJSON func() ([]byte, error)) ([]byte, error) {
	document, err := inJSON()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = yaml.Convert(&out, bytes.NewReader(document))
	return out.Bytes(), err
}

// older30 knows the components that are objects, by their references.
type older30 struct{ records map[string]map[string]any }

func recordsOf(whole map[string]any) map[string]map[string]any {
	records := map[string]map[string]any{}
	components, _ := whole["components"].(map[string]any)
	schemas, _ := components["schemas"].(map[string]any)
	for name, schema := range schemas {
		if s, is := schema.(map[string]any); is && s["type"] == "object" {
			records["#/components/schemas/"+name] = maps.Clone(s)
		}
	}
	return records
}

func (o older30) translate(v any) {
	switch v := v.(type) {
	case map[string]any:
		o.withoutNull(v)
		if ref, isText := v["$ref"].(string); isText && len(v) > 1 {
			delete(v, "$ref")
			v["allOf"] = []any{map[string]any{"$ref": ref}}
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if name != "example" && name != "examples" {
				o.translate(v[name])
			}
		}
	case []any:
		for _, item := range v {
			o.translate(item)
		}
	}
}

// withoutNull removes the type null from the alternatives of a schema. OpenAPI 3.0 cannot express it there,
// because nullable requires a type. Requests that accept null also accept omitting the field, with the same
// meaning. A record of a response that may be null is inlined.
func (o older30) withoutNull(schema map[string]any) {
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
		only, _ := kept[0].(map[string]any)
		ref, _ := only["$ref"].(string)
		record, is := o.records[ref]
		if !is {
			schema["allOf"] = kept
			continue
		}
		said := maps.Clone(schema)
		maps.Copy(schema, record)
		maps.Copy(schema, said) // the description of the field, not of its record
		schema["nullable"] = true
	}
}

func isNull(option any) bool {
	schema, is := option.(map[string]any)
	return is && schema["type"] == "null"
}
