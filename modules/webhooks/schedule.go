package webhooks

import (
	"time"

	"github.com/postrider/postrider/ent/webhookattempt"
	"github.com/postrider/postrider/ent/webhookdelivery"
)

// waits are the pauses after the first, second, … attempt that failed. The first
// attempt is made at once.
var waits = []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 2 * time.Minute}

// answer is what came of one POST.
type answer struct {
	status   int    // 0: there was no answer
	failure  string // what happened instead, in words for the endpoint's owner
	response string // the beginning of the answer's body
	remote   string // address of the server
	took     time.Duration
	// final: another attempt cannot succeed either.
	final bool
	cut   bool // by our own stop: it says nothing of the endpoint
}

func (a answer) delivered() bool { return a.status >= 200 && a.status <= 299 }

// gone: the endpoint asks not to be told any more (RFC 9110 section 15.5.11).
func (a answer) gone() bool { return a.status == 410 }

// verdict is what an answer means for its delivery.
type verdict struct {
	state   webhookdelivery.State
	outcome webhookattempt.Outcome
	wait    time.Duration // until the next attempt, of a pending one
}

// judge decides; round is the number of attempts since the delivery was queued or
// replayed, this one included.
func judge(a answer, round int) verdict {
	switch {
	case a.delivered():
		return verdict{state: webhookdelivery.StateDelivered, outcome: webhookattempt.OutcomeDelivered}
	case a.cut:
		return verdict{state: webhookdelivery.StatePending, outcome: webhookattempt.OutcomeUnknown}
	case a.gone(), a.final, round > len(waits):
		return verdict{state: webhookdelivery.StateFailed, outcome: webhookattempt.OutcomeFailed}
	}
	return verdict{state: webhookdelivery.StatePending, outcome: webhookattempt.OutcomeFailed, wait: waits[max(round, 1)-1]}
}
