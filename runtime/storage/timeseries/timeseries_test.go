package timeseries

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/base/fault"
)

// Periods follow the calendar and the clock of the time zone, across clock changes. Their starts determine the
// stretches that they can be composed of.
func TestPeriodsFollowTimeZone(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		zone         string
		interval     Interval
		since, until string
		starts       []string
		end          string
		grain        int
	}{
		"days in UTC": {"UTC", Day, "2026-11-03T10:20:00Z", "2026-11-05T00:00:00Z",
			[]string{"2026-11-03T00:00:00Z", "2026-11-04T00:00:00Z"}, "2026-11-05T00:00:00Z", 1440},
		"a day of 25 hours": {"Europe/Vienna", Day, "2026-10-25T12:00:00Z", "2026-10-25T13:00:00Z",
			[]string{"2026-10-24T22:00:00Z"}, "2026-10-25T23:00:00Z", 60},
		"a day of 23 hours": {"Europe/Vienna", Day, "2026-03-29T12:00:00Z", "2026-03-29T13:00:00Z",
			[]string{"2026-03-28T23:00:00Z"}, "2026-03-29T22:00:00Z", 60},
		"hours, a quarter off UTC": {"Asia/Kathmandu", Hour, "2026-11-03T10:20:00Z", "2026-11-03T11:20:00Z",
			[]string{"2026-11-03T10:15:00Z", "2026-11-03T11:15:00Z"}, "2026-11-03T12:15:00Z", 15},
		"clocks go back by half an hour": {"Australia/Lord_Howe", Hour, "2026-04-04T14:00:00Z",
			"2026-04-04T16:00:00Z", []string{"2026-04-04T14:00:00Z", "2026-04-04T15:30:00Z"}, "2026-04-04T16:30:00Z",
			15},
		"a week begins on Monday": {"UTC", Week, "2026-11-01T10:00:00Z", "2026-11-02T00:00:01Z",
			[]string{"2026-10-26T00:00:00Z", "2026-11-02T00:00:00Z"}, "2026-11-09T00:00:00Z", 1440},
		"months": {"UTC", Month, "2026-12-31T10:00:00Z", "2027-02-01T00:00:00Z",
			[]string{"2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z"}, "2027-02-01T00:00:00Z", 1440},
		"that date has no midnight": {"America/Santiago", Day, "2026-09-06T12:00:00Z", "2026-09-06T13:00:00Z",
			[]string{"2026-09-06T04:00:00Z"}, "2026-09-07T03:00:00Z", 60},
	} {
		at := func(text string) time.Time {
			parsed, err := time.Parse(time.RFC3339, text)
			if err != nil {
				t.Fatal(err)
			}
			return parsed
		}
		wrong := fault.Fields{}
		a := Query{Range{at(c.since), at(c.until)}, c.interval, c.zone}.Axis(wrong, 0)
		var starts []string
		for _, s := range a.Starts {
			starts = append(starts, s.Format(time.RFC3339))
		}
		if diff := cmp.Diff(c.starts, starts); diff != "" || len(wrong) > 0 || a.End.Format(time.RFC3339) != c.end ||
			a.Grain() != c.grain {
			t.Errorf("%s: got the ends %v, grain %d, %v; want %s, %d; starts: %s", what, a.End, a.Grain(), wrong, c.end,
				c.grain, diff)
		}
	}
}

// A response has at most 10,000 periods, multiplied by the number of groups plus the total.
func TestNumberOfPeriodsIsLimited(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		periods, groups int
		fits            bool
	}{{10_000, 0, true}, {10_001, 0, false}, {5_000, 1, true}, {5_001, 1, false}, {99, 100, true}, {100, 100, false}} {
		wrong := fault.Fields{}
		a := Query{Range{start, start.Add(time.Duration(c.periods) * time.Hour)}, Hour, "UTC"}.Axis(wrong, c.groups)
		if (wrong["range"] == "") != c.fits || c.fits && len(a.Starts) != c.periods {
			t.Errorf("%d hours and %d groups returned %d periods, %v", c.periods, c.groups, len(a.Starts), wrong)
		}
	}
}
