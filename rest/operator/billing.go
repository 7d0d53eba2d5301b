package operator

import (
	"context"
	"net/http"
	"time"

	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/billing"
	"github.com/postrider/postrider/modules/billing/metering"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/wire"
)

// Billing is the part of billing that the operation uses.
type Billing interface {
	Watch(ctx context.Context) (mode string, state metering.BillingState, err error)
}

var _ Billing = (*billing.Service)(nil)

type operatorStuckRecord struct {
	AccountID string    `json:"account_id" doc:"The ID of the account." example:"acc_01kf0m4w7he6x8q2v5b3n9c1ta"`
	Hour      wire.Time `json:"hour" doc:"The start of the hour."`
	Emails    int64     `json:"emails" doc:"The number of emails in the hour." example:"340"`
	Reason    string    `json:"reason" doc:"The error message of the payment provider."`
}

type operatorProblemRecord struct {
	AccountID string `json:"account_id" doc:"The ID of the account." example:"acc_01kf0m4w7he6x8q2v5b3n9c1ta"`
	What      string `json:"what" doc:"The problem, such as two subscriptions, an unknown price or a dispute."`
}

type operatorBillingRecord struct {
	Enabled           bool                    `json:"enabled" doc:"Whether billing is enabled on this installation."`
	Mode              *string                 `json:"mode" doc:"test or live; null if billing is disabled." example:"live"`
	Customers         int64                   `json:"customers" doc:"Number of accounts that have started or completed a checkout." example:"12"`
	Due               int64                   `json:"due" doc:"Number of customers that are due for synchronization with the payment provider." example:"0"`
	Failing           int64                   `json:"failing" doc:"Number of customers whose last synchronization failed." example:"0"`
	PastDue           int64                   `json:"past_due" doc:"Number of subscriptions with an overdue payment." example:"0"`
	LastEventAt       wire.OptionalTime       `json:"last_event_at" doc:"When the payment provider last sent an event; null if never."`
	UnreportedHours   int64                   `json:"unreported_hours" doc:"Number of hours whose usage has not been reported to the payment provider." example:"0"`
	UnreportedSeconds int64                   `json:"oldest_unreported_seconds" doc:"Age of the oldest unreported hour, in seconds." example:"0"`
	Stuck             []operatorStuckRecord   `json:"stuck" nullable:"false" doc:"Hours whose usage the payment provider rejects; at most 100."`
	Problems          []operatorProblemRecord `json:"problems" nullable:"false" doc:"Accounts that need attention; at most 100."`
}

type operatorBillingAnswer struct {
	Billing operatorBillingRecord `json:"billing" doc:"The billing state of the installation."`
}

// BillingRoutes returns the route of the operator's view of billing.
func BillingRoutes(service Billing) api.Routes {
	return api.NewRoutes("operator-billing", func(a *api.API) {
		api.Handle(a.Tag(tagOperator, ""), api.Operation{
			Method: http.MethodGet, Path: "/operator/billing", ID: "getBillingAsOperator", Needs: rights.Operate,
			Slow:    true,
			Summary: "Retrieve the state of billing",
			Description: "Returns customers and usage that are not synchronized, and " +
				"accounts that need attention, as stored. Does not contact the payment provider.",
			Example: map[string]any{"billing": map[string]any{"enabled": true, "mode": "live", "customers": 12,
				"due": 0, "failing": 0, "past_due": 1, "last_event_at": exampleTime,
				"unreported_hours": 0, "oldest_unreported_seconds": 0, "stuck": []any{},
				"problems": []any{map[string]any{"account_id": exampleAccount, "what": "A payment is disputed."}}}},
		}, func(ctx context.Context, _ *api.Call, _ *api.None) (operatorBillingAnswer, error) {
			mode, state, err := service.Watch(ctx)
			return operatorBillingAnswer{newBilling(mode, state)}, err
		})
	})
}

func newBilling(mode string, s metering.BillingState) operatorBillingRecord {
	return operatorBillingRecord{Enabled: mode != "", Mode: wire.OrNull(mode), Customers: s.Customers, Due: s.Due,
		Failing: s.Failing, PastDue: s.PastDue,
		LastEventAt: wire.OptionalTime{At: s.LastEvent}, UnreportedHours: s.Backlog.Hours,
		UnreportedSeconds: int64(s.Backlog.Oldest / time.Second),
		Stuck: wire.ListOf(s.Backlog.Stuck, func(h metering.Stuck) operatorStuckRecord {
			return operatorStuckRecord{h.AccountID, wire.Time(h.Hour), h.Emails, h.Reason}
		}),
		Problems: wire.ListOf(s.Problems,
			func(p metering.BillingProblem) operatorProblemRecord { return operatorProblemRecord(p) })}
}
