package clock

import (
	"encoding/json"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// The bounds of a duration.
const (
	MinDuration = time.Second
	MaxDuration = 366 * 24 * time.Hour
)

// Duration is a length of time as its author wrote it, in the form of ISO 8601 without years
// and months. A day has 24 hours.
type Duration struct {
	Text string
	time.Duration
}

// The parts: weeks, days, hours, minutes, seconds.
var durationForm = regexp.MustCompile(DurationPattern)

// DurationPattern is the form of a duration, as a regular expression. Its bounds are not in it.
const DurationPattern = `^P(?:(\d{1,3})W)?(?:(\d{1,4})D)?(?:T(?:(\d{1,5})H)?(?:(\d{1,7})M)?(?:(\d{1,9}(?:\.\d{1,9})?)S)?)?$`

var (
	errDurationForm   = errors.New(`must be a duration of ISO 8601, as PT30M or P3D`)
	errDurationMonths = errors.New(`has years or months, whose length differs; use days, as P30D`)
	errDurationBounds = errors.New(`must be from 1 second to 366 days`)
)

// ParseDuration reads P(nW)(nD)(T(nH)(nM)(nS)) with at least one part. The error is a reason
// to stand beside the field.
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
	total := 0.0 // seconds; exact up to far more than the bounds, and cannot overflow
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

// ParseOffset reads a duration that may have a minus in front.
func ParseOffset(text string) (Duration, error) {
	positive, negative := strings.CutPrefix(text, "-")
	d, err := ParseDuration(positive)
	if negative {
		d.Duration = -d.Duration
	}
	d.Text = text
	return d, err
}

// UnmarshalJSON reads either form.
func (d *Duration) UnmarshalJSON(data []byte) error {
	var text string
	err := json.Unmarshal(data, &text)
	if err == nil {
		*d, err = ParseOffset(text)
	}
	return err
}

// MarshalJSON writes what was read.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(d.Text) }
