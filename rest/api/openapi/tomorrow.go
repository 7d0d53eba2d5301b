package openapi

import (
	"bytes"
	"time"
)

// Tomorrow is the day of the times in examples of requests that are refused once they have
// passed: openapi.Tomorrow + "T09:30:00Z". It is replaced when the document is served.
const Tomorrow = "9999-12-31"

// OfToday returns a document or a page as it is served at a moment: Tomorrow is the day
// after the moment, by UTC.
func OfToday(content []byte, now time.Time) []byte {
	return bytes.ReplaceAll(content, []byte(Tomorrow), []byte(now.UTC().AddDate(0, 0, 1).Format(time.DateOnly)))
}
