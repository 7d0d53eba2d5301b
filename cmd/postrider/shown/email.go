package shown

import (
	"time"

	"github.com/postrider/postrider/ent"
)

// Email is the JSON of an email in `postrider admin email list`.
type Email struct {
	ID           string    `json:"id"`
	CreatedAt    time.Time `json:"created_at"`
	From         string    `json:"from"`
	To           []string  `json:"to"`
	Subject      string    `json:"subject"`
	Status       string    `json:"status"`
	LastEvent    string    `json:"last_event"`
	BounceReason *string   `json:"bounce_reason"`
}

// EmailOf returns the JSON of an email.
func EmailOf(e *ent.Email) Email {
	return Email{ID: e.ID, CreatedAt: e.CreatedAt.UTC(), From: e.From, To: e.To, Subject: e.Subject,
		Status: string(e.Status), LastEvent: e.LastEvent, BounceReason: e.BounceReason}
}
