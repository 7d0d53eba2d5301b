package operator

import (
	"context"
	"net/http"
	"time"

	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/billing"
	"github.com/postrider/postrider/modules/billing/metering"
	"github.com/postrider/postrider/modules/billing/watch"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/wire"
)

// Billing is what the operation needs of billing.
type Billing interface {
	Watch(ctx context.Context) (mode string, state watch.State, err error)
}

var _ Billing = (*billing.Service)(nil)

type operatorStuckRecord struct {
	AccountID string    `json:"account_id" example:"acc_01kf0m4w7he6x8q2v5b3n9c1ta"`
	Hour      wire.Time `json:"hour"`
	Emails    int64     `json:"emails" example:"340"`
	Reason    string    `json:"reason" doc:"In the words of the payment provider."`
}

type operatorProblemRecord struct {
	AccountID string `json:"account_id" example:"acc_01kf0m4w7he6x8q2v5b3n9c1ta"`
	What      string `json:"what" doc:"As two subscriptions, an unknown price, a dispute."`
}

type operatorBillingRecord struct {
	Enabled           bool                    `json:"enabled" doc:"Whether this installation takes payments."`
	Mode              *string                 `json:"mode" doc:"test or live; null where billing is off." example:"live"`
	Customers         int64                   `json:"customers" doc:"Accounts that have bought something, or have begun to." example:"12"`
	Due               int64                   `json:"due" doc:"Customers about whom the payment provider is to be asked now." example:"0"`
	Failing           int64                   `json:"failing" doc:"Customers for whom the last tries to ask failed." example:"0"`
	PastDue           int64                   `json:"past_due" doc:"Subscriptions with an overdue payment." example:"0"`
	LastEventAt       wire.OptionalTime       `json:"last_event_at" doc:"When the payment provider posted an event last."`
	UnreportedHours   int64                   `json:"unreported_hours" doc:"Hours of usage that were not told to the payment provider yet." example:"0"`
	UnreportedSeconds int64                   `json:"oldest_unreported_seconds" doc:"Age of the oldest of them." example:"0"`
	Stuck             []operatorStuckRecord   `json:"stuck" nullable:"false" doc:"Hours that the payment provider does not take; at most 100."`
	Problems          []operatorProblemRecord `json:"problems" nullable:"false" doc:"Accounts that want to be looked at; at most 100."`
}

type operatorBillingAnswer struct {
	Billing operatorBillingRecord `json:"billing"`
}

// BillingRoutes makes the route of what the operator sees of billing.
func BillingRoutes(service Billing) api.Routes {
	return api.NewRoutes("operator-billing", func(a *api.API) {
		api.Handle(a.Tag(tagOperator, ""), api.Operation{
			Method: http.MethodGet, Path: "/operator/billing", ID: "getBillingAsOperator", Needs: rights.Operate, Slow: true,
			Summary: "Retrieve the billing state", Description: "Returns pending, failed and disputed billing items without " +
				"contacting the payment provider.",
			Example: map[string]any{"billing": map[string]any{"enabled": true, "mode": "live", "customers": 12, "due": 0, "failing": 0, "past_due": 1, "last_event_at": exampleTime,
				"unreported_hours": 0, "oldest_unreported_seconds": 0, "stuck": []any{}, "problems": []any{map[string]any{"account_id": exampleAccount, "what": "A payment is disputed."}}}},
		}, func(ctx context.Context, _ *api.Call, _ *api.None) (operatorBillingAnswer, error) {
			mode, state, err := service.Watch(ctx)
			return operatorBillingAnswer{newBilling(mode, state)}, err
		})
	})
}

func newBilling(mode string, s watch.State) operatorBillingRecord {
	return operatorBillingRecord{Enabled: mode != "", Mode: wire.OrNull(mode), Customers: s.Customers, Due: s.Due, Failing: s.Failing, PastDue: s.PastDue,
		LastEventAt: wire.OptionalTime{At: s.LastEvent}, UnreportedHours: s.Backlog.Hours, UnreportedSeconds: int64(s.Backlog.Oldest / time.Second),
		Stuck: wire.ListOf(s.Backlog.Stuck, func(h metering.Stuck) operatorStuckRecord {
			return operatorStuckRecord{h.AccountID, wire.Time(h.Hour), h.Emails, h.Reason}
		}),
		Problems: wire.ListOf(s.Problems, func(p watch.Problem) operatorProblemRecord { return operatorProblemRecord(p) })}
}
