package lifecycle

import (
	"slices"
	"time"

	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/ent/recipient"
)

// The states of an email and their successors. A state without a row is final.
//
//	scheduled → cancelled                 by the caller, before its release
//	scheduled → sent                      released at its time
//	scheduled → queued → sent             its account was suspended at its time, and resumed later
//	scheduled, queued → failed            its time came, and sending is not allowed (any longer)
//	sent → delivered | bounced | failed   when the last recipient settles
//	delivered → bounced | failed          a report came back later: the recipient, or the message, was refused
var next = map[email.Status][]email.Status{
	email.StatusScheduled: {email.StatusQueued, email.StatusSent, email.StatusFailed, email.StatusCancelled},
	email.StatusQueued:    {email.StatusSent, email.StatusFailed},
	email.StatusSent:      {email.StatusDelivered, email.StatusBounced, email.StatusFailed},

	email.StatusDelivered: {email.StatusBounced, email.StatusFailed},
}

// UncommonValue returns the value of the column emails.uncommon for a status, "" for NULL. Most emails go from sent
// to delivered, keep NULL in that column and change no index.
func UncommonValue(s email.Status) string {
	if s == email.StatusSent || s == email.StatusDelivered {
		return ""
	}
	return string(s)
}

// MayBecome reports whether an email may change from one status to the other.
func MayBecome(from, to email.Status) bool {
	return slices.Contains(next[from], to)
}

// FinishedStatuses returns the statuses of emails of which nothing more will be sent. Such emails change only
// between these statuses.
func FinishedStatuses() []string {
	return []string{string(email.StatusDelivered), string(email.StatusBounced), string(email.StatusFailed),
		string(email.StatusCancelled)}
}

// RecipientSQL joins the recipient r with the row v of a batch by id and by its email, which determines the
// month if recipients are split by month. The email is compared as a range, so that no plan made for small
// tables looks up rows by email alone and reads all recipients of the email for each row. Attempts are looked
// up in the same way.
const RecipientSQL = `r.id = v.id AND r.email_id BETWEEN v.email_id AND v.email_id`

// RecipientCounts counts an email's recipients by state.
type RecipientCounts map[recipient.State]int

// OverallStatus returns the status of an email with these recipients: sent while one is open, then the worst. A
// failure is worse than a bounce, because this service or its configuration caused it.
func (t RecipientCounts) OverallStatus() email.Status {
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

// MaxAge is how long after acceptance or release a recipient is retried. RFC 5321 section 4.5.4.1 asks relays
// for at least 4-5 days, but a transactional email that is three days late is useless.
const MaxAge = 72 * time.Hour

// CodeExpired is the failure.code of email.failed for a message past its expires_at, and ExpiredDiagnostic is
// the diagnostic of its recipients. Expiry says nothing about the address, so it causes no suppression.
const (
	CodeExpired       = "expired"
	ExpiredDiagnostic = "the message was not delivered before its expires_at"
)

// SuppressedDiagnostic returns why a recipient of a blocked message receives nothing. reason is "" for a
// recipient that is not suppressed itself.
func SuppressedDiagnostic(reason string) string {
	if reason == "" {
		return "not sent: another recipient of the message is suppressed"
	}
	return "suppressed: " + reason
}

// DueChannel is the signal channel (runtime/storage/db) that is woken when recipients become due.
const DueChannel = "delivery"
