package sending

import (
	"time"
)

// How far from now the time of a scheduled email may be.
const (
	schedulePast   = 60 * time.Second     // a clock that is behind still schedules
	scheduleFuture = 365 * 24 * time.Hour // ahead
)

// wrongSchedule is what is wrong with scheduled_at, "" for nothing. The time of
// release itself is judged by the database clock alone.
func wrongSchedule(at, now time.Time) string {
	switch {
	case at.Before(now.Add(-schedulePast)):
		return "is more than 60 seconds in the past"
	case at.After(now.Add(scheduleFuture)):
		return "is more than 365 days ahead"
	}
	return ""
}
