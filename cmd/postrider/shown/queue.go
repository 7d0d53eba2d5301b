package shown

import (
	"time"

	"github.com/postrider/postrider/modules/sending/queue"
)

// Queued is the JSON of a recipient in `postrider admin queue list`.
type Queued struct {
	RecipientID   int64      `json:"recipient_id"`
	EmailID       string     `json:"email_id"`
	AccountID     string     `json:"account_id"`
	Address       string     `json:"address"`
	State         string     `json:"state"`
	Running       bool       `json:"running"`
	Lane          string     `json:"lane,omitempty"`
	Attempts      int        `json:"attempts"`
	NextAttemptAt *time.Time `json:"next_attempt_at"`
	QueuedAt      time.Time  `json:"queued_at"`
	AgeSeconds    int64      `json:"age_seconds"`
	Diagnostic    string     `json:"diagnostic"`
}

// Backlog is the JSON of a destination's queued mail in `postrider admin queue summary`.
type Backlog struct {
	Destination      string `json:"destination"`
	Total            int    `json:"total"`
	Due              int    `json:"due"`
	Running          int    `json:"running"`
	Parked           int    `json:"parked"` // waiting for capacity in a lane
	Deferred         int    `json:"deferred"`
	Held             int    `json:"held"`
	OldestAgeSeconds int64  `json:"oldest_age_seconds"`
	Diagnostic       string `json:"diagnostic"`
}

// QueuedOf returns the JSON of a queued recipient.
func QueuedOf(r queue.Queued) Queued {
	view := Queued{RecipientID: r.RecipientID, EmailID: r.EmailID, AccountID: r.AccountID, Address: r.Address,
		State: string(r.State), Running: r.Running,
		Lane: r.Lane, Attempts: r.Attempts, QueuedAt: r.QueuedAt.UTC(), AgeSeconds: int64(r.Age.Seconds()),
		Diagnostic: r.Diagnostic}
	if r.NextAttempt != nil {
		at := r.NextAttempt.UTC()
		view.NextAttemptAt = &at
	}
	return view
}

// BacklogOf returns the JSON of a backlog.
func BacklogOf(b queue.Backlog) Backlog {
	return Backlog{Destination: b.Destination, Total: b.Total(), Due: b.Due, Running: b.Running, Parked: b.Parked,
		Deferred: b.Deferred,
		Held:     b.Held, OldestAgeSeconds: int64(b.Oldest.Seconds()), Diagnostic: b.Diagnostic}
}
