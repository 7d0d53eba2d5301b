package sending

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/postrider/postrider/modules/sending/lifecycle"
	"github.com/postrider/postrider/modules/sending/unsubscribe"
	"github.com/postrider/postrider/modules/suppression"
	"github.com/postrider/postrider/runtime/base/fault"
)

// How far from now a message may be scheduled. A time in the recent past is attributed to a slow request or a
// slow clock; an older one is treated as a mistake.
const (
	MaxLate  = 60 * time.Second
	MaxAhead = 365 * 24 * time.Hour
)

// ValidateSchedule checks a scheduled time. The error is a message about the field. The database clock alone
// decides the release itself.
func ValidateSchedule(at, now time.Time) error {
	switch {
	case at.Before(now.Add(-MaxLate)):
		return errors.New("cannot be more than 60 seconds in the past")
	case at.After(now.Add(MaxAhead)):
		return errors.New("cannot be more than 365 days in the future")
	default:
		return nil
	}
}

// dueAt returns when an email scheduled for a past time is due. If the day of that time is over, it is due now,
// so that it does not count against yesterday's caps.
func dueAt(at, now time.Time) time.Time {
	if today := now.UTC().Truncate(24 * time.Hour); at.Before(today) {
		return now.UTC().Truncate(time.Millisecond)
	}
	return at
}

func (m Message) validateSchedule(now time.Time, wrong fault.Fields) {
	if m.ScheduledAt == nil {
		return
	}
	if err := ValidateSchedule(*m.ScheduledAt, now); err != nil {
		wrong.Add("scheduled_at", "%s", err)
	}
	if m.fileCount() > 0 {
		wrong.Add("attachments", "cannot be combined with scheduled_at")
	}
}

func (m Message) validateTemplate(wrong fault.Fields) {
	if t := m.Template; t != nil && (t.ID == "") == (t.Alias == "") {
		wrong.Add("template", "must have exactly one of id and alias")
	}
}

func (m Message) validateUnsubscribe(wrong fault.Fields) {
	if m.Category != "" {
		if err := suppression.ValidateCategory(m.Category); err != nil {
			wrong.Add("category", "%s", err)
		}
	}
	if m.Unsubscribe == nil || !*m.Unsubscribe {
		if m.Unsubscribe != nil || m.Template == nil { // otherwise the template decides
			m.refuseToken(wrong)
		}
		return
	}
	m.refuseManyTokens(wrong)
	for _, h := range m.Headers {
		if strings.EqualFold(h.Name, unsubscribe.Field) || strings.EqualFold(h.Name, unsubscribe.FieldPost) {
			wrong.Add("headers."+h.Name, "cannot be set when unsubscribe is true")
		}
	}
}

// refuseToken rejects a message that contains a placeholder for the unsubscribe link if no link will be
// inserted, because its recipients would see the placeholder.
func (m Message) refuseToken(wrong fault.Fields) {
	const reason = "cannot contain {{unsubscribe_url}} unless unsubscribe is true"
	if unsubscribe.InSubjectOrText(m.Subject) {
		wrong.Add("subject", reason)
	}
	if unsubscribe.InMarkup(m.HTML) {
		wrong.Add("html", reason)
	}
	if unsubscribe.InSubjectOrText(m.Text) {
		wrong.Add("text", reason)
	}
	if m.Relayed != nil && m.Relayed.Places > 0 {
		wrong.Add("unsubscribe", "must be true for a message that contains {{unsubscribe_url}}")
	}
}

// refuseManyTokens rejects a message with too many placeholders for the link. The subject has a separate limit,
// which includes the link.
func (m Message) refuseManyTokens(wrong fault.Fields) {
	reason := fmt.Sprintf("cannot contain {{unsubscribe_url}} more than %d times", unsubscribe.MaxPlaces)
	if unsubscribe.PlacesInMarkup(m.HTML) > unsubscribe.MaxPlaces {
		wrong.Add("html", "%s", reason)
	}
	if unsubscribe.PlacesInText(m.Text) > unsubscribe.MaxPlaces {
		wrong.Add("text", "%s", reason)
	}
	if m.Relayed != nil && m.Relayed.Places > unsubscribe.MaxPlaces {
		wrong.Add("unsubscribe", "cannot be true: the message %s", reason)
	}
}

// Places returns the number of {{unsubscribe_url}} placeholders in the bodies. In each body, counting stops
// shortly after the maximum.
func Places(html, text string) int {
	return unsubscribe.PlacesInMarkup(html) + unsubscribe.PlacesInText(text)
}

// MaxLife is how long after it is sent a message may expire. Retries end by then.
const MaxLife = lifecycle.MaxAge

// ValidateExpiry checks the expiry of a message that is sent at a given time. The error is a message about the
// field.
func ValidateExpiry(expires, sent, now time.Time) error {
	switch {
	case !expires.After(now):
		return errors.New("must be in the future")
	case !expires.After(sent):
		return errors.New("must be after scheduled_at")
	case expires.After(sent.Add(MaxLife)):
		return errors.New("must be at most 72 hours after the message is sent")
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
