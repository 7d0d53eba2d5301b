package smtpclient

import (
	"errors"
	"fmt"

	"github.com/postrider/postrider/runtime/mail/bounce"
)

// OutcomeKind is the kind of outcome of an attempt.
type OutcomeKind string

// The kinds, see the package comment.
const (
	Delivered OutcomeKind = "delivered"
	Temporary OutcomeKind = "temporary"
	Permanent OutcomeKind = "permanent"
	Failed    OutcomeKind = "failed"
)

// FailureReason explains why a Failed attempt could not succeed.
type FailureReason string

// The reasons.
const (
	ReasonNullMX           FailureReason = "null_mx"
	ReasonNoSuchDomain     FailureReason = "no_such_domain"
	ReasonTLSRequired      FailureReason = "tls_required"
	ReasonMessageTooLarge  FailureReason = "message_too_large"
	ReasonSMTPUTF8Required FailureReason = "smtputf8_required"
	ReasonPolicy           FailureReason = "policy" // rejected by this side; Err says why
)

// Phase is how far an attempt got.
type Phase string

// The phases, in order.
const (
	PhaseEnvelope Phase = "envelope" // before any lookup
	PhaseDNS      Phase = "dns"
	PhaseWait     Phase = "wait" // for room in the lane
	PhaseConnect  Phase = "connect"
	PhaseGreeting Phase = "greeting"
	PhaseEHLO     Phase = "ehlo"
	PhaseStartTLS Phase = "starttls"
	PhaseAuth     Phase = "auth"
	PhaseReset    Phase = "rset"
	PhaseMail     Phase = "mail"
	PhaseRcpt     Phase = "rcpt"
	PhaseData     Phase = "data"
	PhaseBody     Phase = "body"
	PhaseDot      Phase = "dot"
)

// ErrHeldBack is in Outcome.Err when beforeFinalDot stopped the message.
var ErrHeldBack = errors.New("held back before the final dot")

// ErrTooLong is in Outcome.Err when Config.Longest was reached.
var ErrTooLong = errors.New("the attempt took too long")

// ErrAddressGone is wrapped in Outcome.Err if this machine does not have the source address of the way:
// nothing was attempted.
var ErrAddressGone = errors.New("there is no route: this machine does not have the source address")

// ErrClosed is in Outcome.Err after Transport.Close.
var ErrClosed = errors.New("smtp transport is closed")

// Outcome is the result of one attempt, with everything worth recording.
type Outcome struct {
	Kind         OutcomeKind
	Reason       FailureReason // Failed only
	Phase        Phase         // where it ended
	Code         int           // of the deciding reply; 0 without a reply
	EnhancedCode string        // "5.1.1", or empty
	Reply        string        // the deciding reply on one line, including its codes: "250 2.0.0 Ok: queued as 4XyZ"
	RemoteHost   string        // the mail host's name
	RemoteAddr   string        // its address and port
	LocalAddr    string        // local address and port, if a connection was made
	TLS          string        // "TLS 1.3", or empty for plaintext
	TLSPolicy    TLSPolicy
	Ambiguous    bool  // the final dot was sent, its reply did not arrive
	Err          error // nil when delivered
}

// Diagnostic returns the deciding reply, or the error if there was no reply. A rejected STARTTLS decides only
// because of a requirement, which is then included.
func (o Outcome) Diagnostic() string {
	if o.Reply != "" && (o.Phase != PhaseStartTLS || o.Err == nil) {
		return o.Reply
	}
	if o.Err != nil {
		return o.Err.Error()
	}
	return ""
}

// Rejection returns the deciding reply for classification.
func (o Outcome) Rejection() bounce.Reply {
	return bounce.Reply{Code: o.Code, Enhanced: o.EnhancedCode, Text: o.Reply, Phase: rejectionPhase[o.Phase]}
}

// rejectionPhase maps the phases in which a server can reply.
var rejectionPhase = map[Phase]bounce.Phase{
	PhaseConnect: bounce.PhaseSession, PhaseGreeting: bounce.PhaseSession, PhaseEHLO: bounce.PhaseSession,
	PhaseStartTLS: bounce.PhaseSession, PhaseAuth: bounce.PhaseSession, PhaseReset: bounce.PhaseSession,
	PhaseMail: bounce.PhaseSender, PhaseRcpt: bounce.PhaseRecipient,
	PhaseData: bounce.PhaseMessage, PhaseBody: bounce.PhaseMessage, PhaseDot: bounce.PhaseMessage,
}

func newFailure(phase Phase, reason FailureReason, format string, args ...any) Outcome {
	return Outcome{Kind: Failed, Phase: phase, Reason: reason, Err: fmt.Errorf(format, args...)}
}

func newTemporary(phase Phase, err error) Outcome {
	return Outcome{Kind: Temporary, Phase: phase, Err: err}
}

// withHost adds the host to an outcome.
func (o Outcome) withHost(host target, addr string) Outcome {
	o.RemoteHost, o.RemoteAddr = host.name, addr
	return o
}

// orEarlier selects the outcome to report if several hosts failed: a retryable outcome over others, a server's
// reply over our own errors, the later over the earlier.
func (o Outcome) orEarlier(earlier *Outcome) Outcome {
	switch {
	case earlier == nil:
		return o
	case o.Kind != earlier.Kind:
		if earlier.Kind == Temporary {
			return *earlier
		}
		return o
	case o.Code == 0 && earlier.Code != 0:
		return *earlier
	}
	return o
}
