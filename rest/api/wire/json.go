package wire

import (
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"
)

// JSON is stored JSON, encoded unchanged.
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
