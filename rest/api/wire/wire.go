package wire

import (
	"bytes"
	"encoding/json"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// Time is RFC 3339 in UTC with milliseconds. A nil *Time is null.
type Time time.Time

// Layout is the format of times.
const Layout = "2006-01-02T15:04:05.000Z"

// MarshalJSON implements json.Marshaler.
func (t Time) MarshalJSON() ([]byte, error) {
	return []byte(`"` + time.Time(t).UTC().Format(Layout) + `"`), nil
}

// Schema implements huma.SchemaProvider.
func (Time) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "date-time", Examples: []any{"2026-01-15T09:30:00.000Z"}}
}

// OptionalTime is a Time or null, and always present.
type OptionalTime struct{ At *time.Time }

// MarshalJSON implements json.Marshaler.
func (t OptionalTime) MarshalJSON() ([]byte, error) {
	if t.At == nil {
		return []byte("null"), nil
	}
	return Time(*t.At).MarshalJSON()
}

// Schema implements huma.SchemaProvider.
func (OptionalTime) Schema(r huma.Registry) *huma.Schema {
	s := Time{}.Schema(r)
	s.Nullable = true
	return s
}

// Optional is a record or null, and always present.
type Optional[T any] struct{ Value *T }

// FromPointer returns the value, or null for nil.
func FromPointer[T any](value *T) Optional[T] { return Optional[T]{value} }

// MarshalJSON implements json.Marshaler.
func (o Optional[T]) MarshalJSON() ([]byte, error) { return Marshal(o.Value) }

// Schema implements huma.SchemaProvider.
func (Optional[T]) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{r.Schema(reflect.TypeFor[T](), true, ""), {Type: "null"}}}
}

// List converts a list so that JSON never contains null for it.
func List[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// ListOf converts each item of a list.
func ListOf[T, R any](list []T, show func(T) R) []R {
	out := make([]R, len(list))
	for i, item := range list {
		out[i] = show(item)
	}
	return out
}

// OrNull encodes an empty string as null.
func OrNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// Marshal encodes a response. It does not escape <, > and &.
func Marshal(v any) ([]byte, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buffer.Bytes(), []byte{'\n'}), nil
}

// Encode encodes values that cannot fail to encode: structs of strings, numbers and times. It
// panics otherwise.
func Encode(v any) json.RawMessage {
	encoded, err := Marshal(v)
	if err != nil {
		panic("rest: encode a record: " + err.Error())
	}
	return encoded
}
