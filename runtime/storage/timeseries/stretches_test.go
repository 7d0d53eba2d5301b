package timeseries

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// Periods are composed of the longest stretches that they contain.
func TestPeriodsConsistOfLongestStretches(t *testing.T) {
	t.Parallel()
	monday := time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		zone string
		by   Interval
		days int
		want string
	}{
		{"UTC", Day, 365, "1440: 1"},
		{"UTC", Hour, 2, "60: 1"},
		{"Europe/Vienna", Day, 7, "60: 1"},
		{"Europe/Vienna", Week, 7, "60: 2, 1440: 1"},
		{"Asia/Kolkata", Day, 3, "15: 4, 60: 3"},
		{"Asia/Kolkata", Hour, 1, "15: 1"},
		{"Asia/Kolkata", Month, 28, "15: 2, 60: 2, 1440: 1"},
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		from := startOfDay(dateOf(monday, Day), zone)
		if c.by == Month {
			from = startOfDay(dateOf(monday, Month), zone)
		}
		var a Axis
		a.Starts, a.End = periodStarts(Range{from, from.AddDate(0, 0, c.days)}, c.by, zone, 1000)
		of := a.GrainRanges()
		counts, at := map[int64]int{}, a.Starts[0]
		for i, g := range of.Grains {
			counts[g]++
			begin, err := time.Parse(time.RFC3339, of.Begins[i])
			if err != nil || !begin.Equal(at) || begin.Unix()%(g*60) != 0 {
				t.Errorf("%s by %s: stretch %d of %d minutes begins at %s, but the previous one ends at %s",
					c.zone, c.by,
					i, g, begin, at)
			}
			if at, err = time.Parse(time.RFC3339, of.Ends[i]); err != nil || at.Unix()%(g*60) != 0 {
				t.Errorf("%s by %s: stretch %d of %d minutes ends at %s", c.zone, c.by, i, g, at)
			}
		}
		if !at.Equal(a.End) {
			t.Errorf("%s by %s: the stretches end at %s, but the periods at %s", c.zone, c.by, at, a.End)
		}
		var got []string
		for _, g := range []int64{15, 60, 1440} {
			if counts[g] > 0 {
				got = append(got, fmt.Sprintf("%d: %d", g, counts[g]))
			}
		}
		if is := strings.Join(got, ", "); is != c.want {
			t.Errorf("%d days in %s by %s consist of the stretches %s, want %s", c.days, c.zone, c.by, is, c.want)
		}
	}
}
