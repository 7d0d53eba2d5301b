package lifecycle

import (
	"slices"
	"time"

	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/ent/recipient"
)

// The states of an email and what may follow. A state without a row is final.
//
//	scheduled → cancelled                 by the caller, before its release
//	scheduled → sent                      released at its time
//	scheduled → queued → sent             its account was suspended at its time, and resumed later
//	scheduled, queued → failed            at its time it may not be sent (any more)
//	sent → delivered | bounced | failed   when the last recipient settles
//	delivered → bounced | failed          a report came back later: the recipient, or the message, was refused
var next = map[email.Status][]email.Status{
	email.StatusScheduled: {email.StatusQueued, email.StatusSent, email.StatusFailed, email.StatusCancelled},
	email.StatusQueued:    {email.StatusSent, email.StatusFailed},
	email.StatusSent:      {email.StatusDelivered, email.StatusBounced, email.StatusFailed},

	email.StatusDelivered: {email.StatusBounced, email.StatusFailed},
}

// Uncommon gives the column emails.uncommon for a status, "" for NULL. Most emails go from
// sent to delivered, have NULL there and change no index.
func Uncommon(s email.Status) string {
	if s == email.StatusSent || s == email.StatusDelivered {
		return ""
	}
	return string(s)
}

// MayBecome tells whether an email may go from one status to the other.
func MayBecome(from, to email.Status) bool {
	return slices.Contains(next[from], to)
}

// Finished gives the statuses after which nothing of an email is sent any more. Of these none becomes
// another that is not one of them.
func Finished() []string {
	return []string{string(email.StatusDelivered), string(email.StatusBounced), string(email.StatusFailed), string(email.StatusCancelled)}
}

// RecipientSQL finds the recipient r of the row v of a batch, by its number, and says by its email in which month it is,
// where recipients are split by month. It is a range, so that no plan that was made for small tables finds it by its email
// alone: that would read all recipients of the email for each of them. Attempts are found likewise.
const RecipientSQL = `r.id = v.id AND r.email_id BETWEEN v.email_id AND v.email_id`

// Tally counts an email's recipients by state.
type Tally map[recipient.State]int

// Overall gives the status of an email with these recipients: sent while one is open, then
// the worst. A failure is worse than a bounce, because we or the configuration caused it.
func (t Tally) Overall() email.Status {
	switch {
	case t[recipient.StateQueued] > 0 || t[recipient.StateDeferred] > 0:
		return email.StatusSent
	case t[recipient.StateFailed] > 0:
		return email.StatusFailed
	case t[recipient.StateBounced] > 0:
		return email.StatusBounced
	default:
		return email.StatusDelivered
	}
}

// MaxAge is how long after acceptance or release a recipient is retried. RFC 5321 section
// 4.5.4.1 asks for at least 4-5 days of a relay; a transactional mail that is three days
// late helps nobody.
const MaxAge = 72 * time.Hour

// CodeExpired is failure.code of email.failed for a message whose expires_at has come, and
// ExpiredDiagnostic stands with its recipients. Expiry suppresses nobody: it says nothing
// about the address.
const (
	CodeExpired       = "expired"
	ExpiredDiagnostic = "the message was not delivered before its expires_at"
)

// SuppressedDiagnostic says why a recipient of a blocked message is not written to. The
// reason is "" for one who is not suppressed himself.
func SuppressedDiagnostic(reason string) string {
	if reason == "" {
		return "not sent: another recipient of the message is suppressed"
	}
	return "suppressed: " + reason
}

// DueChannel is the channel of runtime/storage/db's signals that is woken when recipients became
// due.
const DueChannel = "delivery"
