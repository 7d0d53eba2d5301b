package clock

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // a machine may have no database of zones
)

// Days are the words for days of the week.
var Days = []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}

var zoneForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$`)

// Zone gives the zone of a name of the IANA database. The error is a reason to stand beside
// the field. "" and Local, which Go takes, are no names.
func Zone(name string) (*time.Location, error) {
	if !zoneForm.MatchString(name) || strings.EqualFold(name, "local") {
		return nil, errors.New("must be a name of the IANA time zone database, as Europe/Berlin")
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("%s is not in the IANA time zone database", strconv.Quote(name))
	}
	return zone, nil
}

var timeForm = regexp.MustCompile(`^(\d\d):(\d\d)$`)

// CheckTimeOfDay judges a time as 09:00.
func CheckTimeOfDay(text string) error {
	_, err := parseTimeOfDay(text)
	return err
}

// parseTimeOfDay gives minutes since midnight; 24:00 is the end of the day.
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

// At gives the instant of a local time. minutes count from midnight and may exceed a day.
func At(year int, month time.Month, day, minutes int, zone *time.Location) time.Time {
	// The wall clock, counted as if the zone were UTC.
	wall := time.Date(year, month, day, 0, minutes, 0, 0, time.UTC)
	// Offsets that the zone can have around this time. Two days reach over every change,
	// also that of Apia in 2011, which skipped a day.
	_, before := wall.Add(-48 * time.Hour).In(zone).Zone()
	_, after := wall.Add(48 * time.Hour).In(zone).Zone()
	offsets := []int{before, after}
	if near := wall.Add(-time.Duration(before) * time.Second).In(zone); true {
		_, offset := near.Zone()
		offsets = append(offsets, offset)
	}
	var found []time.Time
	for _, offset := range offsets {
		instant := wall.Add(-time.Duration(offset) * time.Second)
		if _, real := instant.In(zone).Zone(); real == offset {
			found = append(found, instant)
		}
	}
	if len(found) > 0 {
		return slices.MinFunc(found, time.Time.Compare)
	}
	return endOfGap(wall, before, zone)
}

// endOfGap is the instant of the change that skips a wall clock time.
func endOfGap(wall time.Time, before int, zone *time.Location) time.Time {
	// By the offset from before the change, the time lies behind the change.
	behind := wall.Add(-time.Duration(before) * time.Second)
	start, _ := behind.In(zone).ZoneBounds()
	return start.UTC()
}

// Window is a part of the day. A To before From lies on the next day.
type Window struct {
	From, To string   // as CheckTimeOfDay wants them
	Days     []string // on which the window begins; none: every day
}

// Next gives the first instant from now on that is inside the window, by the clock of the
// zone: now itself if now is inside. It looks at most 15 days ahead, in which every day of the
// week occurs twice; ok is false if no window begins then.
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
	local := now.In(zone)
	for ahead := -1; ahead <= 15; ahead++ {
		year, month, day := local.Date()
		date := time.Date(year, month, day+ahead, 12, 0, 0, 0, time.UTC)
		if !w.on(date.Weekday()) {
			continue
		}
		year, month, day = date.Date()
		opens, closes := At(year, month, day, from, zone), At(year, month, day, to, zone)
		switch {
		case !now.Before(closes): // over
		case !now.Before(opens):
			return now, true
		case opens.Before(closes): // a window in a gap has no length
			return opens, true
		}
	}
	return now, false
}

func (w Window) on(day time.Weekday) bool {
	return len(w.Days) == 0 || slices.Contains(w.Days, Days[(int(day)+6)%7])
}
