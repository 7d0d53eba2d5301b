package clock

import (
	"encoding/json"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Limits of a duration.
const (
	MinDuration = time.Second
	MaxDuration = 366 * 24 * time.Hour
)

// Duration is a length of time together with its text, in ISO 8601 without years and months. A day has 24
// hours.
type Duration struct {
	Text string
	time.Duration
}

// Groups: weeks, days, hours, minutes, seconds.
var durationForm = regexp.MustCompile(DurationPattern)

// DurationPattern is a regular expression for durations. It does not check the limits.
const DurationPattern = `^P(?:(\d{1,3})W)?(?:(\d{1,4})D)?(?:T(?:(\d{1,5})H)?(?:(\d{1,7})M)?(?:(\d{1,9}(?:\.\d{1,9})?)S)?)?$`

var (
	errDurationForm   = errors.New(`must be an ISO 8601 duration, such as PT30M or P3D`)
	errDurationMonths = errors.New(`cannot contain years or months, whose length varies; use days, such as P30D`)
	errDurationBounds = errors.New(`must be between 1 second and 366 days`)
)

// ParseDuration parses P(nW)(nD)(T(nH)(nM)(nS)) with at least one part. The error message is written to follow
// the name of the field.
func ParseDuration(text string) (Duration, error) {
	parts := durationForm.FindStringSubmatch(text)
	if parts == nil {
		date, _, _ := strings.Cut(text, "T")
		if strings.HasPrefix(date, "P") && strings.ContainsAny(date, "YM") {
			return Duration{}, errDurationMonths
		}
		return Duration{}, errDurationForm
	}
	if text == "P" || strings.HasSuffix(text, "T") {
		return Duration{}, errDurationForm
	}
	total := 0.0 // in seconds, a float64 is exact far beyond the limits and cannot overflow
	for i, unit := range []float64{7 * 86400, 86400, 3600, 60, 1} {
		if parts[i+1] != "" {
			number, err := strconv.ParseFloat(parts[i+1], 64)
			if err != nil {
				return Duration{}, errDurationForm
			}
			total += number * unit
		}
	}
	if total < MinDuration.Seconds() || total > MaxDuration.Seconds() {
		return Duration{}, errDurationBounds
	}
	return Duration{text, time.Duration(total * float64(time.Second))}, nil
}

// ParseOffset parses a duration that may have a leading minus sign.
func ParseOffset(text string) (Duration, error) {
	positive, negative := strings.CutPrefix(text, "-")
	d, err := ParseDuration(positive)
	if negative {
		d.Duration = -d.Duration
	}
	d.Text = text
	return d, err
}

// UnmarshalJSON accepts either form.
func (d *Duration) UnmarshalJSON(data []byte) error {
	var text string
	err := json.Unmarshal(data, &text)
	if err == nil {
		*d, err = ParseOffset(text)
	}
	return err
}

// MarshalJSON returns the text that was parsed.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(d.Text) }
