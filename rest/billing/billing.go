package billing

import (
	"context"
	"net/http"
	"time"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/plans"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/billing"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/body"
	"github.com/postrider/postrider/rest/api/openapi"
	"github.com/postrider/postrider/rest/api/wire"
	"github.com/postrider/postrider/runtime/base/fault"
)

// Service is the part of billing that the operations use.
type Service interface {
	Overview(ctx context.Context, accountID string) (billing.Overview, error)
	Update(ctx context.Context, accountID string, c billing.SettingsChange) (billing.Overview, error)
	Offers(ctx context.Context, accountID string) ([]billing.Offer, error)
}

// Usage is the part of plans that the operations use.
type Usage interface {
	Usage(ctx context.Context, accountID string, r plans.UsagePeriod, by plans.By) ([]plans.Period, error)
}

var (
	_ Service = (*billing.Service)(nil)
	_ Usage   = (*plans.Service)(nil)
)

const tagBilling = "Billing"

type price struct {
	Amount   int64  `json:"amount" doc:"Amount in minor units of the currency, such as cents." example:"2000"`
	Currency string `json:"currency" doc:"ISO 4217, in lower case." example:"eur"`
	Interval string `json:"interval" enum:"day,week,month,year" doc:"The unit of the billing interval." example:"month"`
}

type overagePrice struct {
	Amount   int64  `json:"amount" doc:"Amount in minor units of the currency, such as cents." example:"40"`
	Currency string `json:"currency" doc:"ISO 4217, in lower case." example:"eur"`
	Emails   int    `json:"emails" doc:"Number of emails that the amount covers." example:"1000"`
}

type planLimits accounts.OfferedLimits

type planRecord struct {
	ID             string                      `json:"id" doc:"The ID of the plan." example:"pro"`
	Name           string                      `json:"name" doc:"The name of the plan." example:"Pro"`
	Limits         planLimits                  `json:"limits" doc:"The limits of the plan."`
	IncludedEmails *int                        `json:"included_emails" doc:"Emails per month included in the price; null if not configured."`
	Overage        bool                        `json:"overage" doc:"Whether emails beyond the included volume are sent and billed."`
	Price          wire.Optional[price]        `json:"price" doc:"Price of the plan; null if it is free, or if the price is currently unknown."`
	OveragePrice   wire.Optional[overagePrice] `json:"overage_price" doc:"The price of emails beyond the included volume. null if the plan has no overage."`
	Current        bool                        `json:"current" doc:"Whether this is the current plan of the account."`
}

type plansAnswer struct {
	Plans []planRecord `json:"plans" nullable:"false" doc:"The plans that the account can choose."`
}

type cardRecord struct {
	Brand    string `json:"brand" doc:"Brand of the card, or the type of another payment method, such as sepa_debit." example:"visa"`
	Last4    string `json:"last4" doc:"The last four digits of the card number." example:"4242"`
	ExpMonth int    `json:"exp_month" doc:"The month in which the card expires; 0 if it does not expire." example:"12"`
	ExpYear  int    `json:"exp_year" doc:"The year in which the card expires." example:"2030"`
}

type usageOfMonth struct {
	Emails   int64 `json:"emails" doc:"Emails this month (UTC)." example:"12000"`
	Included *int  `json:"included" doc:"Emails included in the price of the plan; null if not configured."`
	Over     int64 `json:"over" doc:"Emails beyond the included volume." example:"0"`
	Limit    *int  `json:"limit" doc:"Limit beyond which emails are refused: the lower of the plan's cap and the account's own limit; null if unlimited."`
}

type production struct {
	Unlocked       bool `json:"unlocked" doc:"Whether the account may send to recipients other than itself."`
	VerifiedDomain bool `json:"verified_domain" doc:"Whether the account has a verified domain."`
	PaymentMethod  bool `json:"payment_method" doc:"Whether the account has a payment method."`
}

type planName struct {
	ID   string `json:"id" doc:"The ID of the plan." example:"pro"`
	Name string `json:"name" doc:"The name of the plan." example:"Pro"`
}

type billingRecord struct {
	Enabled            bool                      `json:"enabled" doc:"Whether this installation takes payments. If not, its operator assigns plans."`
	Mode               *string                   `json:"mode" doc:"test or live; null if billing is disabled." example:"live"`
	Plan               planName                  `json:"plan" doc:"The plan of the account."`
	Status             string                    `json:"status" enum:"none,incomplete,incomplete_expired,trialing,active,past_due,canceled,unpaid,paused" doc:"Status of the subscription."`
	PaymentMethod      wire.Optional[cardRecord] `json:"payment_method" doc:"The payment method on file. null if there is none."`
	BillingEmail       string                    `json:"billing_email" doc:"The address that invoices are sent to." example:"ada@example.com"`
	CurrentPeriodStart wire.Time                 `json:"current_period_start" doc:"When the current billing period started."`
	CurrentPeriodEnd   wire.Time                 `json:"current_period_end" doc:"When the current billing period ends."`
	CancelAt           wire.OptionalTime         `json:"cancel_at" doc:"When the subscription ends. null if it is not cancelled."`
	PendingPlan        *string                   `json:"pending_plan" doc:"The plan that takes effect at pending_at. null if no change is pending."`
	PendingAt          wire.OptionalTime         `json:"pending_at" doc:"When the pending change of plan takes effect. null if none is pending."`
	Usage              usageOfMonth              `json:"usage" doc:"The usage of the current period."`
	MonthlyLimit       *int                      `json:"monthly_limit" doc:"The account's own limit on emails per month; null if not set."`
	Production         production                `json:"production" doc:"The conditions for sending to all recipients."`
	Problems           []string                  `json:"problems" nullable:"false" doc:"Actions that the account's owners should take."`
}

type billingAnswer struct {
	Billing billingRecord `json:"billing" doc:"The billing state of the account."`
}

type usagePeriod struct {
	Period wire.Time `json:"period" doc:"Start of the period, in UTC."`
	Emails int64     `json:"emails" doc:"The number of emails in the period." example:"340"`
}

type usageAnswer struct {
	Usage []usagePeriod `json:"usage" nullable:"false" doc:"The usage of each period, oldest first."`
	Total int64         `json:"total" doc:"The number of emails in all periods." example:"340"`
}

type usageInput struct {
	Since string `query:"since" format:"date-time" doc:"Start of the range, at most 13 months ago. Defaults to the start of the current month (UTC)."`
	Until string `query:"until" format:"date-time" doc:"End of the range, exclusive. Defaults to now."`
	By    string `query:"by" enum:"hour,day,month" default:"day" doc:"The length of the periods, in UTC. The range is extended to full periods."`
}

type edge struct {
	billing Service
	usage   Usage
}

// Routes returns the routes of plans, billing and usage.
func Routes(service Service, usage Usage) api.Routes {
	return api.NewRoutes("billing", func(a *api.API) {
		e := &edge{service, usage}
		g := a.Tag(tagBilling,
			"Plans, usage and payments of the account. Amounts are in minor units of their currency.")
		one := map[string]any{"billing": billingExample()}
		api.Handle(g, api.Operation{
			Method: http.MethodGet, Path: "/plans", ID: "listPlans", Needs: rights.ReadAccount, Slow: true,
			Summary: "List plans", Description: "Lists the plans that you can choose and your current plan, " +
				"smallest first.",
			Example: map[string]any{"plans": []any{planExample()}},
		}, e.listPlans)
		api.Handle(g, api.Operation{
			Method: http.MethodGet, Path: "/billing", ID: "getBilling", Needs: rights.ReadBilling, Slow: true,
			Summary: "Retrieve billing", Description: "Returns the plan, usage and payment state of the account, " +
				"and the conditions it must meet to send to any recipient.", Example: one,
		}, e.getBilling)
		api.HandleBody(g, api.Operation{
			Method: http.MethodPatch, Path: "/billing", ID: "updateBilling", Needs: rights.Billing, Slow: true,
			Problems: []int{http.StatusConflict},
			Summary:  "Change billing",
			Description: "Updates billing settings. `monthly_limit` is the account's own limit: further emails fail " +
				"with 429 `plan_limit` and `details.cap` `own`. Emails already sent this month count. " +
				"`billing_email` fails with 409 `billing_disabled` if billing is disabled.",
			Body: &api.Body{About: "The settings to change, at least one.", Examples: map[string]any{
				"limit": map[string]any{"monthly_limit": 50000}, "no_limit": map[string]any{"monthly_limit": nil}}},
			Example: one,
		}, changeBody, e.updateBilling)
		api.Handle(g, api.Operation{
			Method: http.MethodGet, Path: "/billing/usage", ID: "getUsage", Needs: rights.ReadBilling,
			Summary: "Retrieve usage", Description: "Returns the number of emails that entered delivery, on any " +
				"plan. A scheduled email counts at its scheduled time; a suppressed one never counts. Usage is kept for 13 months.",
			Example: map[string]any{"usage": []any{map[string]any{"period": exampleTime(1, 15, 0), "emails": 340}},
				"total": 340},
		}, e.getUsage)
	})
}

func changeBody(c *billing.SettingsChange) body.Object {
	return body.Object{Name: "UpdateBilling", Change: true, Fields: []body.Field{
		{Name: "billing_email", Type: body.Pointer(&c.BillingEmail, body.Text), About: "The address that invoices are sent to."},
		body.IntegerOrNull("monthly_limit", &c.MonthlyLimit, 1, accounts.MaxMonthlyLimit,
			"The account's own limit on emails per month; null if not set."),
	}, Check: func(d *body.Decoder) { d.AddErrors(c.Validate()) }}
}

func (e *edge) listPlans(ctx context.Context, c *api.Call, _ *api.None) (plansAnswer, error) {
	list, err := e.billing.Offers(ctx, c.AccountID)
	return plansAnswer{wire.ListOf(list, newPlan)}, err
}

func (e *edge) getBilling(ctx context.Context, c *api.Call, _ *api.None) (billingAnswer, error) {
	return api.As(newBilling)(e.billing.Overview(ctx, c.AccountID))
}

func (e *edge) updateBilling(ctx context.Context, c *api.Call, _ *api.None,
	change billing.SettingsChange) (billingAnswer, error) {
	return api.As(newBilling)(e.billing.Update(ctx, c.AccountID, change))
}

func (e *edge) getUsage(ctx context.Context, c *api.Call, in *usageInput) (answer usageAnswer, err error) {
	wrong := fault.Fields{}
	var r plans.UsagePeriod
	if since := api.QueryTime(wrong, "since", in.Since); since != nil {
		r.Since = *since
	}
	if until := api.QueryTime(wrong, "until", in.Until); until != nil {
		r.Until = *until
	}
	if err := wrong.Err(); err != nil {
		return answer, err
	}
	list, err := e.usage.Usage(ctx, c.AccountID, r, plans.By(in.By))
	if err != nil {
		return answer, err
	}
	for _, p := range list {
		answer.Total += p.Emails
	}
	answer.Usage = wire.ListOf(list,
		func(p plans.Period) usagePeriod { return usagePeriod{wire.Time(p.Start), p.Emails} })
	return answer, nil
}

func newPlan(o billing.Offer) planRecord {
	r := planRecord{ID: o.ID, Name: o.Name, IncludedEmails: o.IncludedEmails, Overage: o.Plan.Overage,
		Current: o.Current,
		Limits:  planLimits(o.OfferedLimits())}
	if p := o.Price; p != nil {
		r.Price = wire.FromPointer(&price{p.Amount, p.Currency, p.Interval})
	}
	if p := o.OveragePrice; p != nil {
		r.OveragePrice = wire.FromPointer(&overagePrice{p.Amount, p.Currency, billing.OverageUnit})
	}
	return r
}

func newBilling(o billing.Overview) billingAnswer {
	r := billingRecord{Enabled: o.Enabled, Plan: planName{o.Plan.ID, o.Plan.Name}, Status: o.Status,
		BillingEmail:       o.BillingEmail,
		CurrentPeriodStart: wire.Time(o.PeriodStart), CurrentPeriodEnd: wire.Time(o.PeriodEnd),
		CancelAt:    wire.OptionalTime{At: o.CancelAt},
		PendingPlan: wire.OrNull(o.PendingPlan), PendingAt: wire.OptionalTime{At: o.PendingAt},
		MonthlyLimit: o.MonthlyLimit,
		Usage:        usageOfMonth{o.Emails, o.Plan.IncludedEmails, o.Over, o.MonthlyCap},
		Production:   production{o.Unlocked, o.Verified, o.OnFile}, Problems: wire.List(o.Problems)}
	if o.Mode != "" {
		r.Mode = &o.Mode
	}
	if c := o.PaymentMethod; c != nil {
		r.PaymentMethod = wire.FromPointer(&cardRecord{c.Brand, c.Last4, c.Month, c.Year})
	}
	return billingAnswer{r}
}

func exampleTime(month time.Month, day, hour int) string {
	return time.Date(2026, month, day, hour, 0, 0, 0, time.UTC).Format(wire.Layout)
}

func planExample() map[string]any {
	return map[string]any{"id": "pool", "name": "Pool", "limits": openapi.Example(accounts.ExamplePool.OfferedLimits()),
		"included_emails": accounts.ExamplePool.IncludedEmails, "overage": true,
		"price":         map[string]any{"amount": 4900, "currency": "eur", "interval": "month"},
		"overage_price": map[string]any{"amount": 40, "currency": "eur", "emails": 1000}, "current": false}
}

func billingExample() map[string]any {
	return map[string]any{"enabled": true, "mode": "live", "plan": map[string]any{"id": "pro", "name": "Pro"},
		"status":         "active",
		"payment_method": map[string]any{"brand": "visa", "last4": "4242", "exp_month": 12, "exp_year": 2030}, "billing_email": "ada@example.com",
		"current_period_start": exampleTime(1, 1, 0), "current_period_end": exampleTime(2, 1, 0), "cancel_at": nil, "pending_plan": nil, "pending_at": nil,
		"usage": map[string]any{"emails": 12000, "included": 50000, "over": 0, "limit": 60000}, "monthly_limit": 60000,
		"production": map[string]any{"unlocked": true, "verified_domain": true, "payment_method": true}, "problems": []any{}}
}
