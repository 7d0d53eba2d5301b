package compat

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var errTime = errors.New(`must be an ISO 8601 time with an offset, or a form such as "in 1 hour", "tomorrow at 9am" ` +
	`or "friday at 3pm ET"`)

// ParseTime reads a time: ISO 8601 with an offset, an HTTP date, or words in English. relative is true if it
// depends on the current time. Words without a time zone are in UTC.
func ParseTime(text string, now time.Time) (at time.Time, relative bool, err error) {
	text = strings.TrimSpace(text)
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999-0700", "2006-01-02 15:04:05Z07:00",
		"2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999-07", "2006-01-02T15:04Z07:00",
		time.RFC1123Z, time.RFC1123} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, false, nil
		}
	}
	words := strings.ToLower(text)
	if at, ok := parseDelay(words, now); ok {
		return at, true, nil
	}
	if at, ok := parseDay(words, now); ok {
		return at, true, nil
	}
	return time.Time{}, false, errTime
}

var (
	delay     = regexp.MustCompile(`^(?:in )?(.+?)(?: from now)?$`)
	delayPart = regexp.MustCompile(`^(?:,|and)? *((?:half an|an|a|one)\b|[0-9]{1,6}(?:\.[0-9]{1,3})?) *([a-z]+)`)
	dayForm   = regexp.MustCompile(`^(?:(today|tonight|tomorrow|(?:next |this |on )?[a-z]+day)[, ]*)?` +
		`(?:at )?([0-9]{1,2}(?::[0-9]{2})? ?(?:am|pm|a\.m\.|p\.m\.)?|noon|midnight)?(?: ([a-z]{1,5}))?$`)
)

var units = map[string]time.Duration{
	"s": time.Second, "sec": time.Second, "second": time.Second,
	"m": time.Minute, "min": time.Minute, "minute": time.Minute,
	"h": time.Hour, "hr": time.Hour, "hour": time.Hour,
	"d": 24 * time.Hour, "day": 24 * time.Hour, "w": 7 * 24 * time.Hour, "week": 7 * 24 * time.Hour,
}

// parseDelay reads "in 1 hour", "in 2 days and 3 hours" and "5 min from now".
func parseDelay(text string, now time.Time) (time.Time, bool) {
	if text == "now" {
		return now, true
	}
	if !strings.HasPrefix(text, "in ") && !strings.HasSuffix(text, " from now") {
		return time.Time{}, false
	}
	rest := delay.FindStringSubmatch(text)[1]
	at := now
	for rest = strings.TrimSpace(rest); rest != ""; rest = strings.TrimSpace(rest) {
		part := delayPart.FindStringSubmatch(rest)
		if part == nil {
			return time.Time{}, false
		}
		rest = rest[len(part[0]):]
		count, err := strconv.ParseFloat(part[1], 64)
		switch {
		case part[1] == "half an":
			count = 0.5
		case err != nil:
			count = 1
		}
		unit := part[2]
		if len(unit) > 1 {
			unit = strings.TrimSuffix(unit, "s")
		}
		switch length, known := units[unit]; {
		case known:
			at = at.Add(time.Duration(count * float64(length)))
		case unit == "month":
			at = at.AddDate(0, int(count), 0)
		default:
			return time.Time{}, false
		}
	}
	return at, true
}

// parseDay reads "tomorrow at 9am", "monday 15:30" and "friday at 3pm ET". A time without a day is the next one.
func parseDay(text string, now time.Time) (time.Time, bool) {
	form := dayForm.FindStringSubmatch(text)
	if form == nil || form[1] == "" && form[2] == "" {
		return time.Time{}, false
	}
	day, clock, zone := form[1], form[2], form[3]
	if _, err := strconv.Atoi(clock); err == nil && day == "" {
		return time.Time{}, false // a bare number
	}
	where, known := findZone(zone)
	hour, minute, valid := parseClock(clock, day)
	if !known || !valid {
		return time.Time{}, false
	}
	now = now.In(where)
	ahead, known := daysAhead(day, now)
	if !known {
		return time.Time{}, false
	}
	at := time.Date(now.Year(), now.Month(), now.Day()+ahead, hour, minute, 0, 0, where)
	if !at.After(now) {
		switch {
		case day == "":
			at = at.AddDate(0, 0, 1)
		case ahead == 0 && day != "today" && day != "tonight":
			at = at.AddDate(0, 0, 7)
		}
	}
	return at, true
}

// daysAhead returns the number of days until a named day.
func daysAhead(day string, now time.Time) (int, bool) {
	switch day {
	case "", "today", "tonight":
		return 0, true
	case "tomorrow":
		return 1, true
	}
	next := strings.HasPrefix(day, "next ")
	for _, word := range []string{"next ", "this ", "on "} {
		day = strings.TrimPrefix(day, word)
	}
	for weekday := time.Sunday; weekday <= time.Saturday; weekday++ {
		if day == strings.ToLower(weekday.String()) {
			ahead := (int(weekday) - int(now.Weekday()) + 7) % 7
			if next && ahead == 0 {
				ahead = 7
			}
			return ahead, true
		}
	}
	return 0, false
}

// parseClock reads a time of the day. Without one, a day begins at 9:00 and a night at 20:00.
func parseClock(text, day string) (hour, minute int, valid bool) {
	switch {
	case text == "" && day == "tonight":
		return 20, 0, true
	case text == "":
		return 9, 0, true
	case text == "noon":
		return 12, 0, true
	case text == "midnight":
		return 0, 0, true
	}
	text = strings.NewReplacer(" ", "", ".", "").Replace(text)
	half := ""
	if strings.HasSuffix(text, "m") {
		text, half = text[:len(text)-2], text[len(text)-2:]
	}
	hours, minutes, _ := strings.Cut(text, ":")
	hour, err := strconv.Atoi(hours)
	if err == nil && minutes != "" {
		minute, err = strconv.Atoi(minutes)
	}
	if err != nil || minute > 59 || hour > 23 || half != "" && (hour < 1 || hour > 12) {
		return 0, 0, false
	}
	if half != "" {
		hour %= 12
		if half == "pm" {
			hour += 12
		}
	}
	return hour, minute, true
}

var zones = map[string]string{"": "UTC", "utc": "UTC", "gmt": "UTC", "z": "UTC", "et": "America/New_York",
	"ct": "America/Chicago", "mt": "America/Denver", "pt": "America/Los_Angeles", "cet": "Europe/Berlin",
	"cest": "Europe/Berlin", "bst": "Europe/London"}

var offsets = map[string]int{"est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7}

func findZone(name string) (*time.Location, bool) {
	if hours, known := offsets[name]; known {
		return time.FixedZone(strings.ToUpper(name), hours*60*60), true
	}
	where, known := zones[name]
	if !known {
		return nil, false
	}
	at, err := time.LoadLocation(where)
	return at, err == nil
}
