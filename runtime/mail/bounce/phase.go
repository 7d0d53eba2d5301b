package bounce

import "regexp"

// Phase is the part of an SMTP transaction in which a server rejected.
type Phase string

// The phases.
const (
	PhaseUnknown   Phase = ""          // not named in a report
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
	switch r.Phase {
	case PhaseRecipient:
		return true
	case PhaseUnknown:
		text := normalizeText(r.Text)
		return r.Code != 554 && (!rejected.MatchString(text) || recipientNoun.MatchString(text))
	case PhaseSession, PhaseSender, PhaseMessage:
	}
	return false
}

var (
	// rejected matches the words that servers use for messages. They do not use them for addresses that do not exist.
	rejected = regexp.MustCompile(`\b(?:reject(?:ed|ion)?|refuse[ds]?|denied|prohibited|not accept(?:ed|able|ing)?|not welcome|unwelcome|not wanted|unwanted|bounced by|disallowed|forbidden|` +
		`abgelehnt|verweigert|zurückgewiesen|nicht (?:akzeptiert|angenommen)|rejet[eé]e?|refusée?|rechazado|denegado|rifiutat[oa]|geweigerd|odrzucon[aey]|zablokowan[aey])\b|отклонен|отклонён|отказано|заблокирован|拒绝|拒絕|拒否|차단|거부`)
	recipientNoun = regexp.MustCompile(`\b(?:recipient|address|user|mailbox|account|alias|empfänger|adresse|destinataire|destinatario|użytkownik|adres)\b|получател|адрес|收件人|宛先|수신자`) //nolint:misspell // Dutch and Polish
)

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
	case class.IsHard():
		return Policy // it is the sender's address, domain or host that does not exist
	case class == MailboxFull && r.isPermanent():
		return Unknown
	}
	return class
}
