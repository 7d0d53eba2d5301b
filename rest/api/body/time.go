package body

import (
	"errors"
	"strings"
	"time"
)

// timeLayouts are the forms of ISO 8601 that programs write for a moment: that of
// RFC 3339, without seconds, and with offsets in the basic form.
var timeLayouts = []string{
	time.RFC3339, "2006-01-02T15:04Z07:00",
	"2006-01-02T15:04:05Z0700", "2006-01-02T15:04Z0700",
	"2006-01-02T15:04:05Z07", "2006-01-02T15:04Z07",
}

var (
	errNoOffset = errors.New("the time has no offset")
	errNoTime   = errors.New("not an ISO 8601 time")
)

// Time reads a time. It reports false if the value is not one. A time without an offset is ambiguous,
// so it is rejected.
func (d *Decoder) Time(path string, v Value) (time.Time, bool) {
	text, ok := d.Text(path, v)
	if !ok {
		return time.Time{}, false
	}
	at, err := parseTime(text)
	switch {
	case err == nil:
		return at, true
	case errors.Is(err, errNoOffset):
		d.Refuse(path, "must include a UTC offset, for example %sZ", PrintableName(text))
	default:
		d.Refuse(path, "must be an ISO 8601 time with an offset or Z, for example 2026-01-15T09:30:00Z")
	}
	return time.Time{}, false
}

// parseTime returns errNoOffset for a time that only lacks its offset.
func parseTime(text string) (time.Time, error) {
	upper := strings.ToUpper(text) // RFC 3339 section 5.6: t and z may be lower case
	for _, layout := range timeLayouts {
		at, err := time.Parse(layout, upper)
		if err != nil {
			continue
		}
		if _, offset := at.Zone(); offset <= -24*60*60 || offset >= 24*60*60 {
			break // time.Parse takes +24:00
		}
		return at, nil
	}
	for _, layout := range []string{"2006-01-02T15:04:05", "2006-01-02T15:04"} {
		if _, err := time.Parse(layout, upper); err == nil {
			return time.Time{}, errNoOffset
		}
	}
	return time.Time{}, errNoTime
}
