package emails

import (
	"strings"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/rest/api/export"
	"github.com/postrider/postrider/rest/api/openapi"
	"github.com/postrider/postrider/rest/api/wire"
	"github.com/postrider/postrider/runtime/work/event"
)

// EmailRecord is an email in a response.
type EmailRecord struct {
	ID           string            `json:"id" doc:"The public ID, an opaque string." example:"msg_01kf0m4w7he6x8q2v5b3n9c1ta"`
	Mode         string            `json:"mode,omitempty" enum:"test" doc:"Present only in test mode."`
	From         string            `json:"from" doc:"The sender." example:"Ada <ada@example.com>"`
	To           []string          `json:"to" nullable:"false" doc:"The recipients."`
	CC           []string          `json:"cc" nullable:"false" doc:"The Cc recipients."`
	BCC          []string          `json:"bcc" nullable:"false" doc:"The Bcc recipients."`
	ReplyTo      []string          `json:"reply_to" nullable:"false" doc:"The addresses that replies are sent to."`
	Subject      string            `json:"subject" doc:"The subject."`
	Status       string            `json:"status" enum:"queued,scheduled,sent,delivered,bounced,failed,cancelled" doc:"sent: accepted, delivery in progress. delivered: accepted by every recipient's server. bounced, failed: the worst outcome, once all recipients are settled."`
	LastEvent    string            `json:"last_event" doc:"Type of the most recent lifecycle event." example:"email.delivered"`
	BounceReason *string           `json:"bounce_reason" doc:"For bounces, the reply of the receiving server."`
	Tags         []emailTag        `json:"tags" nullable:"false" doc:"The tags of the email."`
	ScheduledAt  wire.OptionalTime `json:"scheduled_at" doc:"The time that the email is scheduled for. null if it was not scheduled."`
	ExpiresAt    wire.OptionalTime `json:"expires_at" doc:"Delivery deadline; null if the request set none."`
	CancelledAt  wire.OptionalTime `json:"cancelled_at" doc:"When the email was cancelled. null if it was not."`
	CreatedAt    wire.Time         `json:"created_at" doc:"When the email was accepted."`
	SentAt       wire.OptionalTime `json:"sent_at" doc:"When the email was released for delivery. null if it was not."`
	DeliveredAt  wire.OptionalTime `json:"delivered_at" doc:"When the email was delivered. null if it was not."`
	BouncedAt    wire.OptionalTime `json:"bounced_at" doc:"When the email bounced. null if it did not."`
	AutomationID *string           `json:"automation_id,omitempty" doc:"ID of the automation that sent the email. Absent for other emails." example:"aut_01kf0m4w7he6x8q2v5b3n9c1ta"`
	RunID        *string           `json:"run_id,omitempty" doc:"ID of the automation run that sent the email." example:"run_01kf0m4w7he6x8q2v5b3n9c1ta"`
}

type emailTag struct {
	Name  string `json:"name" doc:"The name of the tag."`
	Value string `json:"value" doc:"The value of the tag."`
}

func newEmailRecord(e *ent.Email) EmailRecord {
	return EmailRecord{
		ID: e.ID, Mode: event.ModeOf(e.AccountID), From: e.From, To: wire.List(e.To), CC: wire.List(e.Cc), BCC: wire.List(e.Bcc),
		ReplyTo: wire.List(e.ReplyTo),
		Subject: e.Subject, Status: string(e.Status), LastEvent: e.LastEvent, BounceReason: e.BounceReason,
		Tags:        tagsOf(e.Tags),
		ScheduledAt: wire.OptionalTime{At: e.ScheduledAt}, ExpiresAt: wire.OptionalTime{At: e.ExpiresAt},
		CancelledAt: wire.OptionalTime{At: e.CancelledAt}, CreatedAt: wire.Time(e.CreatedAt),
		SentAt: wire.OptionalTime{At: e.SentAt}, DeliveredAt: wire.OptionalTime{At: e.DeliveredAt},
		BouncedAt:    wire.OptionalTime{At: e.BouncedAt},
		AutomationID: e.AutomationID, RunID: e.RunID,
	}
}

func tagsOf(tags []shape.Tag) []emailTag {
	out := make([]emailTag, 0, len(tags))
	for _, t := range tags {
		out = append(out, emailTag(t))
	}
	return out
}

var exportColumns = []export.Column[EmailRecord]{
	{Name: "id", Text: func(r EmailRecord) string { return r.ID }},
	{Name: "created_at", Text: func(r EmailRecord) string { return export.FormatTime(r.CreatedAt) }},
	{Name: "status", Text: func(r EmailRecord) string { return r.Status }},
	{Name: "last_event", Text: func(r EmailRecord) string { return r.LastEvent }},
	{Name: "from", Text: func(r EmailRecord) string { return r.From }},
	{Name: "to", Text: func(r EmailRecord) string { return export.Addresses(r.To) }},
	{Name: "cc", Text: func(r EmailRecord) string { return export.Addresses(r.CC) }},
	{Name: "bcc", Text: func(r EmailRecord) string { return export.Addresses(r.BCC) }},
	{Name: "reply_to", Text: func(r EmailRecord) string { return export.Addresses(r.ReplyTo) }},
	{Name: "subject", Text: func(r EmailRecord) string { return r.Subject }},
	{Name: "tags", Text: tagCell},
	{Name: "bounce_reason", Text: func(r EmailRecord) string { return export.OrEmpty(r.BounceReason) }},
	{Name: "scheduled_at", Text: func(r EmailRecord) string { return export.OptionalMoment(r.ScheduledAt) }},
	{Name: "expires_at", Text: func(r EmailRecord) string { return export.OptionalMoment(r.ExpiresAt) }},
	{Name: "cancelled_at", Text: func(r EmailRecord) string { return export.OptionalMoment(r.CancelledAt) }},
	{Name: "sent_at", Text: func(r EmailRecord) string { return export.OptionalMoment(r.SentAt) }},
	{Name: "delivered_at", Text: func(r EmailRecord) string { return export.OptionalMoment(r.DeliveredAt) }},
	{Name: "bounced_at", Text: func(r EmailRecord) string { return export.OptionalMoment(r.BouncedAt) }},
	{Name: "automation_id", Text: func(r EmailRecord) string { return export.OrEmpty(r.AutomationID) }},
	{Name: "run_id", Text: func(r EmailRecord) string { return export.OrEmpty(r.RunID) }},
}

// tagCell formats tags as the search accepts them. Names and values contain no spaces.
func tagCell(r EmailRecord) string {
	words := make([]string, len(r.Tags))
	for i, t := range r.Tags {
		words[i] = t.Name + "=" + t.Value
	}
	return strings.Join(words, " ")
}

// exportExample is an email in the examples of the API description.
func exportExample() EmailRecord {
	at := time.Date(2026, 1, 15, 9, 30, 0, 0, time.UTC)
	delivered := at.Add(1250 * time.Millisecond)
	return EmailRecord{ID: email.Example, From: "Ada <ada@example.com>", To: []string{"bob@example.net"},
		CC: []string{}, BCC: []string{}, ReplyTo: []string{},
		Subject: "Your receipt", Status: "delivered", LastEvent: "email.delivered",
		Tags:      []emailTag{{"kind", "receipt"}},
		CreatedAt: wire.Time(at), SentAt: wire.OptionalTime{At: &at}, DeliveredAt: wire.OptionalTime{At: &delivered}}
}

func emailExample() map[string]any { return openapi.Example(exportExample()) }
