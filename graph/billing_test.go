package graph

import (
	"context"
	"fmt"
	"testing"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/plans"
	"github.com/postrider/postrider/modules/billing"
	"github.com/postrider/postrider/runtime/base/fault"
)

// fakeBilling has the billing state of ada; bob is on the plan free.
type fakeBilling struct{ *calls }

func (f fakeBilling) Report(_ context.Context, accountID string, r plans.UsagePeriod,
	by plans.By) (plans.UsageReport, error) {
	if !r.Since.IsZero() && !r.Until.IsZero() && !r.Since.Before(r.Until) {
		return plans.UsageReport{}, fault.InvalidField("since", "must be before until, and in the past")
	}
	included, projected := 1000, int64(700)
	out := plans.UsageReport{Emails: 340, Included: &included, Projected: &projected,
		Periods: []plans.Period{{Start: day.UTC(), Emails: 340}}}
	if accountID != ada {
		out = plans.UsageReport{Periods: []plans.Period{}}
	}
	return out, f.call("Report " + string(by))
}

func (f fakeBilling) Overview(_ context.Context, accountID string) (billing.Overview, error) {
	o := billing.Overview{Plan: accounts.Plan{ID: "free", Name: "Free", RequestsPerSecond: 10, MaxDomains: 1},
		Status: billing.StatusNone, BillingEmail: accountID, PeriodStart: day, PeriodEnd: day}
	if accountID == ada {
		o.Plan, o.Enabled, o.Mode, o.Status = accounts.Plan{ID: "pro", Name: "Pro", RequestsPerSecond: 50,
			MaxDomains: 10}, true, billing.Live, "active"
		o.PaymentMethod, o.PendingPlan, o.PendingAt = &billing.Card{Brand: "visa", Last4: "4242", Month: 12,
			Year: 2030}, "free", &o.PeriodEnd
	}
	return o, f.call("Overview")
}

func (f fakeBilling) Offers(_ context.Context, accountID string) ([]billing.Offer, error) {
	return []billing.Offer{{Plan: accounts.Plan{ID: "pro", Name: "Pro", RequestsPerSecond: 50, MaxDomains: 10},
		Price:   &billing.Price{Amount: 2000, Currency: "eur", Interval: "month"},
		Current: accountID == ada}}, f.call("Offers")
}

func TestBillingIsOfTheCallersAccount(t *testing.T) {
	t.Parallel()
	srv := newServer(t, setup{})
	const query = `{ billing { enabled mode plan { id } status paymentMethod { last4 } pendingPlan problems production { unlocked } }
		plans { id price { amount currency } priceInterval overagePrice { amount } current limits { maxDomains } }
		usage(by: MONTH) { emails included over limit projected periods { start emails } } }`
	for key, want := range map[string]string{
		"svc_full": `map[billing:map[enabled:true mode:live paymentMethod:map[last4:4242] pendingPlan:free plan:map[id:pro] problems:[] production:map[unlocked:false] status:active] ` +
			`plans:[map[current:true id:pro limits:map[maxDomains:10] overagePrice:<nil> price:map[amount:2000 currency:eur] priceInterval:month]] ` +
			`usage:map[emails:340 included:1000 limit:<nil> over:0 periods:[map[emails:340 start:2026-01-15T09:30:00.007Z]] projected:700]]`,
		"svc_bob": `map[billing:map[enabled:false mode:<nil> paymentMethod:<nil> pendingPlan:<nil> plan:map[id:free] problems:[] production:map[unlocked:false] status:none] ` +
			`plans:[map[current:false id:pro limits:map[maxDomains:10] overagePrice:<nil> price:map[amount:2000 currency:eur] priceInterval:month]] ` +
			`usage:map[emails:0 included:<nil> limit:<nil> over:0 periods:[] projected:<nil>]]`,
	} {
		got := srv.askAs(t, key, query, nil)
		if text := fmt.Sprint(got.Data); text != want || len(got.Errors) != 0 {
			t.Errorf("%s got %s %v, want %s", key, text, got.Errors, want)
		}
	}
	if got := srv.askAs(t, "svc_read", `{ usage { emails } }`, nil); got.codes() != "insufficient_scope" {
		t.Errorf("a key that reads asks for usage and gets %s", got.body)
	}
	if got := srv.askAs(t, "svc_full",
		`{ usage(since: "2026-02-01T00:00:00Z", until: "2026-01-01T00:00:00Z") { emails } }`,
		nil); got.codes() != "validation_error" {
		t.Errorf("a range that ends before it begins gets %s", got.body)
	}
}
