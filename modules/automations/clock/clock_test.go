package clock_test

import (
	"testing"
	"time"

	"github.com/postrider/postrider/modules/automations/clock"
)

func loadZone(t *testing.T, name string) *time.Location {
	t.Helper()
	z, err := clock.Zone(name)
	if err != nil {
		t.Fatalf("the zone %s is rejected: %v", name, err)
	}
	return z
}

// The expected instants follow from the rules of the zones: a skipped time becomes the end of the gap, and a
// repeated time its first occurrence.
func TestAtAcrossOffsetChanges(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		zone             string
		year, month, day int
		minutes          int
		want             string
	}{
		"New York, skipped":                 {"America/New_York", 2026, 3, 8, 2*60 + 30, "2026-03-08T07:00:00Z"},
		"New York, before the skipped hour": {"America/New_York", 2026, 3, 8, 60 + 59, "2026-03-08T06:59:00Z"},
		"New York, after the skipped hour":  {"America/New_York", 2026, 3, 8, 3 * 60, "2026-03-08T07:00:00Z"},
		"New York, repeated":                {"America/New_York", 2026, 11, 1, 60 + 30, "2026-11-01T05:30:00Z"},
		"Berlin, skipped":                   {"Europe/Berlin", 2026, 3, 29, 2*60 + 30, "2026-03-29T01:00:00Z"},
		"Berlin, repeated":                  {"Europe/Berlin", 2026, 10, 25, 2*60 + 30, "2026-10-25T00:30:00Z"},
		"Lord Howe, skipped half hour":      {"Australia/Lord_Howe", 2026, 10, 4, 2*60 + 15, "2026-10-03T15:30:00Z"},
		"Lord Howe, repeated":               {"Australia/Lord_Howe", 2026, 4, 5, 60 + 45, "2026-04-04T14:45:00Z"},
		"Apia, the day skipped in 2011":     {"Pacific/Apia", 2011, 12, 30, 10 * 60, "2011-12-30T10:00:00Z"},
		"Apia, the day after it":            {"Pacific/Apia", 2011, 12, 31, 10 * 60, "2011-12-30T20:00:00Z"},
		"Apia, the day before it":           {"Pacific/Apia", 2011, 12, 29, 10 * 60, "2011-12-29T20:00:00Z"},
		"end of an ordinary day":            {"Europe/Berlin", 2026, 1, 15, 24 * 60, "2026-01-15T23:00:00Z"},
	} {
		got := clock.InstantOf(test.year, time.Month(test.month), test.day, test.minutes, loadZone(t, test.zone)).UTC().
			Format(time.RFC3339)
		if got != test.want {
			t.Errorf("%s: got %s, want %s", name, got, test.want)
		}
	}
}

func newWindow(from, to string) clock.Window { return clock.Window{From: from, To: to} }

func TestWindowNext(t *testing.T) {
	t.Parallel()
	berlin := loadZone(t, "Europe/Berlin")
	day := clock.Window{From: "09:00", To: "20:00"}
	night := clock.Window{From: "22:00", To: "06:00"}
	mondays := clock.Window{From: "09:00", To: "10:00", Days: []string{"mon"}}
	for name, test := range map[string]struct {
		window    clock.Window
		now, want string
	}{
		"inside":                       {day, "2026-01-15T10:00:00+01:00", "2026-01-15T10:00:00+01:00"},
		"before":                       {day, "2026-01-15T05:00:00+01:00", "2026-01-15T09:00:00+01:00"},
		"after":                        {day, "2026-01-15T20:00:00+01:00", "2026-01-16T09:00:00+01:00"},
		"over a change":                {day, "2026-03-28T21:00:00+01:00", "2026-03-29T09:00:00+02:00"},
		"over midnight, inside before": {night, "2026-01-15T23:00:00+01:00", "2026-01-15T23:00:00+01:00"},
		"over midnight, inside after":  {night, "2026-01-15T05:59:00+01:00", "2026-01-15T05:59:00+01:00"},
		"over midnight, outside":       {night, "2026-01-15T06:00:00+01:00", "2026-01-15T22:00:00+01:00"},
		"the next Monday":              {mondays, "2026-01-13T09:30:00+01:00", "2026-01-19T09:00:00+01:00"},
		"as long as the gap":           {newWindow("02:00", "03:00"), "2027-03-28T00:00:00+01:00", "2027-03-28T03:00:00+02:00"},
		"inside the gap":               {newWindow("02:15", "02:45"), "2027-03-28T00:00:00+01:00", "2027-03-28T03:00:00+02:00"},
		"partly inside the gap":        {newWindow("02:30", "03:30"), "2027-03-28T00:00:00+01:00", "2027-03-28T03:00:00+02:00"},
		"begins before the gap":        {newWindow("01:30", "02:30"), "2027-03-28T00:00:00+01:00", "2027-03-28T01:30:00+01:00"},
		"right after the gap":          {newWindow("02:15", "02:45"), "2027-03-28T03:00:01+02:00", "2027-03-29T02:15:00+02:00"},
		"Sundays inside the gap": {clock.Window{From: "02:15", To: "02:45", Days: []string{"sun"}},
			"2027-03-28T00:00:00+01:00", "2027-03-28T03:00:00+02:00"},
		"inside, the first time":  {newWindow("02:15", "02:45"), "2026-10-25T02:20:00+02:00", "2026-10-25T02:20:00+02:00"},
		"inside, the second time": {newWindow("02:15", "02:45"), "2026-10-25T02:20:00+01:00", "2026-10-25T02:20:00+01:00"},
		"between the two":         {newWindow("02:15", "02:45"), "2026-10-25T02:50:00+02:00", "2026-10-25T02:15:00+01:00"},
		"clocks go back into it":  {newWindow("01:00", "02:30"), "2026-10-25T02:40:00+02:00", "2026-10-25T02:00:00+01:00"},
		"after both":              {newWindow("02:15", "02:45"), "2026-10-25T02:45:00+01:00", "2026-10-26T02:15:00+01:00"},
	} {
		now, err := time.Parse(time.RFC3339, test.now)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := test.window.Next(now, berlin)
		if want, _ := time.Parse(time.RFC3339, test.want); !ok || !got.Equal(want) {
			t.Errorf("%s: from %s the next instant is %s, want %s", name, test.now, got.In(berlin).Format(time.RFC3339),
				test.want)
		}
	}
}

func TestZoneRejectsUnknownNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "Local", "local", "../etc/passwd", "/UTC", "Europe/Atlantis", "Europe//Berlin",
		"a b"} {
		if _, err := clock.Zone(name); err == nil {
			t.Errorf("%q was accepted as a zone", name)
		}
	}
}
