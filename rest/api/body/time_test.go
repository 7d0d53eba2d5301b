package body

import (
	"strings"
	"testing"
	"time"
)

func TestTimesThatAreRead(t *testing.T) {
	t.Parallel()
	want := time.Date(2026, 1, 15, 9, 30, 0, 0, time.UTC)
	for text, refused := range map[string]string{
		"2026-01-15T09:30:00Z":      "",
		"2026-01-15T09:30:00.000Z":  "",
		"2026-01-15t09:30:00z":      "",
		"2026-01-15T10:30:00+01:00": "",
		"2026-01-15T10:30:00+0100":  "",
		"2026-01-15T10:30:00+01":    "",
		"2026-01-15T09:30Z":         "",
		"2026-01-15T04:00:00-05:30": "",
		"2026-01-15T09:30:00":       "must include a UTC offset, for example 2026-01-15T09:30:00Z",
		"2026-01-15T09:30":          "must include a UTC offset",
		"2026-01-15":                "must be an ISO 8601 time",
		"2026-01-15 09:30:00Z":      "must be an ISO 8601 time",
		"2026-02-30T09:30:00Z":      "must be an ISO 8601 time",
		"2026-01-15T24:00:00Z":      "must be an ISO 8601 time",
		"in 5 minutes":              "must be an ISO 8601 time",
		"1768469400":                "must be an ISO 8601 time",
		"":                          "must be an ISO 8601 time",
		"2026-01-15T09:30:00Z\n":    "must be an ISO 8601 time",
		"2026-01-15T09:30:00Z" + strings.Repeat(" ", 99): "must be an ISO 8601 time",
	} {
		d := newDecoder()
		v, err := parseJSON([]byte(`{"at":"` + strings.ReplaceAll(text, "\n", `\n`) + `"}`))
		if err != nil {
			t.Fatal(err)
		}
		for _, member := range v.Members() {
			at, ok := d.Time("at", member)
			switch reason := d.wrong["at"]; {
			case ok != (refused == "") || ok && !at.Equal(want):
				t.Errorf("the time %q is read as %v (read: %v) with the reason %q, want %v or the reason %q", text, at,
					ok, reason, want, refused)
			case !strings.HasPrefix(reason, refused):
				t.Errorf("%q is refused with %q, want %q", text, reason, refused)
			}
		}
	}
}
