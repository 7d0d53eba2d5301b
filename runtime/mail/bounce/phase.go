package bounce

// Phase is the part of an SMTP transaction in which a server rejected.
type Phase string

// The phases.
const (
	PhaseUnknown   Phase = ""          // a report does not say
	PhaseSession   Phase = "session"   // connection, greeting, EHLO, STARTTLS or AUTH
	PhaseSender    Phase = "sender"    // MAIL
	PhaseRecipient Phase = "recipient" // RCPT
	PhaseMessage   Phase = "message"   // DATA, the message, or after the final dot
)

// Phases lists all phases.
var Phases = []Phase{PhaseUnknown, PhaseSession, PhaseSender, PhaseRecipient, PhaseMessage}

// concernsRecipient reports whether a rejection without a reason can be about the recipient.
func (p Phase) concernsRecipient() bool { return p == PhaseRecipient || p == PhaseUnknown }

// mayConcernRecipient reports whether the reply, which has no known reason, can be about the recipient.
func (r Reply) mayConcernRecipient() bool {
	return r.Phase.concernsRecipient() && (r.Phase != PhaseUnknown || r.Code != 554)
}

// precedesRecipient reports whether the server could not know the recipient.
func (p Phase) precedesRecipient() bool { return p == PhaseSession || p == PhaseSender }

// fitPhase corrects a class that is impossible or unfounded in the phase of the reply. vague reports that
// neither a definite code nor a word about the address or mailbox decided.
func (r Reply) fitPhase(class Class, vague bool) Class {
	if r.Phase.concernsRecipient() || !class.Bounces() {
		return class
	}
	switch {
	case vague && r.isPermanent():
		return Unknown
	case !r.Phase.precedesRecipient() || r.Code == 521 || r.Code == 556:
		return class
	case class.Hard():
		return Policy // it is the sender's address, domain or host that does not exist
	case class == MailboxFull && r.isPermanent():
		return Unknown
	}
	return class
}
