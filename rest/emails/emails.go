package emails

import (
	"context"
	"net/http"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/export"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/page"
)

// Sender is the part of package sending that the email operations use.
type Sender interface {
	Send(ctx context.Context, caller accounts.Caller, r sending.Request) (sending.Receipt, error)
	SendBatch(ctx context.Context, caller accounts.Caller, b sending.Batch) (sending.BatchReceipt, error)
	Resend(ctx context.Context, caller accounts.Caller, r sending.Resend) (sending.Receipt, error)
	Check(ctx context.Context, caller accounts.Caller, m sending.Message,
		o sending.CheckOptions) (sending.CheckResult, error)
	schedule
}

// Records is the part of package sending that reads emails.
type Records interface {
	Detail(ctx context.Context, accountID, emailID string) (records.EmailDetail, error)
	List(ctx context.Context, accountID string, q records.ListQuery) (page.Page[*ent.Email], error)
	delivery
}

var (
	_ Sender  = (*sending.Service)(nil)
	_ Records = (*records.Service)(nil)
)

// Tag is the tag of the operations on emails.
const Tag = "Emails"

var email = api.Noun{Name: "email", About: "ID of the email.", Example: "msg_01kf0m4w7he6x8q2v5b3n9c1ta",
	Is: func(word string) bool { return id.Is(id.Email, word) }}

type emailAnswer struct {
	Email EmailRecord `json:"email" doc:"The email."`
}

// EmailReceipt is the response to a send.
type EmailReceipt struct {
	ID     string `json:"id" doc:"The ID of the email." example:"msg_01kf0m4w7he6x8q2v5b3n9c1ta"`
	Status string `json:"status" enum:"sent,scheduled,failed" doc:"sent: stored durably, delivery begins. scheduled: stored, will be sent at its time. failed: recorded but not sent, because a recipient is suppressed."`

	Suppressed []string `json:"suppressed_recipients,omitempty" nullable:"false" doc:"The suppressed recipients, if they prevented the email from being sent. Absent otherwise."`
}

func newEmailAnswer(e *ent.Email) emailAnswer { return emailAnswer{newEmailRecord(e)} }

type edge struct {
	sender  Sender
	records Records
	turns   export.Turns
}

// Routes returns the routes of the resource emails.
func Routes(sender Sender, records Records, turns export.Turns) api.Routes {
	return api.NewRoutes("emails", func(a *api.API) {
		e := &edge{sender: sender, records: records, turns: turns}
		g := a.Tag(Tag, "Send emails and track their delivery.")
		g.Bind(email, records)
		e.sending(g)
		e.checking(g)
		e.reading(g)
		e.exporting(g)
		e.changing(g)
		e.delivery(g)
	})
}

func (e *edge) reading(g *api.TagGroup) {
	api.ListBy(g, api.Operation{
		Path: "/emails", ID: "listEmails", Needs: rights.ReadSent,
		Summary: "List emails",
		Description: "Lists emails, newest first. New emails do not shift the pages. Filters can be combined; send " +
			"the same filters with each cursor.",
		Example: emailExample(),
	}, api.Plural{Member: "emails", Schema: "EmailList"}, e.list, newEmailRecord)
	api.Get(g, api.Operation{
		Path: "/emails/{id}", ID: "getEmail", Needs: rights.ReadSent,
		Summary: "Retrieve an email",
		Description: "Returns an email with the fields that lists omit: bodies, header fields, attachments and " +
			"recipients. An unset timestamp is `null`. An email in another account is reported as not found.",
		Problems: []int{http.StatusNotFound},
		Example:  map[string]any{"email": wholeExample()}, Of: email,
	}, e.records.Detail, newWholeAnswer)
}
