package language

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/osteele/liquid/values"
	"github.com/osteele/tuesday"
)

// dateStyles are the lengths of dates, as indexes of a datePatterns.
var dateStyles = []string{"short", "medium", "long", "full"}

var (
	errDate   = errors.New("requires a date, such as 2026-01-15, or a number of seconds since 1970")
	errStyle  = fmt.Errorf("requires one of %s", strings.Join(dateStyles, ", "))
	errFormat = errors.New("the format of a date is longer than 100 characters, or has a number of more than four digits")
)

// instantForm matches the end of a text that names an instant rather than a local time: its zone.
var instantForm = regexp.MustCompile(`(\d[Zz]|[+-]\d\d:?\d\d| [A-Z]{3,4}( \d{4})?)$`)

// timeFrom returns the time in a value. An instant is moved to the time zone of the locale; a date or a time without a
// zone stays as it is written. A missing or blank value has none.
func (l Locale) timeFrom(value any) (at time.Time, found bool, err error) {
	instant := true
	switch v := value.(type) {
	case nil:
		return at, false, nil
	case time.Time:
		at = v
	case string:
		if strings.TrimSpace(v) == "" {
			return at, false, nil
		}
		if at, err = values.ParseDate(v); err != nil {
			return at, false, errDate
		}
		instant = v == "now" || strings.Trim(v, "0123456789-") == "" && strings.Count(v, "-") < 2 || instantForm.MatchString(v)
	case int, int64, float64:
		seconds, _, err := numberFrom(v)
		if err != nil || seconds > maxSeconds || seconds < -maxSeconds {
			return at, false, errDate
		}
		at = time.Unix(int64(seconds), 0)
	default:
		return at, false, errDate
	}
	if at.Year() < 0 || at.Year() > 9999 {
		return at, false, errDate
	}
	if instant && l.zone != nil {
		at = at.In(l.zone)
	}
	return at, true, nil
}

// maxSeconds is the end of the year 9999, in seconds since 1970.
const maxSeconds = 253402300799

// formatDate formats the date of a time in a style, or the time by a format like strftime. Widths are limited, because
// %9999999d would exhaust memory.
func (l Locale) formatDate(value any, format func(string) string) (string, error) {
	at, found, err := l.timeFrom(value)
	if err != nil || !found {
		return "", err
	}
	f := format("%a, %b %d, %y")
	if style := slices.Index(dateStyles, f); style >= 0 {
		return l.datePatterns().formatDate(at, style), nil
	}
	if len(f) > 100 || wideDirective(f) {
		return "", errFormat
	}
	return tuesday.Strftime(f, at)
}

// formatDateTime formats a date with the time of day in a style. The full style includes the time zone.
func (l Locale) formatDateTime(value any, style func(string) string) (string, error) {
	at, found, err := l.timeFrom(value)
	if err != nil || !found {
		return "", err
	}
	length := slices.Index(dateStyles, style("medium"))
	if length < 0 {
		return "", errStyle
	}
	return l.datePatterns().formatDateTime(at, length), nil
}

func wideDirective(format string) bool {
	digits := 0
	for _, r := range format {
		if r < '0' || r > '9' {
			digits = 0
			continue
		}
		if digits++; digits > 4 { // allows a literal 2026
			return true
		}
	}
	return false
}

func (l Locale) datePatterns() datePatterns {
	language, region := l.region()
	if language == "en" {
		return englishPatterns(region)
	}
	p, known := patternsByLanguage[language]
	if !known {
		return numericPatterns
	}
	if language == "de" && region == "AT" {
		p.months = strings.Replace(p.months, "Januar", "Jänner", 1)
		p.shortMonths = strings.Replace(p.shortMonths, "Jan.", "Jän.", 1)
	}
	return p
}

func (p datePatterns) formatDate(at time.Time, style int) string { return p.fill(p.dates[style], at) }

func (p datePatterns) formatDateTime(at time.Time, style int) string {
	join := p.join
	if style >= 2 && p.longJoin != "" {
		join = p.longJoin
	}
	text := p.fill(p.dates[style], at) + join + p.fill(p.time, at)
	if zone, _ := at.Zone(); style == 3 {
		if strings.HasPrefix(zone, "+") || strings.HasPrefix(zone, "-") || zone == "" {
			zone = "UTC" + at.Format("-07:00")
		}
		text += noBreakSpace + zone
	}
	return text
}

// fill formats a time by a pattern with the letters of CLDR. Text that contains letters is quoted with apostrophes.
func (p datePatterns) fill(pattern string, at time.Time) string {
	var b strings.Builder
	for i := 0; i < len(pattern); {
		c := pattern[i]
		n := 1
		for i+n < len(pattern) && pattern[i+n] == c {
			n++
		}
		switch c {
		case '\'':
			end := i + 1 + strings.IndexByte(pattern[i+1:], '\'')
			b.WriteString(pattern[i+1 : end])
			n = end + 1 - i
		case 'y':
			fmt.Fprintf(&b, "%0*d", n, at.Year()%[]int{10000, 100}[n/2])
		case 'M':
			b.WriteString(p.month(at.Month(), n))
		case 'd':
			fmt.Fprintf(&b, "%0*d", n, at.Day())
		case 'E':
			b.WriteString(strings.Fields(p.days)[at.Weekday()])
		case 'H':
			fmt.Fprintf(&b, "%0*d", n, at.Hour())
		case 'h':
			fmt.Fprintf(&b, "%d", (at.Hour()+11)%12+1)
		case 'm':
			fmt.Fprintf(&b, "%0*d", n, at.Minute())
		case 'a':
			b.WriteString(strings.Fields(p.halves)[at.Hour()/12])
		default:
			b.WriteString(pattern[i : i+n])
		}
		i += n
	}
	return b.String()
}

// month returns the name or the number of a month, by the number of letters in a pattern.
func (p datePatterns) month(m time.Month, letters int) string {
	switch letters {
	case 4:
		return strings.Fields(p.months)[m-1]
	case 3:
		return strings.Fields(p.shortMonths)[m-1]
	default:
		return fmt.Sprintf("%0*d", letters, int(m))
	}
}
