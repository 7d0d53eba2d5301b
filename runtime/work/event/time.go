package event

import (
	"strconv"
	"time"
)

// Time is a time in a payload: RFC 3339 in UTC, with milliseconds.
type Time struct{ time.Time }

const timeLayout = "2006-01-02T15:04:05.000Z"

// NewTime returns a time in payload precision.
func NewTime(t time.Time) Time { return Time{t.UTC().Truncate(time.Millisecond)} }

// MarshalJSON encodes the time in the format of the API.
func (t Time) MarshalJSON() ([]byte, error) {
	return []byte(strconv.Quote(t.UTC().Format(timeLayout))), nil
}
