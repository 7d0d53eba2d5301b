package body

import (
	"errors"
	"regexp"
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

// offset matches the end of a valid time: time.Parse also accepts +24:00 and +00:60.
var offset = regexp.MustCompile(`(?:[Zz]|[+-](?:[01][0-9]|2[0-3])(?::?[0-5][0-9])?)$`)

// ParseTimestamp parses a time in the form of RFC 3339.
func ParseTimestamp(text string) (time.Time, error) {
	at, err := time.Parse(time.RFC3339Nano, text)
	if err == nil && !offset.MatchString(text) {
		return time.Time{}, errNoTime
	}
	return at, err
}

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
		if at, err := time.Parse(layout, upper); err == nil && offset.MatchString(upper) {
			return at, nil
		}
	}
	for _, layout := range []string{"2006-01-02T15:04:05", "2006-01-02T15:04"} {
		if _, err := time.Parse(layout, upper); err == nil {
			return time.Time{}, errNoOffset
		}
	}
	return time.Time{}, errNoTime
}
