package operator

import (
	"context"
	"net/http"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/plans"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/body"
	"github.com/postrider/postrider/rest/api/wire"
)

var planNoun = api.Noun{Name: "plan", About: "Id of the plan.", Example: "pro"}

const most = 1_000_000_000 // of any number of a plan

type operatorPlanRecord struct {
	ID                string `json:"id" example:"pro"`
	Name              string `json:"name" example:"Pro"`
	Rank              int    `json:"rank" doc:"Changes to a plan of a greater rank hold at once, others at the end of the period." example:"1"`
	SelfService       bool   `json:"self_service" doc:"Whether customers may choose it."`
	RequestsPerSecond int    `json:"requests_per_second" example:"50"`
	DailyEmails       *int   `json:"daily_emails" doc:"null: no cap."`
	MonthlyEmails     *int   `json:"monthly_emails" doc:"null: no cap."`
	DailySMS          *int   `json:"daily_sms" doc:"Text messages by the provider of the installation; null: no cap."`
	StoredBytes       *int   `json:"stored_bytes" doc:"Hard cap of stored bytes; null if unlimited."`
	DailyBytes        *int   `json:"daily_bytes" doc:"Hard cap of bytes stored in a day (UTC); null if unlimited."`
	IncludedEmails    *int   `json:"included_emails" doc:"A month, in the price; null: nothing is said."`
	Overage           bool   `json:"overage" doc:"Whether emails beyond the included ones are sent, and metered."`
	MaxDomains        int    `json:"max_domains" example:"10"`
	Sandboxed         bool   `json:"sandboxed" doc:"Whether its accounts write only to themselves until they have a verified domain and a payment method."`
}

type operatorPlanAnswer struct {
	Plan operatorPlanRecord `json:"plan"`
}

type operatorPlansAnswer struct {
	Plans []operatorPlanRecord `json:"plans" nullable:"false"`
}

func (e *edge) planRoutes(g *api.Group) {
	one := map[string]any{"plan": planExample()}
	api.Handle(g, api.Operation{
		Method: http.MethodGet, Path: "/operator/plans", ID: "listPlansAsOperator", Needs: rights.Operate,
		Summary: "List the installation's plans", Description: "From the least to the greatest, also those that customers cannot choose.",
		Example: map[string]any{"plans": []any{planExample()}},
	}, func(ctx context.Context, _ *api.Call, _ *api.None) (operatorPlansAnswer, error) {
		list, err := e.desk.Plans(ctx)
		return operatorPlansAnswer{wire.ListOf(list, newPlan)}, err
	})
	api.Handle(g, api.Operation{
		Method: http.MethodGet, Path: "/operator/plans/{id}", ID: "getPlanAsOperator", Needs: rights.Operate, Of: planNoun, Problems: []int{http.StatusNotFound},
		Summary: "Retrieve a plan of the installation", Description: "With all that it allows.", Example: one,
	}, func(ctx context.Context, _ *api.Call, in *api.Item) (operatorPlanAnswer, error) {
		return api.As(newPlanAnswer)(e.desk.Plan(ctx, in.ID))
	})
	api.HandleBody(g, api.Operation{
		Method: http.MethodPatch, Path: "/operator/plans/{id}", ID: "updatePlanAsOperator", Needs: rights.Operate, Confirmed: true, Audited: true, Of: planNoun,
		Problems: []int{http.StatusNotFound}, Summary: "Change a plan of the installation",
		Description: "Services follow within five seconds. What accounts on it have sent this month counts against a new cap. New plans are made by `postrider plan set`.",
		Body: &api.Body{About: "What to change, at least one.", Examples: map[string]any{
			"included": map[string]any{"included_emails": 50000, "overage": true}, "cap": map[string]any{"monthly_emails": 100000}}},
		Example: one,
	}, planBody, func(ctx context.Context, c *api.Call, in *api.Item, change plans.Change) (operatorPlanAnswer, error) {
		return api.As(newPlanAnswer)(e.desk.UpdatePlan(ctx, c.Caller, in.ID, change))
	})
}

func planBody(c *plans.Change) body.Object {
	number := func(from int) func(*int) body.IntegerType {
		return func(n *int) body.IntegerType { return body.Integer(n).From(from).UpTo(most) }
	}
	return body.Object{Name: "UpdatePlanAsOperator", Change: true, Fields: []body.Field{
		{Name: "name", Type: body.Maybe(&c.Name, func(to *string) body.Type { return body.Text(to).Length(1, 100) }), About: "What people call it."},
		{Name: "rank", Type: body.Maybe(&c.Rank, number(0)), About: "Changes to a plan of a greater rank hold at once, others at the end of the period."},
		{Name: "self_service", Type: body.Maybe(&c.SelfService, body.Boolean), About: "Whether customers may choose it."},
		{Name: "requests_per_second", Type: body.Maybe(&c.RequestsPerSecond, number(1)), About: "API requests a second."},
		body.IntegerOrNull("daily_emails", &c.DailyEmails, 1, most, "Hard cap of emails a day; null: none."),
		body.IntegerOrNull("monthly_emails", &c.MonthlyEmails, 1, most, "Hard cap of emails a month; null: none. Not beside overage."),
		body.IntegerOrNull("daily_sms", &c.DailySMS, 1, most, "Hard cap of text messages a day by the provider of the installation; null: none."),
		body.IntegerOrNull("stored_bytes", &c.StoredBytes, 1, accounts.MaxBytes, "Hard cap of stored bytes; null if unlimited."),
		body.IntegerOrNull("daily_bytes", &c.DailyBytes, 1, accounts.MaxBytes, "Hard cap of bytes stored in a day (UTC); null if unlimited."),
		body.IntegerOrNull("included_emails", &c.IncludedEmails, 0, most, "Emails a month that the price includes; null: nothing is said."),
		{Name: "overage", Type: body.Maybe(&c.Overage, body.Boolean), About: "Whether emails beyond the included ones are sent, and metered."},
		{Name: "max_domains", Type: body.Maybe(&c.MaxDomains, number(1)), About: "Sending domains."},
		{Name: "sandboxed", Type: body.Maybe(&c.Sandboxed, body.Boolean), About: "Whether accounts write only to themselves until they have a verified domain and a payment method."},
	}, Check: func(d *body.Decoder) { d.Also(c.Validate()) }}
}

func newPlan(p accounts.Plan) operatorPlanRecord {
	return operatorPlanRecord{ID: p.ID, Name: p.Name, Rank: p.Rank, SelfService: p.SelfService, RequestsPerSecond: p.RequestsPerSecond, DailyEmails: p.DailyEmails,
		MonthlyEmails: p.MonthlyEmails, DailySMS: p.DailySMS, StoredBytes: p.StoredBytes, DailyBytes: p.DailyBytes, IncludedEmails: p.IncludedEmails, Overage: p.Overage, MaxDomains: p.MaxDomains, Sandboxed: p.Sandboxed}
}

func newPlanAnswer(p accounts.Plan) operatorPlanAnswer { return operatorPlanAnswer{newPlan(p)} }

func planExample() map[string]any {
	return map[string]any{"id": "pro", "name": "Pro", "rank": 1, "self_service": true, "requests_per_second": 50, "daily_emails": nil, "monthly_emails": nil, "daily_sms": nil,
		"stored_bytes": 50_000_000_000, "daily_bytes": 5_000_000_000,
		"included_emails": 50000, "overage": true, "max_domains": 10, "sandboxed": false}
}
