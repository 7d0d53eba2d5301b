package webhooks

import (
	"slices"
	"strings"
	"time"

	"github.com/postrider/postrider/ent/webhookattempt"
	"github.com/postrider/postrider/ent/webhookdelivery"
	"github.com/postrider/postrider/modules/webhooks/post"
)

// retryPauses are the pauses after failed attempts. The first attempt is immediate.
var retryPauses = []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 2 * time.Minute}

// briefRetryPauses are the pauses for endpoints that match Brief. All five attempts fit into ten seconds.
var briefRetryPauses = []time.Duration{time.Second, 2 * time.Second, 3 * time.Second, 3 * time.Second}

// pausesFor returns the retry pauses for an endpoint URL. Both schedules have the same length.
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
	final bool // further attempts cannot succeed
	cut   bool // interrupted because this process stopped; not the endpoint's fault
}

// verdict is the consequence of an attempt for its delivery.
type verdict struct {
	state   webhookdelivery.State
	outcome webhookattempt.Outcome
	wait    time.Duration // until the next attempt, if the delivery stays pending
}

// decideVerdict returns the consequence of an attempt. round counts the attempts since the delivery was queued
// or replayed, including this one.
func decideVerdict(a answer, round int, waits []time.Duration) verdict {
	switch {
	case a.IsDelivered():
		return verdict{state: webhookdelivery.StateDelivered, outcome: webhookattempt.OutcomeDelivered}
	case a.cut:
		return verdict{state: webhookdelivery.StatePending, outcome: webhookattempt.OutcomeUnknown}
	case a.IsGone(), a.final, round > len(waits):
		return verdict{state: webhookdelivery.StateFailed, outcome: webhookattempt.OutcomeFailed}
	}
	return verdict{state: webhookdelivery.StatePending, outcome: webhookattempt.OutcomeFailed,
		wait: waits[max(round, 1)-1]}
}
