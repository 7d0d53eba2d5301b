package timeseries

import (
	"time"
	_ "time/tzdata" // a machine may have no database of zones

	"github.com/postrider/postrider/runtime/base/fault"
)

// Interval is how long periods are.
type Interval string

// The intervals, by the calendar and the clock of a zone. A week begins on Monday.
const (
	Hour  Interval = "hour"
	Day   Interval = "day"
	Week  Interval = "week"
	Month Interval = "month"
)

// Range is what is asked for: from Since on and before Until.
type Range struct{ Since, Until time.Time }

// quarter is the shortest stretch that is counted. Every zone differs from UTC by a number of them.
const quarter = 15 * time.Minute

// zoneOf reads the name of a zone.
func zoneOf(wrong fault.Fields, name string) *time.Location {
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" {
		wrong.Add("timezone", "must be a name of the IANA database of time zones, as Europe/Vienna or UTC")
		return time.UTC
	}
	return zone
}

// periods gives where the periods begin that a range lies in, and where the last one ends: the range is
// widened to whole periods. There may be one too many for an answer, and no more.
func periods(r Range, i Interval, zone *time.Location, most int) (starts []time.Time, end time.Time) {
	at := begin(r.Since, i, zone)
	for at.Before(r.Until) && len(starts) <= most {
		starts = append(starts, at)
		at = following(at, i, zone)
	}
	return starts, at
}

// begin gives the start of the period that a moment is in.
func begin(at time.Time, i Interval, zone *time.Location) time.Time {
	if i == Hour {
		at = at.Truncate(quarter)
		for at.In(zone).Minute() != 0 {
			at = at.Add(-quarter)
		}
		return at.UTC()
	}
	local := at.In(zone)
	return dawn(dateOf(local, i), zone)
}

// following gives the start of the period after the one that begins at a moment.
func following(start time.Time, i Interval, zone *time.Location) time.Time {
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
	return dawn(date, zone)
}

// dateOf gives the date, at noon UTC, on which the period begins that a local time is in.
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

// dawn gives the first moment of a date in a zone. Where clocks jump over midnight that is later than
// midnight, and where midnight comes twice it is the first one.
func dawn(date time.Time, zone *time.Location) time.Time {
	at := time.Date(date.Year(), date.Month(), date.Day(), 0, 0, 0, 0, zone).Add(-3 * time.Hour).Truncate(quarter)
	for before(at.In(zone), date) {
		at = at.Add(quarter)
	}
	return at.UTC()
}

// before compares dates.
func before(local, date time.Time) bool {
	return time.Date(local.Year(), local.Month(), local.Day(), 12, 0, 0, 0, time.UTC).Before(date)
}

// oldest is the least time that is asked for: nothing is older, and zones were odd long ago.
var oldest = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

// Check refuses a range that cannot be.
func (r Range) Check(wrong fault.Fields) {
	switch {
	case !r.Since.Before(r.Until):
		wrong.Add("range", "lt must be after gte")
	case r.Since.Before(oldest):
		wrong.Add("range", "gte must not be before %s", oldest.Format(time.DateOnly))
	case r.Until.Year() > 9998:
		wrong.Add("range", "lt is too far away")
	}
}
