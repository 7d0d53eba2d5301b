package webhooks

import (
	"slices"
	"strings"
	"time"

	"github.com/postrider/postrider/ent/webhookattempt"
	"github.com/postrider/postrider/ent/webhookdelivery"
	"github.com/postrider/postrider/modules/webhooks/post"
)

// retryPauses are the pauses after each failed attempt. The first attempt is made immediately.
var retryPauses = []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 2 * time.Minute}

// briefRetryPauses are the pauses for endpoints that match Brief: all five attempts fit into ten seconds.
var briefRetryPauses = []time.Duration{time.Second, 2 * time.Second, 3 * time.Second, 3 * time.Second}

// pausesFor returns the pauses for an endpoint URL. Both schedules have the same length.
func (s *deliverer) pausesFor(url string) []time.Duration {
	if s.brief != "" && strings.HasPrefix(url, s.brief) {
		return briefRetryPauses
	}
	return retryPauses
}

// Retries returns the pauses before the second, third, … attempt of a delivery. The API documentation
// publishes them.
func Retries() []time.Duration { return slices.Clone(retryPauses) }

// answer is the result of one attempt.
type answer struct {
	post.Result

	took  time.Duration
	final bool // another attempt cannot succeed
	cut   bool // interrupted because this process stopped; says nothing about the endpoint
}

// verdict is the effect of an answer on its delivery.
type verdict struct {
	state   webhookdelivery.State
	outcome webhookattempt.Outcome
	wait    time.Duration // until the next attempt, if pending
}

// decideVerdict returns the verdict. round is the number of attempts since the delivery was queued or replayed,
// including this one.
func decideVerdict(a answer, round int, waits []time.Duration) verdict {
	switch {
	case a.Delivered():
		return verdict{state: webhookdelivery.StateDelivered, outcome: webhookattempt.OutcomeDelivered}
	case a.cut:
		return verdict{state: webhookdelivery.StatePending, outcome: webhookattempt.OutcomeUnknown}
	case a.Gone(), a.final, round > len(waits):
		return verdict{state: webhookdelivery.StateFailed, outcome: webhookattempt.OutcomeFailed}
	}
	return verdict{state: webhookdelivery.StatePending, outcome: webhookattempt.OutcomeFailed,
		wait: waits[max(round, 1)-1]}
}
