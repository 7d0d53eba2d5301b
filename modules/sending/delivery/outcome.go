package delivery

import (
	"cmp"
	"errors"
	"time"

	"github.com/postrider/postrider/ent/attempt"
	"github.com/postrider/postrider/ent/recipient"
	"github.com/postrider/postrider/modules/outbound"
	"github.com/postrider/postrider/modules/sending/lifecycle"
	"github.com/postrider/postrider/runtime/mail/bounce"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
	"github.com/postrider/postrider/runtime/work/event"
)

// verdict is the consequence of an attempt for its recipient.
type verdict struct {
	state   recipient.State
	wait    time.Duration // until the next attempt, when deferred
	outcome attempt.Outcome
	event   event.Type // "" for a deferral that was announced recently
	via     string     // route of the next attempt
}

// judgeOutcome is pure: it decides by the receiving server's reply, the number of attempts and the age of the
// message.
func judgeOutcome(d Job, out smtpclient.Outcome) verdict {
	switch out.Kind {
	case smtpclient.Delivered:
		return verdict{state: recipient.StateDelivered, outcome: attempt.OutcomeDelivered, event: event.EmailDelivered}
	case smtpclient.Permanent, smtpclient.Failed:
		return finalVerdict(out)
	}
	return judgeTemporary(d, out)
}

func judgeTemporary(d Job, out smtpclient.Outcome) verdict {
	wait, again := nextAttempt(d.attempt, d.age)
	if d.message != nil && d.message.Expires {
		wait = min(wait, max(d.message.Life, 0)) // due again when it expires at the latest
	}
	if !again {
		return finalVerdict(out)
	}
	v := verdict{state: recipient.StateDeferred, wait: wait, outcome: attempt.OutcomeDeferred, via: d.via}
	if out.Ambiguous {
		v.outcome = attempt.OutcomeUnknown
	}
	if d.noticeDue {
		v.event = event.EmailDeliveryDelayed
	}
	if errors.Is(out.Err, smtpclient.ErrHeldBack) && d.attempt <= heldBackTries {
		v.wait, v.event = min(v.wait, heldBackWait), ""
	}
	return v
}

// finalVerdict returns the verdict if nothing more is tried. It is a bounce if the recipient was refused or was
// never reached. Otherwise the delivery failed, because the message or its sender was refused. The phase of the
// transaction decides about a refusal without a known reason.
func finalVerdict(out smtpclient.Outcome) verdict {
	if out.Kind != smtpclient.Failed && (out.Code == 0 || bounce.Judge(out.Rejection()).Bounces) {
		return verdict{state: recipient.StateBounced, outcome: attempt.OutcomeBounced, event: event.EmailBounced}
	}
	return verdict{state: recipient.StateFailed, outcome: attempt.OutcomeFailed, event: event.EmailFailed}
}

// If we hold a message back because we may no longer own the delivery, that says nothing about the receiver,
// so it is tried again soon. After a few tries, the cause may be a lasting fault of ours, and the usual waits
// apply.
const (
	heldBackWait  = 5 * time.Second
	heldBackTries = 3
)

// divertToFallback returns the verdict if the sender has a smarthost as a fallback for failures of the direct way: the
// next attempt is made immediately, through the smarthost.
func divertToFallback(out smtpclient.Outcome) (verdict, bool) {
	blocked := out.Kind == smtpclient.Permanent || out.Kind == smtpclient.Temporary
	blocked = blocked && out.Code != 0 && classOf(out) == bounce.Block
	nobody := out.Kind == smtpclient.Temporary && out.Phase == smtpclient.PhaseConnect
	if out.Ambiguous || !blocked && !nobody {
		return verdict{}, false
	}
	return verdict{state: recipient.StateDeferred, outcome: attempt.OutcomeDeferred, via: outbound.ViaFallback}, true
}

// classOf returns the bounce class of an outcome, or "" for a delivery.
func classOf(out smtpclient.Outcome) bounce.Class {
	switch {
	case out.Kind == smtpclient.Delivered:
		return ""
	case out.Code != 0:
		return bounce.Classify(out.Rejection())
	case out.Kind == smtpclient.Failed:
		return failureClass[out.Reason]
	default:
		return bounce.System // no server replied: the way out does not work
	}
}

var failureClass = map[smtpclient.FailureReason]bounce.Class{
	smtpclient.ReasonNullMX: bounce.BadDomain, smtpclient.ReasonNoSuchDomain: bounce.BadDomain,
	smtpclient.ReasonMessageTooLarge: bounce.Size, smtpclient.ReasonTLSRequired: bounce.Policy,
	smtpclient.ReasonSMTPUTF8Required: bounce.Policy, smtpclient.ReasonPolicy: bounce.Policy,
	lifecycle.CodeExpired: bounce.Policy,
}

// describe fills in the part of the event's payload that is about the recipient.
func (v verdict) describe(data *event.Email, d Job, out smtpclient.Outcome, now time.Time) {
	data.Recipient = d.address
	switch v.event {
	case event.EmailBounced:
		kind := "permanent"
		if out.Kind != smtpclient.Permanent {
			kind = "transient"
		}
		data.BounceReason = out.Diagnostic()
		data.Bounce = &event.Bounce{Type: kind, Code: out.Code, EnhancedCode: out.EnhancedCode,
			Diagnostic: out.Diagnostic(), RemoteMTA: out.RemoteHost, Attempt: d.attempt}
	case event.EmailDeliveryDelayed:
		data.Delay = &event.Delay{Attempt: d.attempt, NextAttemptAt: event.NewTime(now.Add(v.wait)),
			Diagnostic: out.Diagnostic()}
	case event.EmailFailed:
		data.Failure = &event.Failure{Reason: out.Diagnostic(), Code: cmp.Or(string(out.Reason), string(classOf(out)))}
	}
}
