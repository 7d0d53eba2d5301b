package api

import (
	"strings"
	"time"

	"github.com/postrider/postrider/rest/api/body"
	"github.com/postrider/postrider/runtime/base/fault"
)

// QueryAddress returns the address or phone number of a query parameter. In a query, + means a space. Neither of them
// contains spaces, so to=bob+1@example.net is read literally.
func QueryAddress(text string) string {
	if strings.ContainsAny(text, `"<`) {
		return text
	}
	return strings.ReplaceAll(text, " ", "+")
}

// QueryTime reads a query parameter that is a time; nil if it is omitted. A space before the offset is a +, as in
// since=2026-01-15T09:30:00+01:00.
func QueryTime(wrong fault.Fields, field, text string) *time.Time {
	if text == "" {
		return nil
	}
	moment, err := body.ParseTimestamp(text)
	if at := strings.LastIndexByte(text, ' '); err != nil && at > 0 {
		moment, err = body.ParseTimestamp(text[:at] + "+" + text[at+1:])
	}
	if err != nil {
		wrong.Add(field, "must be a time with Z or an offset, for example 2026-01-15T09:30:00Z")
		return nil
	}
	return &moment
}
