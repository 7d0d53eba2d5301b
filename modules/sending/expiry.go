package sending

import (
	"errors"
	"time"

	"github.com/postrider/postrider/runtime/fault"
)

// An email may say until when it is of use: a code to sign in with, a reminder. What
// has not been delivered by then is not delivered late. Its open recipients
// fail with the code below, which suppresses nobody: it says nothing about the
// address. The database clock alone decides, at the release and at each claim.

// CodeExpired is failure.code of email.failed for a message whose expires_at has come.
const CodeExpired = "expired"

// expiredDiagnostic stands with the recipients of such a message.
const expiredDiagnostic = "the message was not delivered before its expires_at"

// MaxLife is how far after its sending a message may expire: by then retries end anyway.
const MaxLife = maxAge

// ValidateExpiry judges when a message expires that is sent at a time; the error
// is a reason to stand beside the field.
func ValidateExpiry(expires, sent, now time.Time) error {
	switch {
	case !expires.After(now):
		return errors.New("is not in the future")
	case !expires.After(sent):
		return errors.New("is not after scheduled_at")
	case expires.After(sent.Add(MaxLife)):
		return errors.New("is more than 72 hours after the message is sent")
	default:
		return nil
	}
}

func (m Message) validateExpiry(now time.Time, wrong fault.Fields) {
	if m.ExpiresAt == nil {
		return
	}
	sent := now
	if m.ScheduledAt != nil && m.ScheduledAt.After(now) {
		sent = *m.ScheduledAt
	}
	if err := ValidateExpiry(*m.ExpiresAt, sent, now); err != nil {
		wrong.Add("expires_at", "%s", err)
	}
}
