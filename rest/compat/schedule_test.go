package compat_test

import (
	"testing"
	"time"

	"github.com/postrider/postrider/rest/compat"
)

func TestParseTime(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 25, 10, 30, 0, 0, time.UTC) // a Wednesday
	for text, want := range map[string]string{
		"2026-12-01T09:00:00Z":       "2026-12-01T09:00:00Z",
		"2026-12-01T09:00:00+02:00":  "2026-12-01T07:00:00Z",
		"2026-12-01 09:00:00.123+00": "2026-12-01T09:00:00.123Z",
		"in 1 hour":                  "2026-11-25T11:30:00Z",
		"in an hour":                 "2026-11-25T11:30:00Z",
		"In 1 Min":                   "2026-11-25T10:31:00Z",
		"in 2 days and 3 hours":      "2026-11-27T13:30:00Z",
		"in 30 s":                    "2026-11-25T10:30:30Z",
		"in half an hour":            "2026-11-25T11:00:00Z",
		"2 weeks from now":           "2026-12-09T10:30:00Z",
		"in 1 month":                 "2026-12-25T10:30:00Z",
		"tomorrow at 9am":            "2026-11-26T09:00:00Z",
		"tomorrow":                   "2026-11-26T09:00:00Z",
		"today at 5:15 pm":           "2026-11-25T17:15:00Z",
		"at 9am":                     "2026-11-26T09:00:00Z",
		"9am":                        "2026-11-26T09:00:00Z",
		"friday at 3pm ET":           "2026-11-27T20:00:00Z",
		"next wednesday at noon":     "2026-12-02T12:00:00Z",
		"wednesday at 9am":           "2026-12-02T09:00:00Z",
		"wednesday at 11am":          "2026-11-25T11:00:00Z",
		"monday 15:30 PST":           "2026-11-30T23:30:00Z",
	} {
		at, _, err := compat.ParseTime(text, now)
		if err != nil {
			t.Errorf("ParseTime(%q): %v, want %s", text, err, want)
		} else if got := at.UTC().Format(time.RFC3339Nano); got != want {
			t.Errorf("ParseTime(%q) = %s, want %s", text, got, want)
		}
	}
	for _, text := range []string{"", "soon", "2026-12-01T09:00:00", "in a while", "in -1 hour", "tomorrow at 25:00",
		"friday at 13pm", "someday at 9am", "friday at 3pm MARS", "in", "in 1 hour maybe", "7"} {
		if at, _, err := compat.ParseTime(text, now); err == nil {
			t.Errorf("ParseTime(%q) = %s, want an error", text, at)
		}
	}
	if _, relative, err := compat.ParseTime("in 1 hour", now); err != nil || !relative {
		t.Errorf(`ParseTime("in 1 hour") reports relative %t, %v; want true`, relative, err)
	}
}
