package smtpclient

import (
	"errors"
	"fmt"
)

// Kind is how an attempt ended.
type Kind string

// The kinds, see the package comment.
const (
	Delivered Kind = "delivered"
	Temporary Kind = "temporary"
	Permanent Kind = "permanent"
	Failed    Kind = "failed"
)

// Reason says why a Failed attempt could not succeed.
type Reason string

// The reasons.
const (
	ReasonNullMX           Reason = "null_mx"
	ReasonNoSuchDomain     Reason = "no_such_domain"
	ReasonTLSRequired      Reason = "tls_required"
	ReasonMessageTooLarge  Reason = "message_too_large"
	ReasonSMTPUTF8Required Reason = "smtputf8_required"
	ReasonPolicy           Reason = "policy" // refused on this side; Err says why
)

// Phase is how far an attempt came.
type Phase string

// The phases, in order.
const (
	PhaseEnvelope Phase = "envelope" // before anything was looked up
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

// ErrAddressGone is part of Outcome.Err where this machine does not have the source address
// of the way: nothing was attempted.
var ErrAddressGone = errors.New("there is no route: this machine does not have the source address")

// ErrClosed is in Outcome.Err after Transport.Close.
var ErrClosed = errors.New("smtp transport is closed")

// Outcome is the result of one attempt and everything worth recording about it.
type Outcome struct {
	Kind         Kind
	Reason       Reason // Failed only
	Phase        Phase  // where it ended
	Code         int    // of the deciding reply; 0: there was none
	EnhancedCode string // "5.1.1", or empty
	Reply        string // the deciding reply on one line, with its codes: "250 2.0.0 Ok: queued as 4XyZ"
	RemoteHost   string // the mail host's name
	RemoteAddr   string // its address and port
	LocalAddr    string // address and port on this side, where a connection was made
	TLS          string // "TLS 1.3", or empty in the clear
	TLSPolicy    TLSPolicy
	Ambiguous    bool  // the final dot went out, its reply did not come in
	Err          error // nil when delivered
}

// Diagnostic is the deciding reply, or what happened instead of one. A refused
// STARTTLS decides only because of somebody's demand, so that is told with it.
func (o Outcome) Diagnostic() string {
	if o.Reply != "" && (o.Phase != PhaseStartTLS || o.Err == nil) {
		return o.Reply
	}
	if o.Err != nil {
		return o.Err.Error()
	}
	return ""
}

func failed(phase Phase, reason Reason, format string, args ...any) Outcome {
	return Outcome{Kind: Failed, Phase: phase, Reason: reason, Err: fmt.Errorf(format, args...)}
}

func temporary(phase Phase, err error) Outcome {
	return Outcome{Kind: Temporary, Phase: phase, Err: err}
}

// from is an outcome of a host.
func (o Outcome) from(host target, addr string) Outcome {
	o.RemoteHost, o.RemoteAddr = host.name, addr
	return o
}

// orEarlier picks what to report when several hosts were tried in vain: a hope of
// success later wins over none, a server's words over our own, the later over the earlier.
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
