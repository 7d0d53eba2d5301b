package api_test

import (
	"context"
	"testing"
	"time"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/plans"
	"github.com/postrider/postrider/modules/billing"
	"github.com/postrider/postrider/modules/billing/metering"
	"github.com/postrider/postrider/modules/billing/provider"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/page"
)

// fakeBilling is the billing of a paying account.
type fakeBilling struct {
	fail   error
	off    bool
	change billing.SettingsChange
	asked  plans.UsagePeriod
	by     plans.By
}

func (f *fakeBilling) Overview(context.Context, string) (billing.Overview, error) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	o := billing.Overview{Plan: proPlan(), Status: billing.StatusNone, BillingEmail: "ada@example.com",
		PeriodStart: start, PeriodEnd: start.AddDate(0, 1, 0),
		Emails: 340, Unlocked: true, Verified: true}
	if f.off {
		return o, f.fail
	}
	limit := 60000
	o.Enabled, o.Mode, o.Status, o.OnFile, o.MonthlyLimit, o.MonthlyCap = true, billing.Test, "past_due", true,
		&limit, &limit
	o.PaymentMethod = &billing.Card{Brand: "visa", Last4: "4242", Month: 12, Year: 2030}
	o.PendingPlan, o.PendingAt, o.Problems = "free", &o.PeriodEnd, []string{"A payment is overdue"}
	return o, f.fail
}

func (f *fakeBilling) Update(ctx context.Context, accountID string,
	c billing.SettingsChange) (billing.Overview, error) {
	f.change = c
	return f.Overview(ctx, accountID)
}

func (f *fakeBilling) Offers(context.Context, string) ([]billing.Offer, error) {
	included := 100_000
	pool := accounts.Plan{ID: "pool", Name: "Pool", RequestsPerSecond: 500, MaxDomains: 1000, IncludedEmails: &included,
		Overage: true}
	return []billing.Offer{{Plan: proPlan(), Current: true},
		{Plan: pool, Price: &billing.Price{Amount: 4900, Currency: "eur", Interval: "month"},
			OveragePrice: &billing.Price{Amount: 40, Currency: "eur"}}}, f.fail
}

func (f *fakeBilling) Usage(_ context.Context, _ string, r plans.UsagePeriod, by plans.By) ([]plans.Period, error) {
	f.asked, f.by = r, by
	return []plans.Period{{Start: time.Date(2026, 1, 15, 0, 0, 0, 0, time.UTC), Emails: 340},
		{Start: time.Date(2026, 1, 16, 0, 0, 0, 0, time.UTC)}}, f.fail
}

func (f *fakeBilling) CardPage(_ context.Context, _, back string) (billing.HostedPage, error) {
	return f.page("card", back)
}

func (f *fakeBilling) PlanPage(_ context.Context, _, plan, back string) (billing.HostedPage, error) {
	return f.page(plan, back)
}

func (f *fakeBilling) page(what, back string) (billing.HostedPage, error) {
	at := time.Date(2026, 1, 16, 9, 0, 0, 0, time.UTC)
	return billing.HostedPage{URL: "https://checkout.stripe.com/" + what + back, Expires: &at}, f.fail
}

func (f *fakeBilling) Preview(context.Context, string, string) (billing.Quote, error) {
	return billing.Quote{ChangeCost: provider.ChangeCost{AmountDue: 1234, Currency: "eur",
		Lines: []provider.Line{{Text: "Remaining time on Pool", Amount: 1234}}}, Effective: billing.Now}, f.fail
}

func (f *fakeBilling) SetPlan(ctx context.Context, account, _ string) (billing.Overview, string, error) {
	o, err := f.Overview(ctx, account)
	return o, billing.PeriodEnd, err
}

func (f *fakeBilling) KeepPlan(ctx context.Context, account string) (billing.Overview, error) {
	return f.Overview(ctx, account)
}

func (f *fakeBilling) Sync(ctx context.Context, account string) (billing.Overview, error) {
	return f.Overview(ctx, account)
}

func (f *fakeBilling) Portal(context.Context, string, string) (string, error) {
	return "https://billing.stripe.com/p/session/a1", f.fail
}

func (f *fakeBilling) Invoices(_ context.Context, _ string, r page.Request) (page.Page[provider.Invoice], error) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	one := provider.Invoice{ID: "in_2", Number: "ACME-0001", Status: "paid", Currency: "eur", Total: 4900,
		PeriodStart: &at, PeriodEnd: &at, Created: &at,
		URL: "https://invoice.stripe.com/i/a1", PDF: "https://pay.stripe.com/invoice/a1/pdf"}
	found := page.Page[provider.Invoice]{Items: []provider.Invoice{one}, HasMore: r.Limit == 1}
	if found.HasMore {
		found.NextCursor = "next"
	}
	return found, f.fail
}

func proPlan() accounts.Plan {
	return accounts.Plan{ID: "pro", Name: "Pro", RequestsPerSecond: 50, MaxDomains: 10}
}

func newBillingBundle(t *testing.T) *bundle {
	t.Helper()
	b := newFakes(t)
	b.start(t, b.routesBelow("billing"), func(o *api.Options) {
		o.People, o.BaseURL, o.Audit = fakePeople{}, baseURL,
			&recorder{}
	})
	return b
}

func TestBillingAnswers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		request request
		off     bool
		fail    error
		status  int
	}{
		"plans":             {request: request{method: "GET", path: "/api/plans"}, status: 200},
		"billing":           {request: request{method: "GET", path: "/api/billing"}, status: 200},
		"billing_off":       {request: request{method: "GET", path: "/api/billing"}, off: true, status: 200},
		"billing_read":      {request: request{method: "GET", path: "/api/billing", key: "read"}, status: 403},
		"billing_key":       {request: request{method: "PATCH", path: "/api/billing", body: `{"monthly_limit":1}`}, status: 403},
		"billing_changed":   {request: as("billing", "PATCH", "/api/billing", `{"monthly_limit":null}`), status: 200},
		"billing_zero":      {request: as("owner", "PATCH", "/api/billing", `{"monthly_limit":0}`), status: 400},
		"billing_negative":  {request: as("owner", "PATCH", "/api/billing", `{"monthly_limit":-1}`), status: 400},
		"billing_half":      {request: as("owner", "PATCH", "/api/billing", `{"monthly_limit":1.5,"plan":"pro"}`), status: 400},
		"billing_huge":      {request: as("owner", "PATCH", "/api/billing", `{"monthly_limit":9223372036854775808}`), status: 400},
		"billing_email":     {request: as("owner", "PATCH", "/api/billing", `{"billing_email":"Ada <ada@example.com>"}`), status: 400},
		"billing_nothing":   {request: as("owner", "PATCH", "/api/billing", `{}`), status: 200},
		"billing_developer": {request: as("developer", "PATCH", "/api/billing", `{"monthly_limit":1}`), status: 403},
		"billing_disabled": {request: as("owner", "PATCH", "/api/billing", `{"billing_email":"ada@example.com"}`),
			status: 409, fail: fault.Conflictf(fault.CodeBillingDisabled,
				"This installation does not accept payments. Its operator assigns plans.")},
		"billing_payment_due": {request: as("owner", "PATCH", "/api/billing", `{"monthly_limit":7}`), status: 409,
			fail: fault.Conflictf(fault.CodePaymentDue,
				"A payment is overdue: pay it or add another card before you change the plan")},
		"billing_card":          {request: as("owner", "POST", "/api/billing/payment-method", `{"return_path":"/x"}`), status: 200},
		"billing_card_role":     {request: as("developer", "POST", "/api/billing/payment-method", `{}`), status: 403},
		"billing_card_unsure":   {request: as("owner-unconfirmed", "POST", "/api/billing/payment-method", `{}`), status: 403},
		"billing_checkout":      {request: as("billing", "POST", "/api/billing/checkout", `{"plan":"pro"}`), status: 200},
		"billing_checkout_none": {request: as("owner", "POST", "/api/billing/checkout", `{"price":1}`), status: 400},
		"billing_checkout_away": {request: as("owner", "POST", "/api/billing/checkout", `{"plan":"pro"}`), status: 502,
			fail: provider.Upstream(context.DeadlineExceeded)},
		"billing_preview": {request: as("owner", "POST", "/api/billing/plan/preview", `{"plan":"pool"}`), status: 200},
		"billing_plan":    {request: as("owner", "PUT", "/api/billing/plan", `{"plan":"pro"}`), status: 200},
		"billing_plan_due": {request: as("owner", "PUT", "/api/billing/plan", `{"plan":"pro"}`), status: 409,
			fail: fault.Conflictf(fault.CodePaymentDue,
				"A payment is overdue: pay it or add another card before you change the plan")},
		"billing_plan_key":   {request: request{method: "PUT", path: "/api/billing/plan", body: `{"plan":"pro"}`}, status: 403},
		"billing_keep":       {request: as("owner", "DELETE", "/api/billing/plan/pending", ""), status: 200},
		"billing_portal":     {request: as("owner", "POST", "/api/billing/portal", `{}`), status: 200},
		"billing_sync":       {request: as("owner", "POST", "/api/billing/sync", ""), status: 200},
		"billing_invoices":   {request: request{method: "GET", path: "/api/billing/invoices?limit=1"}, status: 200},
		"billing_usage":      {request: request{method: "GET", path: "/api/billing/usage?by=day&since=2026-01-15T00:00:00Z"}, status: 200},
		"billing_usage_bad":  {request: request{method: "GET", path: "/api/billing/usage?by=week&since=yesterday&until=2026"}, status: 400},
		"billing_usage_none": {request: request{method: "GET", path: "/api/billing/usage?since=2026"}, status: 400},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBillingBundle(t)
			b.billing.fail, b.billing.off = c.fail, c.off
			got := b.do(t, c.request)
			if got.status != c.status {
				t.Errorf("status %d, want %d: %s", got.status, c.status, got.body)
			}
			expect.Golden(t, "answers/"+name+".json", got.body)
		})
	}
}

func TestALimitIsTakenAwayByNull(t *testing.T) {
	t.Parallel()
	b := newBillingBundle(t)
	b.do(t, as("owner", "PATCH", "/api/billing", `{"monthly_limit":null}`))
	if c := b.billing.change; c.MonthlyLimit == nil || *c.MonthlyLimit != nil || c.BillingEmail != nil {
		t.Errorf("the service was asked for the change %+v, want no limit and nothing else", c)
	}
	b.do(t, as("owner", "PATCH", "/api/billing", `{"monthly_limit":5}`))
	if c := b.billing.change; c.MonthlyLimit == nil || *c.MonthlyLimit == nil || **c.MonthlyLimit != 5 {
		t.Errorf("the service was asked for the change %+v, want a limit of 5", c)
	}
}

func (f *fakeBilling) Watch(context.Context) (string, metering.BillingState, error) {
	return "", metering.BillingState{}, f.fail
}
