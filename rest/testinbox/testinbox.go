package testinbox

import (
	"context"
	"net/http"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/devinbox"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/wire"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/limit"
	"github.com/postrider/postrider/runtime/storage/page"
)

// Inbox is the part of the module that the operations use.
type Inbox interface {
	Page(ctx context.Context, tenant, to string, r page.Request) (page.Page[devinbox.Line], error)
	Head(ctx context.Context, tenant, publicID string) (*ent.CapturedMail, error)
	LatestHead(ctx context.Context, w devinbox.LatestQuery) (*ent.CapturedMail, error)
	Load(ctx context.Context, m *ent.CapturedMail) error
	PublicID(m *ent.CapturedMail) string
}

var _ Inbox = (*devinbox.Service)(nil)

// waits bounds the requests that wait for mail, so that an account cannot use up the connections of a process.
var waitBounds = limit.Bounds{PerKey: 20, Total: 1000}

type edge struct {
	inbox Inbox
	waits *limit.Keyed[string]
}

var captured = api.Noun{Name: "captured email", About: "ID of the captured email.", Example: exampleID,
	Is: devinbox.IsPublicID}

const about = "Emails that were sent in test mode. They never leave this installation. Each recipient of an email is " +
	"delivered, and so captured, separately. The newest 1,000 are kept, for seven days. All operations require a key " +
	"of test mode."

type listInput struct {
	api.Page

	To string `query:"to" doc:"Only emails with an envelope recipient that contains this text, ignoring case." example:"bob@example.net"`
}

type latestInput struct {
	To      string `query:"to" doc:"Only emails to this envelope recipient, ignoring case." example:"bob@example.net"`
	Subject string `query:"subject" doc:"Only emails whose subject contains this text, ignoring case." example:"Reset your password"`
	Wait    string `query:"wait" doc:"How long to wait for a matching email, for example 10s; at most 60s. Defaults to 0s." example:"10s"`
}

// Routes returns the routes of the inbox of test mode.
func Routes(inbox Inbox) api.Routes {
	return api.NewRoutes("test", func(a *api.API) {
		e := &edge{inbox: inbox, waits: limit.NewKeyed[string](waitBounds)}
		g := a.Tag("Test inbox", about)
		api.ListBy(g, api.Operation{
			Path: "/test/inbox", ID: "listCapturedEmails", Needs: rights.ReadSent, Summary: "List captured emails",
			Description: "Lists emails that were sent in test mode, newest first.", Example: exampleRecord(),
		}, api.Plural{Member: "captured_emails", Schema: "CapturedEmailList"}, e.list, e.newListed)
		api.Handle(g, api.Operation{
			Method: http.MethodGet, Path: "/test/inbox/latest", ID: "getLatestCapturedEmail", Needs: rights.ReadSent,
			Slow: true, Summary: "Wait for a captured email",
			Description: "Returns the newest email that was sent in test mode and matches, and waits until one arrives. " +
				"Fails with 404 if none arrives in time. Use an address of its own for each test, so that it does not " +
				"find the email of another one. An account can have 20 requests waiting at a time.",
			Problems: []int{http.StatusNotFound}, Example: map[string]any{"captured_email": exampleWhole()},
		}, e.latest)
		api.Handle(g, api.Operation{
			Method: http.MethodGet, Path: "/test/inbox/{id}", ID: "getCapturedEmail", Needs: rights.ReadSent,
			Summary:     "Retrieve a captured email",
			Description: "Returns an email that was sent in test mode, with its content, its links and the findings of a check.",
			Of:          captured, Problems: []int{http.StatusNotFound},
			Example: map[string]any{"captured_email": exampleWhole()},
		}, e.get)
	})
}

func (e *edge) list(ctx context.Context, c *api.Call, in *listInput) (page.Page[devinbox.Line], error) {
	if err := fault.CheckTexts(map[string]string{"to": in.To}); err != nil {
		return page.Page[devinbox.Line]{}, err
	}
	return e.inbox.Page(ctx, c.AccountID, api.QueryAddress(in.To), in.Request())
}

func (e *edge) latest(ctx context.Context, c *api.Call, in *latestInput) (out capturedAnswer, err error) {
	q := devinbox.LatestQuery{Tenant: c.AccountID, To: api.QueryAddress(in.To), Subject: in.Subject}
	if in.Wait != "" {
		if q.Wait, err = time.ParseDuration(in.Wait); err != nil {
			return out, fault.InvalidField("wait", "must be a duration such as 10s or 500ms")
		}
	}
	if !e.waits.TryAcquire(c.AccountID) {
		return out, &fault.Error{Kind: fault.Limit, Code: fault.CodeRateLimit, RetryAfter: time.Second,
			Message: "Too many requests of this account wait for captured emails"}
	}
	defer e.waits.Release(c.AccountID)
	found, err := e.inbox.LatestHead(ctx, q)
	if err != nil {
		return out, err
	}
	return e.open(ctx, c, found)
}

func (e *edge) get(ctx context.Context, c *api.Call, in *api.Item) (out capturedAnswer, err error) {
	found, err := e.inbox.Head(ctx, c.AccountID, in.ID)
	if err != nil {
		return out, err
	}
	return e.open(ctx, c, found)
}

const (
	roomFor  = 5 * time.Second // how long to wait for memory
	workFrom = 256 << 10       // bytes from which an email uses the memory budget
)

// open reads the content of an email.
func (e *edge) open(ctx context.Context, c *api.Call, m *ent.CapturedMail) (out capturedAnswer, err error) {
	if size := devinbox.LoadedBytes(m); size > workFrom {
		release, err := c.Budget().AcquireWork(ctx, c.Owner(), 4*int64(size), roomFor)
		if err != nil {
			return out, api.RoomError(ctx, err)
		}
		defer release()
	}
	if err := e.inbox.Load(ctx, m); err != nil {
		return out, err
	}
	return e.newAnswer(m)
}

func (e *edge) newRecord(m *ent.CapturedMail) CapturedHead {
	return CapturedHead{ID: e.inbox.PublicID(m), Mode: modeTest, From: m.From, To: wire.List(m.RcptTo), ReturnPath: m.MailFrom,
		Subject: m.Subject, MessageID: m.MessageID, Size: m.Size, ReceivedAt: wire.Time(m.ReceivedAt)}
}

func (e *edge) newListed(l devinbox.Line) listedEmail {
	return listedEmail{e.newRecord(l.CapturedMail), l.Snippet}
}
