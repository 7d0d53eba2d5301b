package suppressions

import (
	"context"
	"fmt"

	"github.com/danielgtaylor/huma/v2"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/suppression"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/body"
	"github.com/postrider/postrider/rest/api/export"
	"github.com/postrider/postrider/rest/api/problem"
	"github.com/postrider/postrider/rest/api/wire"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/page"
)

// Service is the part of suppression that these operations use.
type Service interface {
	Add(ctx context.Context, accountID string, in suppression.NewSuppression) (*ent.Suppression, error)
	AddBatch(ctx context.Context, accountID string, in suppression.BatchInput) ([]suppression.BatchItem, error)
	List(ctx context.Context, accountID string, f suppression.Filter) (page.Page[*ent.Suppression], error)
	Get(ctx context.Context, accountID, idOrAddress string) (*ent.Suppression, error)
	Remove(ctx context.Context, accountID, idOrAddress string) error
	RemoveBatch(ctx context.Context, accountID string, in suppression.RemoveInput) ([]suppression.RemovedItem, error)
	optOuts
}

var _ Service = (*suppression.Service)(nil)

const tagSuppressions = "Suppressions"

type suppressionRecord struct {
	ID        string    `json:"id" doc:"The ID of the suppression." example:"sup_01kf0m4w7he6x8q2v5b3n9c1ta"`
	Email     *string   `json:"email" example:"bob@example.net" doc:"The address in lower case, with an internationalized domain in A-labels; null if it was erased. It remains blocked."`
	Reason    string    `json:"reason" enum:"bounce,failure,complaint,unsubscribe,manual" doc:"Why the address is suppressed."`
	EmailID   *string   `json:"email_id" example:"msg_01kf0m4w7he6x8q2v5b3n9c1ta" doc:"ID of the email that caused the suppression, if any."`
	CreatedAt wire.Time `json:"created_at" doc:"When the address was suppressed."`
}

type suppressionAnswer struct {
	Suppression suppressionRecord `json:"suppression" doc:"The suppression."`
}

type suppressionBatch struct {
	Data []suppressionItem `json:"data" nullable:"false" doc:"One item per address, in the order of the request."`
}

type suppressionItem struct {
	Index  int                  `json:"index" doc:"The position of the item in the request, starting at 0."`
	ID     *string              `json:"id" example:"sup_01kf0m4w7he6x8q2v5b3n9c1ta" doc:"ID of the suppression; null if the item failed."`
	Status string               `json:"status" enum:"added,existing,failed" doc:"existing: the address was already suppressed and did not change."`
	Error  *problem.ProblemBody `json:"error,omitempty" doc:"Why the item failed. Absent otherwise."`
}

// Filters are the filters of the list. It is exported because it is embedded.
type Filters struct {
	Email  string `query:"email" doc:"Return only this suppressed address." example:"bob@example.net"`
	Reason string `query:"reason" enum:"bounce,failure,complaint,unsubscribe,manual" doc:"Return only suppressions with this reason."`
	Q      string `query:"q" doc:"Parts of an address. The beginning of an address is found in all suppressions; other parts are searched in the newest 10,000. At most 200 characters and 10 words. Also accepts email:, reason:, after:2026-01-31 and before:." example:"bob@"`
}

type query struct {
	api.Page
	Filters
}

var suppressed = api.Noun{Name: "suppression", About: "ID of the suppression, or the URL-encoded address.",
	Example: "bob@example.net"}

type edge struct {
	list  Service
	turns export.Turns
}

// Routes returns the routes of the resources suppressions and category opt-outs.
func Routes(service Service, turns export.Turns) api.Routes {
	return api.NewRoutes("suppressions", func(a *api.API) {
		e := &edge{list: service, turns: turns}
		g := a.Tag(tagSuppressions, "Addresses that you cannot send to. An email with a suppressed recipient is not "+
			"sent to any of its recipients.")
		e.addAdding(g)
		e.addBatchDelete(g)
		e.addReading(g)
		e.addExports(g)
		e.optOuts(a)
	})
}

func (e *edge) addReading(g *api.TagGroup) {
	one := map[string]any{"suppression": suppressionExample()}
	api.ListBy(g, api.Operation{
		Path: "/suppressions", ID: "listSuppressions", Needs: rights.Read,
		Summary: "List suppressions", Description: "Lists suppressions, newest first. Filters can be combined; send " +
			"the same filters with each cursor.",
		Example: suppressionExample(),
	}, api.Plural{Member: "suppressions", Schema: "SuppressionList"}, e.findSuppressions, newSuppressionRecord)
	api.Get(g, api.Operation{
		Path: "/suppressions/{id}", ID: "getSuppression", Needs: rights.Read,
		Summary: "Retrieve a suppression", Description: "Returns a suppression by its ID or address. The address " +
			"may be in any case and its domain in Unicode.",
		Example: one, Of: suppressed,
	}, e.getSuppression, newSuppressionAnswer)
	api.Delete(g, api.Operation{
		Path: "/suppressions/{id}", ID: "deleteSuppression", Needs: rights.Write,
		Summary: "Delete a suppression",
		Description: "Deletes a suppression by its ID or address, so that you can send to the address again. If the " +
			"recipient unsubscribed or complained, do this only at their request. Category opt-outs remain.",
		Of: suppressed,
	}, e.removeSuppression)
}

func (e *edge) addAdding(g *api.TagGroup) {
	api.OnceBody(g, api.Operation{
		Path: "/suppressions", ID: "addSuppression", Needs: rights.Write,
		Summary: "Suppress an address",
		Description: "Suppresses an address with the reason `manual`. An address that is already suppressed is " +
			"returned unchanged. Bounces, complaints and unsubscribes create suppressions automatically.",
		Body: &api.Body{About: "The address to suppress.",
			Examples: map[string]any{"address": map[string]any{"email": "bob@example.net"}}},
		Example: map[string]any{"suppression": suppressionExample()},
	}, addBody, e.addSuppression)
	api.OnceBody(g, api.Operation{
		Path: "/suppressions/batch", ID: "addSuppressions", Needs: rights.Write,
		Summary: "Suppress many addresses",
		Description: "Suppresses up to 1,000 addresses, for example from the list of another service. The response " +
			"is 200 if the request is well-formed. An invalid address fails only its own item; the others are " +
			"suppressed.",
		Body: &api.Body{About: "The addresses to suppress.",
			Examples: map[string]any{"addresses": map[string]any{"emails": []any{"bob@example.net",
				"carol@example.net"}}}},
		Example: map[string]any{"data": []any{
			map[string]any{"index": 0, "id": "sup_01kf0m4w7he6x8q2v5b3n9c1ta", "status": "added"},
			map[string]any{"index": 1, "id": nil, "status": "failed", "error": map[string]any{
				"message": "Invalid field: email", "code": "validation_error", "details": map[string]any{"email": "must contain @"}}},
		}},
	}, batchBody, e.addBatch)
}

func addBody(in *suppression.NewSuppression) body.Object {
	return body.Object{Name: "AddSuppression", Fields: []body.Field{
		{Name: "email", Type: body.Text(&in.Email), Need: body.Required, About: "An address without a display name. " +
			"Its domain may be in Unicode.", Example: "bob@example.net"},
		{Name: "email_id", Type: body.Text(&in.EmailID), About: "ID of the email that is the reason, for your own " +
			"reference.", Example: "msg_01kf0m4w7he6x8q2v5b3n9c1ta"},
	}}
}

func batchBody(emails *[]string) body.Object {
	return body.Object{Name: "AddSuppressions", Fields: []body.Field{
		{Name: "emails", Type: addresses{emails}, Need: body.Required, About: "Addresses without display names."},
	}}
}

// addresses reads an array with more items than usual.
type addresses struct{ to *[]string }

func (t addresses) Read(d *body.Decoder, path string, v body.Value) {
	if !d.Expect(path, v, body.KindArray) {
		return
	}
	for i, item := range v.Items() {
		if i == suppression.MaxBatch {
			d.Refuse(path, "must have at most %d items", suppression.MaxBatch)
		}
		if d.IsFull() || i == suppression.MaxBatch {
			return
		}
		email, _ := d.Text(fmt.Sprintf("%s[%d]", path, i), item)
		*t.to = append(*t.to, email)
	}
	if len(*t.to) == 0 {
		d.Refuse(path, "cannot be empty")
	}
}

func (t addresses) Schema(c body.Components) *huma.Schema {
	return body.List(t.to, body.Text).Count(1, suppression.MaxBatch).Schema(c)
}

func newSuppressionRecord(s *ent.Suppression) suppressionRecord {
	return suppressionRecord{ID: s.ID, Email: s.Email, Reason: string(s.Reason), EmailID: s.EmailID,
		CreatedAt: wire.Time(s.CreatedAt)}
}

func newSuppressionAnswer(s *ent.Suppression) suppressionAnswer {
	return suppressionAnswer{newSuppressionRecord(s)}
}

func (e *edge) addSuppression(ctx context.Context, c *api.Call, _ *api.None, in suppression.NewSuppression,
	keep api.StoreResponse) (suppressionAnswer, error) {
	in.Keep = api.AdaptStore(keep, newSuppressionAnswer)
	return api.As(newSuppressionAnswer)(e.list.Add(ctx, c.AccountID, in))
}

func (e *edge) addBatch(ctx context.Context, c *api.Call, _ *api.None, emails []string,
	keep api.StoreResponse) (suppressionBatch, error) {
	answer := func(items []suppression.BatchItem) suppressionBatch { return newSuppressionBatch(items, c.RequestID) }
	return api.As(answer)(e.list.AddBatch(ctx, c.AccountID,
		suppression.BatchInput{Emails: emails, Keep: api.AdaptStore(keep, answer)}))
}

func newSuppressionBatch(items []suppression.BatchItem, requestID string) suppressionBatch {
	out := suppressionBatch{Data: make([]suppressionItem, len(items))}
	for i, item := range items {
		shown := suppressionItem{Index: i, Status: "existing"}
		switch {
		case item.Err != nil:
			shown.Status, shown.Error = "failed", &problem.From(item.Err, requestID).Body
		case item.Added:
			shown.Status = "added"
			fallthrough
		default:
			shown.ID = &item.Suppression.ID
		}
		out.Data[i] = shown
	}
	return out
}

func (in *Filters) toFilter(r page.Request) suppression.Filter {
	return suppression.Filter{Request: r, Email: api.QueryAddress(in.Email), Reason: in.Reason, Q: in.Q}
}

func (e *edge) findSuppressions(ctx context.Context, c *api.Call, in *query) (page.Page[*ent.Suppression], error) {
	return e.list.List(ctx, c.AccountID, in.toFilter(in.Request()))
}

func (e *edge) getSuppression(ctx context.Context, accountID, name string) (*ent.Suppression, error) {
	found, err := e.list.Get(ctx, accountID, name)
	return found, orMissing(name, err)
}

func (e *edge) removeSuppression(ctx context.Context, accountID, name string) error {
	return orMissing(name, e.list.Remove(ctx, accountID, name))
}

// orMissing returns a NotFound error, which contains the name only if it is safe to show.
func orMissing(name string, err error) error {
	if err != nil && fault.KindOf(err) == fault.NotFound {
		return fault.NoSuch("suppression", body.PrintableName(name))
	}
	return err
}

func suppressionExample() map[string]any {
	return map[string]any{"id": "sup_01kf0m4w7he6x8q2v5b3n9c1ta", "email": "bob@example.net", "reason": "bounce",
		"email_id": "msg_01kf0m4w7he6x8q2v5b3n9c1ta", "created_at": "2026-01-15T09:30:00.000Z"}
}
