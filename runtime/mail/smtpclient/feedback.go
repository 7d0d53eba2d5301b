package smtpclient

import (
	"context"
	"errors"

	"github.com/postrider/postrider/runtime/mail/bounce"
	"github.com/postrider/postrider/runtime/mail/lane"
)

// laneFeedback returns the feedback of an attempt for its lane. The failure of one of several hosts does not
// count if another host answered.
func (d *delivery) laneFeedback(ctx context.Context, out Outcome) lane.Feedback {
	switch {
	case out.Kind == Delivered:
		return lane.Feedback{Delivered: true}
	case out.isThrottling():
		return lane.Feedback{Throttled: true, Reason: out.Diagnostic()}
	case d.greeted:
		return lane.Feedback{Refused: true}
	case !d.dialled, out.Kind == Failed, errors.Is(out.Err, ErrAddressGone), ctx.Err() != nil &&
		!errors.Is(context.Cause(ctx), ErrTooLong):
		return lane.Feedback{} // nothing was learned about the receiver
	}
	return lane.Feedback{Unreachable: true, Reason: out.Diagnostic()}
}

// isThrottling reports whether the server wants less traffic from us altogether: 421, any 4xx before a message
// was involved, and replies known to be about too much traffic. A 5xx about reputation refers to one
// message; in a greeting, to all of them.
func (o Outcome) isThrottling() bool {
	if o.Code < 400 || o.Phase == PhaseStartTLS || o.Phase == PhaseAuth {
		return false
	}
	early := o.Phase == PhaseGreeting || o.Phase == PhaseEHLO
	class := bounce.Classify(o.Rejection())
	return o.Code == 421 || class == bounce.Throttle || class.Throttles() && (o.Code < 500 || early) || early &&
		o.Code < 500
}
