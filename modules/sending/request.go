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

// How far from now a message may be scheduled. What is a moment late is taken for
// a slow request or a clock that is behind, what is more for a mistake.
const (
	MaxLate  = 60 * time.Second
	MaxAhead = 365 * 24 * time.Hour
)

// ValidateSchedule judges a time to send at; the error is a reason to stand beside
// the field. The release itself is judged by the database clock alone.
func ValidateSchedule(at, now time.Time) error {
	switch {
	case at.Before(now.Add(-MaxLate)):
		return errors.New("is more than 60 seconds in the past")
	case at.After(now.Add(MaxAhead)):
		return errors.New("is more than 365 days ahead")
	default:
		return nil
	}
}

// dueAt gives the time that an email is due at which was scheduled for the past: now, if the
// day it was scheduled for is over. Nobody sends on the caps of yesterday.
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
	if m.files() > 0 {
		wrong.Add("attachments", "are not accepted with scheduled_at")
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
		if m.Unsubscribe != nil || m.Template == nil { // else the template says
			m.refuseToken(wrong)
		}
		return
	}
	m.refuseCrowd(wrong)
	for _, h := range m.Headers {
		if strings.EqualFold(h.Name, unsubscribe.Field) || strings.EqualFold(h.Name, unsubscribe.FieldPost) {
			wrong.Add("headers."+h.Name, "is written by the service when unsubscribe is true")
		}
	}
}

// refuseToken refuses a message with a place for a link that nobody would put in: its
// recipients would see the place.
func (m Message) refuseToken(wrong fault.Fields) {
	const reason = "contains {{unsubscribe_url}}, and unsubscribe is off: the recipient would see it"
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
		wrong.Add("unsubscribe", "must be true for a message that contains {{unsubscribe_url}}: the recipient would see it")
	}
}

// refuseCrowd refuses a message with too many places for the link. The subject has a bound
// of its own, with the link in it.
func (m Message) refuseCrowd(wrong fault.Fields) {
	reason := fmt.Sprintf("contains {{unsubscribe_url}} more than %d times", unsubscribe.MaxPlaces)
	if unsubscribe.PlacesInMarkup(m.HTML) > unsubscribe.MaxPlaces {
		wrong.Add("html", "%s", reason)
	}
	if unsubscribe.PlacesInText(m.Text) > unsubscribe.MaxPlaces {
		wrong.Add("text", "%s", reason)
	}
	if m.Relayed != nil && m.Relayed.Places > unsubscribe.MaxPlaces {
		wrong.Add("unsubscribe", "is refused: the message %s", reason)
	}
}

// Places counts {{unsubscribe_url}} in bodies; of each, not much further than a message may have.
func Places(html, text string) int {
	return unsubscribe.PlacesInMarkup(html) + unsubscribe.PlacesInText(text)
}

// MaxLife is how far after its sending a message may expire: by then retries end anyway.
const MaxLife = lifecycle.MaxAge

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
