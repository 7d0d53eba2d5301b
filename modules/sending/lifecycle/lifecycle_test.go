package lifecycle

import (
	"testing"

	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/ent/recipient"
)

func TestOverallStatusIsWorstOfSettled(t *testing.T) {
	t.Parallel()
	const (
		queued, deferred            = recipient.StateQueued, recipient.StateDeferred
		delivered, bounced, failure = recipient.StateDelivered, recipient.StateBounced, recipient.StateFailed
	)
	for _, c := range []struct {
		in   RecipientCounts
		want email.Status
	}{
		{RecipientCounts{queued: 1}, email.StatusSent},
		{RecipientCounts{delivered: 2, deferred: 1}, email.StatusSent},
		{RecipientCounts{bounced: 1, queued: 1}, email.StatusSent},
		{RecipientCounts{delivered: 3}, email.StatusDelivered},
		{RecipientCounts{delivered: 3, bounced: 1}, email.StatusBounced},
		{RecipientCounts{delivered: 3, bounced: 1, failure: 1}, email.StatusFailed},
	} {
		if got := c.in.OverallStatus(); got != c.want {
			t.Errorf("Overall(%v) = %s, want %s", c.in, got, c.want)
		}
	}
}

func TestFinalStatesAreFinal(t *testing.T) {
	t.Parallel()
	for _, from := range []email.Status{email.StatusDelivered, email.StatusBounced, email.StatusFailed,
		email.StatusCancelled} {
		for _, to := range []email.Status{email.StatusSent, email.StatusDelivered, email.StatusBounced,
			email.StatusFailed} {
			// a report may arrive later
			late := from == email.StatusDelivered && (to == email.StatusBounced || to == email.StatusFailed)
			if MayBecome(from, to) != late {
				t.Errorf("%s may become %s: %v", from, to, !late)
			}
		}
	}
	if !MayBecome(email.StatusSent, email.StatusDelivered) {
		t.Error("sent may not become delivered")
	}
}
