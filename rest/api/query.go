package api

import (
	"time"

	"github.com/postrider/postrider/runtime/base/fault"
)

// QueryTime reads a query parameter that is a moment; nil when it is left out.
func QueryTime(wrong fault.Fields, field, text string) *time.Time {
	if text == "" {
		return nil
	}
	moment, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		wrong.Add(field, "must be a time with Z or an offset, for example 2026-01-15T09:30:00Z")
		return nil
	}
	return &moment
}
