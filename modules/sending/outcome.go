package sending

import (
	"time"

	"github.com/postrider/postrider/ent/attempt"
	"github.com/postrider/postrider/ent/recipient"
	"github.com/postrider/postrider/runtime/event"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
)

// verdict is what an attempt means for its recipient.
type verdict struct {
	state   recipient.State
	wait    time.Duration // until the next attempt, when deferred
	outcome attempt.Outcome
	event   event.Type // "" for a deferral that was announced recently
}

// judge is pure: the receiving server's answer, the number of attempts and the
// age of the message decide.
func judge(d delivery, out smtpclient.Outcome) verdict {
	switch out.Kind {
	case smtpclient.Delivered:
		return verdict{state: recipient.StateDelivered, outcome: attempt.OutcomeDelivered, event: event.EmailDelivered}
	case smtpclient.Permanent:
		return verdict{state: recipient.StateBounced, outcome: attempt.OutcomeBounced, event: event.EmailBounced}
	case smtpclient.Failed:
		return verdict{state: recipient.StateFailed, outcome: attempt.OutcomeFailed, event: event.EmailFailed}
	}
	return judgeTemporary(d, out)
}

func judgeTemporary(d delivery, out smtpclient.Outcome) verdict {
	wait, again := nextAttempt(d.attempt, d.age)
	if !again {
		return verdict{state: recipient.StateBounced, outcome: attempt.OutcomeBounced, event: event.EmailBounced}
	}
	v := verdict{state: recipient.StateDeferred, wait: wait, outcome: attempt.OutcomeDeferred}
	if out.Ambiguous {
		v.outcome = attempt.OutcomeUnknown
	}
	if d.noticeDue {
		v.event = event.EmailDeliveryDelayed
	}
	return v
}

// describe fills in the part of the event's payload that is about the recipient.
func (v verdict) describe(data *event.Email, d delivery, out smtpclient.Outcome, now time.Time) {
	data.Recipient = d.address
	switch v.event {
	case event.EmailBounced:
		kind := "permanent"
		if out.Kind != smtpclient.Permanent {
			kind = "transient"
		}
		data.BounceReason = out.Diagnostic()
		data.Bounce = &event.Bounce{Type: kind, Code: out.Code, EnhancedCode: out.EnhancedCode, Diagnostic: out.Diagnostic(), RemoteMTA: out.RemoteHost, Attempt: d.attempt}
	case event.EmailDeliveryDelayed:
		data.Delay = &event.Delay{Attempt: d.attempt, NextAttemptAt: event.At(now.Add(v.wait)), Diagnostic: out.Diagnostic()}
	case event.EmailFailed:
		data.Failure = &event.Failure{Reason: out.Diagnostic(), Code: string(out.Reason)}
	}
}
