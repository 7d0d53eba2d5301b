package event

import (
	"time"

	"github.com/postrider/postrider/ent/schema/shape"
)

// Email is the payload of the email events.
type Email struct {
	EmailID      string      `json:"email_id" doc:"The ID of the email."`
	From         string      `json:"from" doc:"The sender."`
	To           []string    `json:"to" nullable:"false" doc:"The recipients."`
	CC           []string    `json:"cc" nullable:"false" doc:"The Cc recipients."`
	Subject      string      `json:"subject" doc:"The subject."`
	Status       string      `json:"status" doc:"Status after the event: that of the recipient, if the event concerns one."` // New sets it
	EmailStatus  string      `json:"email_status" doc:"Status of the email as a whole after this event: scheduled, cancelled, sent, delivered, bounced or failed."`
	Tags         []shape.Tag `json:"tags" nullable:"false" doc:"Tags of the send."`
	CreatedAt    Time        `json:"created_at" doc:"When the email was accepted."`
	Recipient    string      `json:"recipient,omitempty" doc:"The address that the event concerns, if it concerns a single one."`
	BounceReason string      `json:"bounce_reason,omitempty" doc:"For email.bounced, the reply of the receiving server."`
	Bounce       *Bounce     `json:"bounce,omitempty" doc:"For email.bounced, details of the bounce."`
	Delay        *Delay      `json:"delay,omitempty" doc:"For email.delivery_delayed, the reason and the time of the next attempt."`
	Failure      *Failure    `json:"failure,omitempty" doc:"For email.failed, why delivery is impossible."`
	Click        *Click      `json:"click,omitempty" doc:"For email.clicked, the link and the client."`
	Open         *Open       `json:"open,omitempty" doc:"For email.opened, the client that loaded the tracking pixel."`
	Complaint    *Complaint  `json:"complaint,omitempty" doc:"Content of the feedback report (RFC 5965), for email.complained."`
	ScheduledAt  *Time       `json:"scheduled_at,omitempty" doc:"With email.scheduled and email.cancelled: when the email is, or was, to be sent."`

	SuppressedRecipients []string `json:"suppressed_recipients,omitempty" nullable:"false" doc:"For email.suppressed, the addresses for which the whole message was blocked."`
}

// SubjectID returns the email.
func (e Email) SubjectID() string { return e.EmailID }

// Bounce describes how a receiving server refused a recipient.
type Bounce struct {
	Type         string `json:"type" doc:"permanent or transient."`
	Code         int    `json:"code" doc:"SMTP reply code; 0 when there was none."`
	EnhancedCode string `json:"enhanced_code" doc:"Enhanced status code (RFC 3463), such as 5.1.1; empty if there was none."`
	Diagnostic   string `json:"diagnostic" doc:"The reply of the receiving server."`
	RemoteMTA    string `json:"remote_mta" doc:"The server that refused the message."`
	Attempt      int    `json:"attempt,omitempty" doc:"Number of the attempt, starting at 1. Absent if the bounce arrived later as a report."`
}

// Delay describes why and until when a recipient waits.
type Delay struct {
	Attempt       int    `json:"attempt" doc:"Number of the attempt, starting at 1."`
	NextAttemptAt Time   `json:"next_attempt_at" doc:"When the next attempt is due."`
	Diagnostic    string `json:"diagnostic" doc:"The response of the remote server, or why there was none."`
}

// Failure describes why no attempt could succeed.
type Failure struct {
	Reason string `json:"reason" doc:"The reason as a sentence."`
	// Code of a recipient: tls_required, null_mx, no_such_domain, message_too_large, policy,
	// smtputf8_required, expired, dropped. If the server refused the message or its sender, the reason:
	// block, throttle, greylist, size, content, policy, challenge. For a scheduled email that was refused
	// at its time, the API's code: domain_not_verified, sandbox_recipient_not_allowed,
	// production_not_unlocked, not_found.
	Code string `json:"code" doc:"The reason as a code. For a recipient: tls_required, null_mx, no_such_domain, message_too_large, policy, smtputf8_required, expired or dropped. If the server refused the message or its sender: block, throttle, greylist, size, content, policy or challenge. For a scheduled email that was refused when due: an error code of the API, such as domain_not_verified."`
}

// Open describes who loaded the open pixel.
type Open struct {
	IP        string `json:"ip" doc:"The IP address of the request."`
	UserAgent string `json:"user_agent" doc:"The user agent of the request."`
	Machine   bool   `json:"machine" doc:"Whether it was probably a prefetch or a scanner rather than a person."`
}

// Click describes which link was used and by whom.
type Click struct {
	URL       string `json:"url" doc:"The URL of the link."`
	IP        string `json:"ip" doc:"The IP address of the request."`
	UserAgent string `json:"user_agent" doc:"The user agent of the request."`
	Machine   bool   `json:"machine" doc:"Whether it was probably a prefetch or a scanner rather than a person."`
}

// Complaint is the content of a feedback report (RFC 5965).
type Complaint struct {
	Type     string `json:"type" doc:"abuse, fraud, virus, other or not-spam."`
	Reporter string `json:"reporter" doc:"The program that wrote the report."`
}

const sampleAgent = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15"

var sampleSchedule = NewTime(sampleTime.Add(time.Hour))

// statusAfter is the status in each type of event about an email: that of the recipient in the data, or of the
// email if the data has none.
var statusAfter = map[Type]string{
	EmailScheduled: "scheduled", EmailRescheduled: "scheduled", EmailCancelled: "cancelled", EmailSent: "sent",
	EmailDeliveryDelayed: "sent",
	EmailDelivered:       "delivered", EmailOpened: "delivered", EmailClicked: "delivered",
	EmailComplained: "delivered",
	EmailBounced:    "bounced", EmailFailed: "failed", EmailSuppressed: "failed",
}

// withType returns the payload of an event of type t.
func (e Email) withType(t Type) Email {
	e.Status = statusAfter[t]
	return e
}

// sampleEmail returns the sample of type t. status is that of the whole email.
func sampleEmail(t Type, status string, change func(*Email)) Email {
	e := Email{EmailID: "msg_01kf0m4w7he6x8q2v5b3n9c1ta", From: "Ada <ada@example.com>",
		To: []string{"bob@example.net"}, CC: []string{},
		Subject: "Your receipt", EmailStatus: status, Tags: []shape.Tag{{Name: "kind", Value: "receipt"}},
		CreatedAt: NewTime(sampleTime)}
	if change != nil {
		change(&e)
	}
	return e.withType(t)
}
