package timeseries

import (
	"time"
	_ "time/tzdata" // a machine may have no time zone database

	"github.com/postrider/postrider/runtime/base/fault"
)

// Interval is the length of periods.
type Interval string

// The intervals, by the calendar and the clock of a zone. A week begins on Monday.
const (
	Hour  Interval = "hour"
	Day   Interval = "day"
	Week  Interval = "week"
	Month Interval = "month"
)

// Range is a time range, including Since and excluding Until.
type Range struct{ Since, Until time.Time }

// quarter is the shortest counting interval. Every time zone's offset from UTC is a multiple of it.
const quarter = 15 * time.Minute

// zoneOf loads a zone by name.
func zoneOf(wrong fault.Fields, name string) *time.Location {
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" {
		wrong.Add("timezone", "must be a name from the IANA time zone database, such as Europe/Vienna or UTC")
		return time.UTC
	}
	return zone
}

// periodStarts returns the starts of the periods that cover a range, and the end of the last one: the range is
// widened to whole periods. It returns at most one period more than most.
func periodStarts(r Range, i Interval, zone *time.Location, most int) (starts []time.Time, end time.Time) {
	at := periodStart(r.Since, i, zone)
	for at.Before(r.Until) && len(starts) <= most {
		starts = append(starts, at)
		at = nextPeriodStart(at, i, zone)
	}
	return starts, at
}

// periodStart returns the start of the period that contains a time.
func periodStart(at time.Time, i Interval, zone *time.Location) time.Time {
	if i == Hour {
		at = at.Truncate(quarter)
		for at.In(zone).Minute() != 0 {
			at = at.Add(-quarter)
		}
		return at.UTC()
	}
	local := at.In(zone)
	return startOfDay(dateOf(local, i), zone)
}

// nextPeriodStart returns the start of the period after the one that starts at a time.
func nextPeriodStart(start time.Time, i Interval, zone *time.Location) time.Time {
	if i == Hour {
		at := start.Add(quarter)
		for at.In(zone).Minute() != 0 {
			at = at.Add(quarter)
		}
		return at.UTC()
	}
	date := dateOf(start.In(zone), i)
	switch i {
	case Week:
		date = date.AddDate(0, 0, 7)
	case Month:
		date = date.AddDate(0, 1, 0)
	default:
		date = date.AddDate(0, 0, 1)
	}
	return startOfDay(date, zone)
}

// dateOf returns the date, at noon UTC, on which the period of a local time begins.
func dateOf(local time.Time, i Interval) time.Time {
	date := time.Date(local.Year(), local.Month(), local.Day(), 12, 0, 0, 0, time.UTC)
	switch i {
	case Week:
		return date.AddDate(0, 0, -(int(date.Weekday())+6)%7)
	case Month:
		return date.AddDate(0, 0, 1-date.Day())
	default:
		return date
	}
}

// startOfDay returns the first moment of a date in a zone. If clocks skip midnight, that is later than
// midnight; if midnight occurs twice, it is the first one.
func startOfDay(date time.Time, zone *time.Location) time.Time {
	at := time.Date(date.Year(), date.Month(), date.Day(), 0, 0, 0, 0, zone).Add(-3 * time.Hour).Truncate(quarter)
	for isDateBefore(at.In(zone), date) {
		at = at.Add(quarter)
	}
	return at.UTC()
}

// isDateBefore reports whether the date of a local time is earlier than another date.
func isDateBefore(local, date time.Time) bool {
	return time.Date(local.Year(), local.Month(), local.Day(), 12, 0, 0, 0, time.UTC).Before(date)
}

// oldest is the earliest time that can be queried: no data is older, and zones had odd offsets in the past.
var oldest = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

// Check adds the mistakes of an invalid range.
func (r Range) Check(wrong fault.Fields) {
	switch {
	case !r.Since.Before(r.Until):
		wrong.Add("range", "lt must be after gte")
	case r.Since.Before(oldest):
		wrong.Add("range", "gte must not be before %s", oldest.Format(time.DateOnly))
	case r.Until.Year() > 9998:
		wrong.Add("range", "lt is too far in the future")
	}
}
