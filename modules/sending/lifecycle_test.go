package sending

import (
	"testing"
	"time"

	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/ent/recipient"
)

func TestOverallStatusIsTheWorstOnceAllHaveSettled(t *testing.T) {
	t.Parallel()
	const (
		queued, deferred            = recipient.StateQueued, recipient.StateDeferred
		delivered, bounced, failure = recipient.StateDelivered, recipient.StateBounced, recipient.StateFailed
	)
	for _, c := range []struct {
		in   tally
		want email.Status
	}{
		{tally{queued: 1}, email.StatusSent},
		{tally{delivered: 2, deferred: 1}, email.StatusSent},
		{tally{bounced: 1, queued: 1}, email.StatusSent},
		{tally{delivered: 3}, email.StatusDelivered},
		{tally{delivered: 3, bounced: 1}, email.StatusBounced},
		{tally{delivered: 3, bounced: 1, failure: 1}, email.StatusFailed},
	} {
		if got := c.in.overall(); got != c.want {
			t.Errorf("overall(%v) = %s, want %s", c.in, got, c.want)
		}
	}
}

func TestFinalStatesAreFinal(t *testing.T) {
	t.Parallel()
	for _, from := range []email.Status{email.StatusDelivered, email.StatusBounced, email.StatusFailed, email.StatusCancelled} {
		for _, to := range []email.Status{email.StatusSent, email.StatusDelivered, email.StatusBounced, email.StatusFailed} {
			late := from == email.StatusDelivered && to == email.StatusBounced // a bounce that comes later
			if mayBecome(from, to) != late {
				t.Errorf("%s may become %s: %v", from, to, !late)
			}
		}
	}
	if !mayBecome(email.StatusSent, email.StatusDelivered) {
		t.Error("sent may not become delivered")
	}
}

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
		{23, 70 * time.Hour, 2 * time.Hour, true}, // the last one falls on the limit
		{24, 72 * time.Hour, 0, false},
		{24, 80 * time.Hour, -8 * time.Hour, false},
	} {
		wait, again := nextAttempt(c.attempt, c.age)
		if wait != c.want || again != c.again {
			t.Errorf("nextAttempt(%d, %s) = %s, %v; want %s, %v", c.attempt, c.age, wait, again, c.want, c.again)
		}
	}
}
