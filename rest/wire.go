package rest

import (
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// timestamp is RFC 3339 in UTC with milliseconds. A nil *timestamp is null.
type timestamp time.Time

const timestampLayout = "2006-01-02T15:04:05.000Z"

// MarshalJSON implements json.Marshaler.
func (t timestamp) MarshalJSON() ([]byte, error) {
	return []byte(`"` + time.Time(t).UTC().Format(timestampLayout) + `"`), nil
}

// Schema implements huma.SchemaProvider.
func (timestamp) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "date-time", Examples: []any{"2026-01-15T09:30:00.000Z"}}
}

// optionalTimestamp is a timestamp or null, and always present.
type optionalTimestamp struct{ at *time.Time }

// MarshalJSON implements json.Marshaler.
func (t optionalTimestamp) MarshalJSON() ([]byte, error) {
	if t.at == nil {
		return []byte("null"), nil
	}
	return timestamp(*t.at).MarshalJSON()
}

// Schema implements huma.SchemaProvider.
func (optionalTimestamp) Schema(r huma.Registry) *huma.Schema {
	s := timestamp{}.Schema(r)
	s.Nullable = true
	return s
}

// listed is a list as JSON shows it: never null.
func listed[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// nextCursor is null on the last page.
func nextCursor(cursor string) *string {
	if cursor == "" {
		return nil
	}
	return &cursor
}
