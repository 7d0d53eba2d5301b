package graph

import (
	"context"
	"strings"
	"time"

	"github.com/postrider/postrider/graph/model"
	"github.com/postrider/postrider/modules/accounts/plans"
	"github.com/postrider/postrider/modules/billing"
)

// Usage reads the number of emails that accounts handed over for delivery.
type Usage interface {
	Report(ctx context.Context, accountID string, r plans.UsagePeriod, by plans.By) (plans.UsageReport, error)
}

// Billing reads the plans and billing state of accounts.
type Billing interface {
	Overview(ctx context.Context, accountID string) (billing.Overview, error)
	Offers(ctx context.Context, accountID string) ([]billing.Offer, error)
}

var (
	_ Usage   = (*plans.Service)(nil)
	_ Billing = (*billing.Service)(nil)
)

func usageRange(since, until *time.Time) (r plans.UsagePeriod) {
	if since != nil {
		r.Since = *since
	}
	if until != nil {
		r.Until = *until
	}
	return r
}

func toReport(r plans.UsageReport) *model.UsageReport {
	out := &model.UsageReport{Emails: int(r.Emails), Included: r.Included, Over: int(r.Over), Limit: r.Limit,
		Periods: make([]*model.UsagePeriod, len(r.Periods))}
	if r.Projected != nil {
		n := int(*r.Projected)
		out.Projected = &n
	}
	for i, p := range r.Periods {
		out.Periods[i] = &model.UsagePeriod{Start: p.Start, Emails: int(p.Emails)}
	}
	return out
}

func periodLength(l model.UsagePeriodLength) plans.By { return plans.By(strings.ToLower(string(l))) }

func toMoney(p *billing.Price) *model.Money {
	if p == nil {
		return nil
	}
	return &model.Money{Amount: int(p.Amount), Currency: p.Currency}
}

func toOffer(o billing.Offer) *model.PlanOffer {
	out := &model.PlanOffer{ID: o.ID, Name: o.Name, Limits: &o.Plan, IncludedEmails: o.IncludedEmails,
		Overage: o.Plan.Overage, Price: toMoney(o.Price),
		OveragePrice: toMoney(o.OveragePrice), Current: o.Current}
	if o.Price != nil {
		out.PriceInterval = &o.Price.Interval
	}
	return out
}

func toBilling(o billing.Overview) *model.Billing {
	out := &model.Billing{Enabled: o.Enabled, Plan: &o.Plan, Status: o.Status, BillingEmail: o.BillingEmail,
		CurrentPeriodStart: o.PeriodStart,
		CurrentPeriodEnd:   o.PeriodEnd, CancelAt: o.CancelAt, PendingAt: o.PendingAt, Emails: int(o.Emails),
		Over: int(o.Over), MonthlyLimit: o.MonthlyLimit,
		Production: &model.Production{Unlocked: o.Unlocked, VerifiedDomain: o.Verified, PaymentMethod: o.OnFile},
		Problems:   append([]string{}, o.Problems...)}
	if o.Mode != "" {
		out.Mode = &o.Mode
	}
	if o.PendingPlan != "" {
		out.PendingPlan = &o.PendingPlan
	}
	if c := o.PaymentMethod; c != nil {
		out.PaymentMethod = &model.PaymentMethod{Brand: c.Brand, Last4: c.Last4, ExpMonth: c.Month, ExpYear: c.Year}
	}
	return out
}
