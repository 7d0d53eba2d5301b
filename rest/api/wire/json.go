package wire

import (
	"encoding/json"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// AnyJSON begins the description of a field that can contain any JSON value.
const AnyJSON = "Any JSON value"

// JSON is stored JSON, encoded unchanged. The description of its field begins with AnyJSON.
type JSON json.RawMessage

// MarshalJSON implements json.Marshaler.
func (r JSON) MarshalJSON() ([]byte, error) {
	if r == nil {
		return []byte("null"), nil
	}
	return r, nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (r *JSON) UnmarshalJSON(data []byte) error {
	*r = append((*r)[:0], data...)
	return nil
}

// Schema implements huma.SchemaProvider.
func (JSON) Schema(huma.Registry) *huma.Schema { return &huma.Schema{} }

// JSONObject is a stored JSON object with arbitrary fields, encoded unchanged. A field that can be null has the tag
// nullable.
type JSONObject json.RawMessage

// MarshalJSON implements json.Marshaler.
func (o JSONObject) MarshalJSON() ([]byte, error) { return JSON(o).MarshalJSON() }

// UnmarshalJSON implements json.Unmarshaler.
func (o *JSONObject) UnmarshalJSON(data []byte) error { return (*JSON)(o).UnmarshalJSON(data) }

// Schema implements huma.SchemaProvider.
func (JSONObject) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

// JSONOf is stored JSON in the form of T, encoded unchanged.
type JSONOf[T any] json.RawMessage

// MarshalJSON implements json.Marshaler.
func (s JSONOf[T]) MarshalJSON() ([]byte, error) { return JSON(s).MarshalJSON() }

// UnmarshalJSON implements json.Unmarshaler.
func (s *JSONOf[T]) UnmarshalJSON(data []byte) error { return (*JSON)(s).UnmarshalJSON(data) }

// Schema implements huma.SchemaProvider.
func (JSONOf[T]) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[T](), true, "")
}
