package rest

import (
	"context"
	"net/http"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/id"
	"github.com/postrider/postrider/runtime/idempotency"
	"github.com/postrider/postrider/runtime/page"
)

// EmailService is what the email operations need of module sending: EmailRooms joins it.
type EmailService interface {
	EmailSender
	EmailRecords
}

// EmailRooms is an EmailService of the rooms of module sending.
type EmailRooms struct {
	EmailSender
	EmailRecords
}

// EmailSender accepts emails, and changes what is scheduled.
type EmailSender interface {
	Send(ctx context.Context, caller accounts.Caller, r sending.Request) (sending.Receipt, error)
	SendBatch(ctx context.Context, caller accounts.Caller, b sending.Batch) (sending.BatchReceipt, error)
	Resend(ctx context.Context, caller accounts.Caller, r sending.Resend) (sending.Receipt, error)
	emailSchedule
}

// EmailRecords reads emails.
type EmailRecords interface {
	Get(ctx context.Context, accountID, emailID string) (*ent.Email, error)
	List(ctx context.Context, accountID string, q records.ListQuery) (page.Page[*ent.Email], error)
	emailDelivery
}

var (
	_ EmailSender  = (*sending.Service)(nil)
	_ EmailRecords = (*records.Service)(nil)
)

const tagEmails = "Emails"

// emailRecord is an email as callers see it.
type emailRecord struct {
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
	ScheduledAt  optionalTimestamp `json:"scheduled_at"`
	ExpiresAt    optionalTimestamp `json:"expires_at" doc:"Not delivered after this time; null when the request named none."`
	CancelledAt  optionalTimestamp `json:"cancelled_at"`
	CreatedAt    timestamp         `json:"created_at"`
	SentAt       optionalTimestamp `json:"sent_at"`
	DeliveredAt  optionalTimestamp `json:"delivered_at"`
	BouncedAt    optionalTimestamp `json:"bounced_at"`
}

type emailTag struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func newEmailRecord(e *ent.Email) emailRecord {
	return emailRecord{
		ID: e.ID, From: e.From, To: listed(e.To), CC: listed(e.Cc), BCC: listed(e.Bcc), ReplyTo: listed(e.ReplyTo),
		Subject: e.Subject, Status: string(e.Status), LastEvent: e.LastEvent, BounceReason: e.BounceReason, Tags: tagsOf(e.Tags),
		ScheduledAt: optionalTimestamp{e.ScheduledAt}, ExpiresAt: optionalTimestamp{e.ExpiresAt}, CancelledAt: optionalTimestamp{e.CancelledAt}, CreatedAt: timestamp(e.CreatedAt),
		SentAt: optionalTimestamp{e.SentAt}, DeliveredAt: optionalTimestamp{e.DeliveredAt}, BouncedAt: optionalTimestamp{e.BouncedAt},
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
	Email emailRecord `json:"email"`
}

type emailReceipt struct {
	ID     string `json:"id" example:"msg_01kf0m4w7he6x8q2v5b3n9c1ta"`
	Status string `json:"status" enum:"sent,scheduled,failed" doc:"sent: stored durably and on its way. scheduled: stored, and sent at its time. failed: recorded and not sent, because a recipient is suppressed."`
}

type emailID struct {
	ID string `path:"id" doc:"Id of the email." example:"msg_01kf0m4w7he6x8q2v5b3n9c1ta"`
}

type emailEdge struct {
	api   *API
	send  EmailService
	store Idempotency
}

// Emails makes the routes of the resource emails.
func Emails(service EmailService, store Idempotency) Routes {
	return Routes{name: "emails", add: func(a *API) {
		e := &emailEdge{api: a, send: service, store: store}
		a.describeTag(tagEmails, "Send emails and see what became of them.")
		for name, schema := range sendSchemas() {
			a.describeBody(name, schema)
		}
		add(a, sendOperation(), e.create)
		register(a, listOperation(), e.list)
		register(a, operation{
			method: http.MethodGet, path: "/emails/{id}", id: "getEmail", tag: tagEmails, needs: accounts.ReadSent,
			summary:     "Retrieve an email",
			description: "An unset timestamp is `null`. Another account's email is answered like one that does not exist.",
			problems:    []int{http.StatusNotFound},
			example:     map[string]any{"email": emailExample()},
		}, e.get)
		e.batch(a)
		e.resend(a)
		e.change(a)
		e.delivery(a)
	}}
}

// create reads the whole request before it sends, so that one answer names all
// that is wrong with it.
func (e *emailEdge) create(ctx context.Context, _ *none) (*stored, error) {
	c := callOf(ctx)
	return e.api.working(ctx, c, func() (*stored, error) { return e.createFrom(ctx, c) })
}

func (e *emailEdge) createFrom(ctx context.Context, c *call) (*stored, error) {
	body, err := parseObject(c.body)
	if err != nil {
		return nil, e.api.fail(ctx, c.requestID, err)
	}
	return e.api.once(ctx, e.store, c, "POST "+Prefix+"/emails", func(claim *idempotency.Claim) (idempotency.Answer, error) {
		message, err := decodeMessage(body)
		if err != nil {
			return idempotency.Answer{}, err
		}
		return answerOf(e.send.Send(ctx, c.Caller, sending.Request{Message: message, Claim: claim, Render: renderReceipt}))
	})
}

// renderReceipt cannot fail: the struct is two strings.
func renderReceipt(r sending.Receipt) idempotency.Answer {
	body, err := marshal(emailReceipt{ID: r.ID, Status: r.Status})
	if err != nil {
		panic("rest: a receipt cannot be encoded: " + err.Error())
	}
	return idempotency.Answer{Status: http.StatusOK, Body: body}
}

func (e *emailEdge) get(ctx context.Context, c *call, in *emailID) (*emailAnswer, error) {
	if !id.Is(id.Email, in.ID) {
		return nil, fault.Missing("email", shown(in.ID))
	}
	found, err := e.send.Get(ctx, c.AccountID, in.ID)
	if err != nil {
		return nil, err
	}
	return &emailAnswer{Email: newEmailRecord(found)}, nil
}
