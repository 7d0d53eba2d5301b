package delivery

import (
	"testing"
	"time"
)

func TestRetriesFollowTheScheduleUntilTheLimit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		attempt int
		age     time.Duration
		want    time.Duration
		again   bool
	}{
		{1, time.Second, time.Minute, true},
		{2, time.Minute, 5 * time.Minute, true},
		{7, 8 * time.Hour, 4 * time.Hour, true},
		{20, 60 * time.Hour, 4 * time.Hour, true},
		{23, 70 * time.Hour, 2 * time.Hour, true}, // the last attempt falls on the limit
		{24, 72 * time.Hour, 0, false},
		{24, 80 * time.Hour, -8 * time.Hour, false},
	} {
		wait, again := nextAttempt(c.attempt, c.age)
		if wait != c.want || again != c.again {
			t.Errorf("nextAttempt(%d, %s) = %s, %v; want %s, %v", c.attempt, c.age, wait, again, c.want, c.again)
		}
	}
}
