package operator

import (
	"context"
	"net/http"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/plans"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/body"
	"github.com/postrider/postrider/rest/api/openapi"
	"github.com/postrider/postrider/rest/api/wire"
)

var planNoun = api.Noun{Name: "plan", About: "ID of the plan.", Example: "pro"}

type operatorPlanRecord accounts.Plan

type operatorPlanAnswer struct {
	Plan operatorPlanRecord `json:"plan" doc:"The plan."`
}

type operatorPlansAnswer struct {
	Plans []operatorPlanRecord `json:"plans" nullable:"false" doc:"All plans of the installation."`
}

func (e *edge) planRoutes(g *api.TagGroup) {
	one := map[string]any{"plan": openapi.Example(accounts.ExamplePro)}
	api.Handle(g, api.Operation{
		Method: http.MethodGet, Path: "/operator/plans", ID: "listPlansAsOperator", Needs: rights.Operate,
		Summary: "List the installation's plans", Description: "Lists plans, smallest first, including those that " +
			"customers cannot choose.",
		Example: map[string]any{"plans": []any{openapi.Example(accounts.ExamplePro)}},
	}, func(ctx context.Context, _ *api.Call, _ *api.None) (operatorPlansAnswer, error) {
		list, err := e.desk.Plans(ctx)
		return operatorPlansAnswer{wire.ListOf(list, newPlan)}, err
	})
	api.Handle(g, api.Operation{
		Method: http.MethodGet, Path: "/operator/plans/{id}", ID: "getPlanAsOperator", Needs: rights.Operate,
		Of: planNoun, Problems: []int{http.StatusNotFound},
		Summary: "Retrieve a plan of the installation", Description: "Returns a plan with its limits and features.",
		Example: one,
	}, func(ctx context.Context, _ *api.Call, in *api.Item) (operatorPlanAnswer, error) {
		return api.As(newPlanAnswer)(e.desk.Plan(ctx, in.ID))
	})
	api.HandleBody(g, api.Operation{
		Method: http.MethodPatch, Path: "/operator/plans/{id}", ID: "updatePlanAsOperator", Needs: rights.Operate,
		Confirmed: true, Audited: true, Of: planNoun,
		Problems: []int{http.StatusNotFound}, Summary: "Change a plan of the installation",
		Description: "Updates a plan. Services apply it within 5 seconds. Emails already sent this month count " +
			"against a new cap. Create plans with `postrider admin plan set`.",
		Body:    &api.Body{About: "The fields to change. At least one is required.", Examples: plans.ExampleChanges},
		Example: one,
	}, planBody, func(ctx context.Context, c *api.Call, in *api.Item,
		change plans.PlanChange) (operatorPlanAnswer, error) {
		return api.As(newPlanAnswer)(e.desk.UpdatePlan(ctx, c.Caller, in.ID, change))
	})
}

func planBody(c *plans.PlanChange) body.Object {
	object := body.Object{Name: "UpdatePlanAsOperator", Change: true,
		Check: func(d *body.Decoder) { d.AddErrors(c.Validate()) }}
	for _, f := range c.Fields() {
		field := body.Field{Name: f.Name, About: f.About}
		switch to := f.To.(type) {
		case **string:
			field.Type = body.Pointer(to, func(to *string) body.Type { return body.Text(to).Length(1, f.Max) })
		case **bool:
			field.Type = body.Pointer(to, body.Boolean)
		case **int:
			field.Type = body.Pointer(to, func(to *int) body.IntegerType {
				return body.Integer(to).AtLeast(f.Min).
					UpTo(f.Max)
			})
		case ***int:
			field = body.IntegerOrNull(f.Name, to, f.Min, f.Max, f.About)
		}
		object.Fields = append(object.Fields, field)
	}
	return object
}

func newPlan(p accounts.Plan) operatorPlanRecord { return operatorPlanRecord(p) }

func newPlanAnswer(p accounts.Plan) operatorPlanAnswer { return operatorPlanAnswer{newPlan(p)} }
