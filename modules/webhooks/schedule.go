package webhooks

import (
	"slices"
	"strings"
	"time"

	"github.com/postrider/postrider/ent/webhookattempt"
	"github.com/postrider/postrider/ent/webhookdelivery"
	"github.com/postrider/postrider/modules/webhooks/post"
)

// waits are the pauses after the first, second, … attempt that failed. The first
// attempt is made at once.
var waits = []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 2 * time.Minute}

// briefWaits are those of the endpoints of Brief: all five attempts fit into ten seconds.
var briefWaits = []time.Duration{time.Second, 2 * time.Second, 3 * time.Second, 3 * time.Second}

// waitsOf gives the pauses of an endpoint with a URL, as many for each.
func (s *deliverer) waitsOf(url string) []time.Duration {
	if s.brief != "" && strings.HasPrefix(url, s.brief) {
		return briefWaits
	}
	return waits
}

// Retries returns the pauses before the second, third, … attempt of a delivery. The
// document of the API publishes them.
func Retries() []time.Duration { return slices.Clone(waits) }

// answer is what came of one attempt.
type answer struct {
	post.Answer

	took  time.Duration
	final bool // another attempt cannot succeed either
	cut   bool // by our own stop: it says nothing of the endpoint
}

// verdict is what an answer means for its delivery.
type verdict struct {
	state   webhookdelivery.State
	outcome webhookattempt.Outcome
	wait    time.Duration // until the next attempt, of a pending one
}

// judge decides; round is the number of attempts since the delivery was queued or
// replayed, this one included.
func judge(a answer, round int, waits []time.Duration) verdict {
	switch {
	case a.Delivered():
		return verdict{state: webhookdelivery.StateDelivered, outcome: webhookattempt.OutcomeDelivered}
	case a.cut:
		return verdict{state: webhookdelivery.StatePending, outcome: webhookattempt.OutcomeUnknown}
	case a.Gone(), a.final, round > len(waits):
		return verdict{state: webhookdelivery.StateFailed, outcome: webhookattempt.OutcomeFailed}
	}
	return verdict{state: webhookdelivery.StatePending, outcome: webhookattempt.OutcomeFailed, wait: waits[max(round, 1)-1]}
}
