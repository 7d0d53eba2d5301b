package openapi

import (
	"bytes"
	"time"
)

// Tomorrow is a placeholder for the date in example requests that are refused once their time has passed:
// openapi.Tomorrow + "T09:30:00Z". It is replaced when the document is served.
const Tomorrow = "9999-12-31"

// OfToday returns a document or a page as it is served at a given time: Tomorrow is replaced with the next day in UTC.
func OfToday(content []byte, now time.Time) []byte {
	return bytes.ReplaceAll(content, []byte(Tomorrow), []byte(now.UTC().AddDate(0, 0, 1).Format(time.DateOnly)))
}
