package event

import (
	"strconv"
	"time"
)

// Time is a moment in a payload: RFC 3339 in UTC, with milliseconds.
type Time struct{ time.Time }

const timeLayout = "2006-01-02T15:04:05.000Z"

// At is the moment as a payload tells it.
func At(t time.Time) Time { return Time{t.UTC().Truncate(time.Millisecond)} }

// MarshalJSON gives the moment as all of the API does.
func (t Time) MarshalJSON() ([]byte, error) {
	return []byte(strconv.Quote(t.UTC().Format(timeLayout))), nil
}
