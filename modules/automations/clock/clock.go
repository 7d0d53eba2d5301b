package clock

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // embeds the time zone database, because the machine may not have one
)

// Days are the abbreviated names of the days of the week.
var Days = []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}

var zoneForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$`)

// Zone returns the time zone with a name from the IANA database. The error message is written to follow the
// name of the field. Unlike time.LoadLocation, Zone rejects "" and Local.
func Zone(name string) (*time.Location, error) {
	if !zoneForm.MatchString(name) || strings.EqualFold(name, "local") {
		return nil, errors.New("must be a name of the IANA time zone database, such as Europe/Berlin")
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("%s is not in the IANA time zone database", strconv.Quote(name))
	}
	return zone, nil
}

var timeForm = regexp.MustCompile(`^(\d\d):(\d\d)$`)

// CheckTimeOfDay validates a time of day such as 09:00.
func CheckTimeOfDay(text string) error {
	_, err := parseTimeOfDay(text)
	return err
}

// parseTimeOfDay returns the minutes since midnight; 24:00 is the end of the day.
func parseTimeOfDay(text string) (int, error) {
	parts := timeForm.FindStringSubmatch(text)
	if parts != nil {
		hours, _ := strconv.Atoi(parts[1])
		minutes, _ := strconv.Atoi(parts[2])
		if minutes < 60 && (hours < 24 || hours == 24 && minutes == 0) {
			return hours*60 + minutes, nil
		}
	}
	return 0, errors.New("must be a time of day from 00:00 to 24:00")
}

// InstantOf returns the instant of a local time. minutes count from midnight and may exceed a day. If clocks go back
// over the time, it is the first of the two instants. If clocks go forward over it, it is the instant of the
// change.
func InstantOf(year int, month time.Month, day, minutes int, zone *time.Location) time.Time {
	return instantsOf(year, month, day, minutes, zone)[0]
}

// instantsOf returns the instants of a local time in order: one, or two if clocks go back over it.
func instantsOf(year int, month time.Month, day, minutes int, zone *time.Location) []time.Time {
	// The local time, computed as if the zone were UTC.
	wall := time.Date(year, month, day, 0, minutes, 0, 0, time.UTC)
	// The offsets that may apply around this time. Two days cover every change, including that of Apia in 2011,
	// which skipped a day.
	_, before := wall.Add(-48 * time.Hour).In(zone).Zone()
	_, after := wall.Add(48 * time.Hour).In(zone).Zone()
	_, near := wall.Add(-time.Duration(before) * time.Second).In(zone).Zone()
	var found []time.Time
	for _, offset := range []int{before, after, near} {
		instant := wall.Add(-time.Duration(offset) * time.Second)
		if _, actual := instant.In(zone).Zone(); actual == offset && !slices.ContainsFunc(found, instant.Equal) {
			found = append(found, instant)
		}
	}
	if len(found) == 0 {
		return []time.Time{endOfGap(wall, before, zone)}
	}
	slices.SortFunc(found, time.Time.Compare)
	return found
}

// endOfGap returns the instant of the change that skips a local time.
func endOfGap(wall time.Time, before int, zone *time.Location) time.Time {
	// With the offset from before the change, the time is after the change.
	late := wall.Add(-time.Duration(before) * time.Second)
	start, _ := late.In(zone).ZoneBounds()
	return start.UTC()
}

// Window is a part of the day. If To is before From, it ends on the next day.
type Window struct {
	From, To string   // validated by CheckTimeOfDay
	Days     []string // days on which the window begins; empty: every day
}

// Next returns the first instant, not before now, at which local time is inside the window. A window that a
// clock change skips entirely opens right after the change. Next searches the next 15 days, in which every day
// of the week occurs twice; ok is false if no window begins in that time.
func (w Window) Next(now time.Time, zone *time.Location) (at time.Time, ok bool) {
	from, err := parseTimeOfDay(w.From)
	if err != nil {
		return now, false
	}
	to, err := parseTimeOfDay(w.To)
	if err != nil {
		return now, false
	}
	if to <= from {
		to += 24 * 60
	}
	if w.contains(now, from, to, zone) {
		return now, true
	}
	if at, ok = w.nextOpening(now, from, to, zone); !ok {
		return now, false
	}
	// When clocks go back, they may go back into a window.
	if _, change := now.In(zone).ZoneBounds(); !change.IsZero() && change.Before(at) &&
		w.contains(change, from, to, zone) {
		return change.UTC(), true
	}
	return at, true
}

// nextOpening returns the first instant after now at which a window opens.
func (w Window) nextOpening(now time.Time, from, to int, zone *time.Location) (time.Time, bool) {
	local := now.In(zone)
	for ahead := -1; ahead <= 15; ahead++ {
		year, month, day := local.Date()
		date := time.Date(year, month, day+ahead, 12, 0, 0, 0, time.UTC)
		if !w.includesDay(date.Weekday()) {
			continue
		}
		year, month, day = date.Date()
		for _, opens := range instantsOf(year, month, day, from, zone) {
			skipped := opens.Equal(InstantOf(year, month, day, to, zone)) && opens.In(zone).Day() == day
			if !opens.Before(now) && (skipped || w.contains(opens, from, to, zone)) {
				return opens, true
			}
		}
	}
	return now, false
}

// contains reports whether local time is inside the window. from and to are in minutes since midnight.
func (w Window) contains(at time.Time, from, to int, zone *time.Location) bool {
	local := at.In(zone)
	minute := local.Hour()*60 + local.Minute()
	today := local.Weekday()
	yesterday := (today + 6) % 7
	return from <= minute && minute < to && w.includesDay(today) || minute+24*60 < to && w.includesDay(yesterday)
}

func (w Window) includesDay(day time.Weekday) bool {
	return len(w.Days) == 0 || slices.Contains(w.Days, Days[(int(day)+6)%7])
}
