package event

import (
	"time"

	"github.com/postrider/postrider/ent/schema/shape"
)

// Email is the payload of the email events.
type Email struct {
	EmailID      string      `json:"email_id"`
	From         string      `json:"from"`
	To           []string    `json:"to"`
	CC           []string    `json:"cc"`
	Subject      string      `json:"subject"`
	Status       string      `json:"status"`       // the state that the event tells of, for Recipient; New sets it
	EmailStatus  string      `json:"email_status"` // of the email as a whole, after this event
	Tags         []shape.Tag `json:"tags"`
	CreatedAt    Time        `json:"created_at"`
	Recipient    string      `json:"recipient,omitempty"` // the address that the event is about
	BounceReason string      `json:"bounce_reason,omitempty"`
	Bounce       *Bounce     `json:"bounce,omitempty"`
	Delay        *Delay      `json:"delay,omitempty"`
	Failure      *Failure    `json:"failure,omitempty"`
	Click        *Click      `json:"click,omitempty"`
	Open         *Open       `json:"open,omitempty"`
	Complaint    *Complaint  `json:"complaint,omitempty"`
	// ScheduledAt is when the email is to be sent, for email.scheduled and email.cancelled.
	ScheduledAt *Time `json:"scheduled_at,omitempty"`
	// SuppressedRecipients are the addresses for which email.suppressed blocked the whole message.
	SuppressedRecipients []string `json:"suppressed_recipients,omitempty"`
}

// SubjectID is the email.
func (e Email) SubjectID() string { return e.EmailID }

// Bounce tells how a receiving server refused.
type Bounce struct {
	Type         string `json:"type"` // permanent, transient
	Code         int    `json:"code"` // RFC 5321 reply code, 0 when there was none
	EnhancedCode string `json:"enhanced_code"`
	Diagnostic   string `json:"diagnostic"`
	RemoteMTA    string `json:"remote_mta"`
	Attempt      int    `json:"attempt,omitempty"` // from 1; left out when the report came later
}

// Delay tells why and until when a recipient waits.
type Delay struct {
	Attempt       int    `json:"attempt"`
	NextAttemptAt Time   `json:"next_attempt_at"`
	Diagnostic    string `json:"diagnostic"`
}

// Failure tells why no attempt could succeed.
type Failure struct {
	Reason string `json:"reason"`
	// Code of a recipient: tls_required, null_mx, no_such_domain, message_too_large, policy,
	// smtputf8_required, expired, dropped. Where the server refused the message or its
	// sender, what for: block, throttle, greylist, size, content, policy, challenge. Of a
	// scheduled email that was refused at its time, the API's: domain_not_verified,
	// sandbox_recipient_not_allowed, production_not_unlocked, not_found.
	Code string `json:"code"`
}

// Open tells who loaded the open pixel.
type Open struct {
	IP        string `json:"ip"`
	UserAgent string `json:"user_agent"`
	Machine   bool   `json:"machine"` // a prefetch or a scanner rather than a person
}

// Click tells which link was used and by whom.
type Click struct {
	URL       string `json:"url"`
	IP        string `json:"ip"`
	UserAgent string `json:"user_agent"`
	Machine   bool   `json:"machine"` // a prefetch or a scanner rather than a person
}

// Complaint is what a feedback report said (RFC 5965).
type Complaint struct {
	Type     string `json:"type"`     // abuse, fraud, virus, other, not-spam
	Reporter string `json:"reporter"` // the report's User-Agent
}

const sampleAgent = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15"

var sampleSchedule = At(sampleTime.Add(time.Hour))

// told is the state that each event about an email tells of: that of the recipient in the
// data, or of the email where the data has none.
var told = map[Type]string{
	EmailScheduled: "scheduled", EmailRescheduled: "scheduled", EmailCancelled: "cancelled", EmailSent: "sent", EmailDeliveryDelayed: "sent",
	EmailDelivered: "delivered", EmailOpened: "delivered", EmailClicked: "delivered", EmailComplained: "delivered",
	EmailBounced: "bounced", EmailFailed: "failed", EmailSuppressed: "failed",
}

// of gives the payload of an event of the type t.
func (e Email) of(t Type) Email {
	e.Status = told[t]
	return e
}

// sampleEmail makes the example of the type t. status is that of the email as a whole.
func sampleEmail(t Type, status string, change func(*Email)) Email {
	e := Email{EmailID: "msg_01kf0m4w7he6x8q2v5b3n9c1ta", From: "Ada <ada@example.com>", To: []string{"bob@example.net"}, CC: []string{},
		Subject: "Your receipt", EmailStatus: status, Tags: []shape.Tag{{Name: "kind", Value: "receipt"}}, CreatedAt: At(sampleTime)}
	if change != nil {
		change(&e)
	}
	return e.of(t)
}
