package emails

import (
	"context"
	"net/http"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/export"
	"github.com/postrider/postrider/rest/api/wire"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/page"
)

// Sender is what the email operations need of the room that accepts emails.
type Sender interface {
	Send(ctx context.Context, caller accounts.Caller, r sending.Request) (sending.Receipt, error)
	SendBatch(ctx context.Context, caller accounts.Caller, b sending.Batch) (sending.BatchReceipt, error)
	Resend(ctx context.Context, caller accounts.Caller, r sending.Resend) (sending.Receipt, error)
	schedule
}

// Records is what they need of the room that reads emails.
type Records interface {
	Whole(ctx context.Context, accountID, emailID string) (records.Whole, error)
	List(ctx context.Context, accountID string, q records.ListQuery) (page.Page[*ent.Email], error)
	delivery
}

var (
	_ Sender  = (*sending.Service)(nil)
	_ Records = (*records.Service)(nil)
)

// Tag is what the operations on emails stand under.
const Tag = "Emails"

var email = api.Noun{Name: "email", About: "Id of the email.", Example: "msg_01kf0m4w7he6x8q2v5b3n9c1ta",
	Is: func(word string) bool { return id.Is(id.Email, word) }}

// EmailRecord is an email as callers see it.
type EmailRecord struct {
	ID           string            `json:"id" doc:"Public id, opaque." example:"msg_01kf0m4w7he6x8q2v5b3n9c1ta"`
	From         string            `json:"from" example:"Ada <ada@example.com>"`
	To           []string          `json:"to" nullable:"false"`
	CC           []string          `json:"cc" nullable:"false"`
	BCC          []string          `json:"bcc" nullable:"false"`
	ReplyTo      []string          `json:"reply_to" nullable:"false"`
	Subject      string            `json:"subject"`
	Status       string            `json:"status" enum:"queued,scheduled,sent,delivered,bounced,failed,cancelled" doc:"sent: accepted and on its way. delivered: every recipient's server took it. bounced, failed: the worst that became of a recipient, once all are settled."`
	LastEvent    string            `json:"last_event" doc:"Type of the latest lifecycle event." example:"email.delivered"`
	BounceReason *string           `json:"bounce_reason" doc:"The receiving server's words, for bounces."`
	Tags         []emailTag        `json:"tags" nullable:"false"`
	ScheduledAt  wire.OptionalTime `json:"scheduled_at"`
	ExpiresAt    wire.OptionalTime `json:"expires_at" doc:"Not delivered after this time; null when the request named none."`
	CancelledAt  wire.OptionalTime `json:"cancelled_at"`
	CreatedAt    wire.Time         `json:"created_at"`
	SentAt       wire.OptionalTime `json:"sent_at"`
	DeliveredAt  wire.OptionalTime `json:"delivered_at"`
	BouncedAt    wire.OptionalTime `json:"bounced_at"`
	AutomationID *string           `json:"automation_id,omitempty" doc:"The automation whose run has sent it; left out for all others." example:"aut_01kf0m4w7he6x8q2v5b3n9c1ta"`
	RunID        *string           `json:"run_id,omitempty" doc:"The run that has sent it." example:"run_01kf0m4w7he6x8q2v5b3n9c1ta"`
}

type emailTag struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func newEmailRecord(e *ent.Email) EmailRecord {
	return EmailRecord{
		ID: e.ID, From: e.From, To: wire.List(e.To), CC: wire.List(e.Cc), BCC: wire.List(e.Bcc), ReplyTo: wire.List(e.ReplyTo),
		Subject: e.Subject, Status: string(e.Status), LastEvent: e.LastEvent, BounceReason: e.BounceReason, Tags: tagsOf(e.Tags),
		ScheduledAt: wire.OptionalTime{At: e.ScheduledAt}, ExpiresAt: wire.OptionalTime{At: e.ExpiresAt}, CancelledAt: wire.OptionalTime{At: e.CancelledAt}, CreatedAt: wire.Time(e.CreatedAt),
		SentAt: wire.OptionalTime{At: e.SentAt}, DeliveredAt: wire.OptionalTime{At: e.DeliveredAt}, BouncedAt: wire.OptionalTime{At: e.BouncedAt},
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

type emailAnswer struct {
	Email EmailRecord `json:"email"`
}

// EmailReceipt is what a send is answered.
type EmailReceipt struct {
	ID     string `json:"id" example:"msg_01kf0m4w7he6x8q2v5b3n9c1ta"`
	Status string `json:"status" enum:"sent,scheduled,failed" doc:"sent: stored durably and on its way. scheduled: stored, and sent at its time. failed: recorded and not sent, because a recipient is suppressed."`
}

func newEmailAnswer(e *ent.Email) emailAnswer { return emailAnswer{newEmailRecord(e)} }

type edge struct {
	sender  Sender
	records Records
	turns   export.Turns
}

// Routes makes the routes of the resource emails.
func Routes(sender Sender, records Records, turns export.Turns) api.Routes {
	return api.NewRoutes("emails", func(a *api.API) {
		e := &edge{sender: sender, records: records, turns: turns}
		g := a.Tag(Tag, "Send emails and see what became of them.")
		g.Bind(email, records)
		e.sending(g)
		e.reading(g)
		e.exporting(g)
		e.changing(g)
		e.delivery(g)
	})
}

func (e *edge) reading(g *api.Group) {
	api.ListBy(g, api.Operation{
		Path: "/emails", ID: "listEmails", Needs: rights.ReadSent,
		Summary: "List emails",
		Description: "Newest first. Emails that arrive while you page do not move what you have not seen yet. Filters can be combined; " +
			"give the same ones with each cursor.",
		Example: emailExample(),
	}, api.Plural{Member: "emails", Schema: "EmailList"}, e.list, newEmailRecord)
	api.Get(g, api.Operation{
		Path: "/emails/{id}", ID: "getEmail", Needs: rights.ReadSent,
		Summary: "Retrieve an email",
		Description: "With its bodies, header fields, files and recipients, which lists leave out. An unset timestamp is `null`. Another account's email is answered like one that " +
			"does not exist.",
		Problems: []int{http.StatusNotFound},
		Example:  map[string]any{"email": wholeExample()}, Of: email,
	}, e.records.Whole, newWholeAnswer)
}
