package journeys_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/billing/stripetest"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/test/harness"
)

// billResponse is what the journeys read from GET /billing.
type billResponse struct {
	Billing struct {
		Enabled       bool
		Mode          string
		Status        string
		Plan          struct{ ID string }
		PaymentMethod *struct{ Last4 string } `json:"payment_method"`
		PendingPlan   string                  `json:"pending_plan"`
		Production    struct{ Unlocked bool }
		Usage         struct{ Emails, Over int64 }
	}
}

func billOf(t *testing.T, answer harness.Answer) billResponse {
	t.Helper()
	if answer.Status != http.StatusOK {
		t.Fatalf("billing: %d %s", answer.Status, answer.Body)
	}
	var b billResponse
	answer.JSON(t, &b)
	return b
}

// An account on Free adds a card and is unlocked, buys a plan, upgrades, downgrades and cancels; the payment
// provider is unavailable in between.
func TestBillingFromFirstCardToCancellation(t *testing.T) {
	t.Parallel()
	stripe := stripetest.New(t)
	stripe.Meter()
	stripe.Plan("pro", 2000, 0, "")
	stripe.Plan("pool", 9900, 100, "0.04")
	app := harness.Start(t, func(s setting.RawValues) {
		s["POSTRIDER_STRIPE_KEY"], s["POSTRIDER_STRIPE_WEBHOOK_SECRET"], s["POSTRIDER_STRIPE_URL"] = stripetest.Key,
			stripetest.Secret, stripe.URL
	})
	ada := app.SignedIn(t, app.Owner.Email, app.Owner.Password)
	tell := func() {
		t.Helper()
		for _, e := range stripe.Events() {
			if status, said := stripetest.Post(t, app.BaseURL+"/api/billing/stripe", stripetest.Secret, e.Body,
				time.Now()); status != http.StatusOK {
				t.Errorf("%s: %d %s", e.Type, status, said)
			}
		}
	}
	bill := func() billResponse {
		t.Helper()
		return billOf(t, ada.Do(t, http.MethodGet, "/api/billing", nil))
	}
	open := func(path string, body asked) string {
		t.Helper()
		var page struct{ URL string }
		answer := ada.Do(t, http.MethodPost, path, body)
		wantAnswer(t, path, answer, http.StatusOK)
		answer.JSON(t, &page)
		return page.URL
	}
	send := func() harness.Answer {
		t.Helper()
		return app.Do(t, http.MethodPost, "/api/emails", anEmail)
	}

	free := accounts.PlanFree
	app.Change(t, accounts.AccountChange{Plan: &free, PaymentMethod: new(false), ProductionUnlocked: new(false)})
	expect.Eventually(t, "on Free production is locked", func() bool {
		got := send()
		return got.Status == http.StatusForbidden && strings.Contains(string(got.Body), "production_not_unlocked")
	})
	stripe.Pay(open("/api/billing/payment-method", asked{}))
	tell()
	expect.Eventually(t, "a card unlocks", func() bool { return send().Status == http.StatusOK })
	if b := bill(); b.Billing.PaymentMethod == nil || b.Billing.PaymentMethod.Last4 != "4242" ||
		b.Billing.Mode != "test" || !b.Billing.Production.Unlocked {
		t.Errorf("with a card the billing is %+v", b)
	}
	charged := func() string { return stripe.Standing(stripe.Customers()[0]).Charged }
	stripe.RemoveCard(charged())
	tell()
	expect.Eventually(t, "the card is removed, and production is locked",
		func() bool { return send().Status == http.StatusForbidden })
	stripe.Pay(open("/api/billing/payment-method", asked{}))
	tell()
	expect.Eventually(t, "another card unlocks", func() bool { return send().Status == http.StatusOK })
	stripe.RemoveCard(charged())
	stripe.Events() // which are never delivered
	expect.Eventually(t, "no event reports that the card is removed, and the provider is queried", func() bool {
		wantAnswer(t, "a sync", ada.Do(t, http.MethodPost, "/api/billing/sync", nil), http.StatusOK)
		return send().Status == http.StatusForbidden
	})

	sub := stripe.Pay(open("/api/billing/checkout", asked{"plan": "pro"}))
	tell()
	expect.Eventually(t, "the plan is active", func() bool { return bill().Billing.Plan.ID == "pro" })
	wantAnswer(t, "a second one", ada.Do(t, http.MethodPost, "/api/billing/checkout", asked{"plan": "pool"}),
		http.StatusConflict, "conflict")
	wantAnswer(t, "a preview", ada.Do(t, http.MethodPost, "/api/billing/plan/preview", asked{"plan": "pool"}),
		http.StatusOK)
	wantAnswer(t, "an unknown plan", ada.Do(t, http.MethodPut, "/api/billing/plan", asked{"plan": "gold"}),
		http.StatusBadRequest, "validation_error")
	if b := billOf(t, ada.Do(t, http.MethodPut, "/api/billing/plan",
		asked{"plan": "pool"})); b.Billing.Plan.ID != "pool" {
		t.Errorf("up: %+v", b)
	}
	if b := billOf(t, ada.Do(t, http.MethodPut, "/api/billing/plan",
		asked{"plan": "pro"})); b.Billing.Plan.ID != "pool" || b.Billing.PendingPlan != "pro" {
		t.Errorf("down: %+v", b)
	}
	var graph struct {
		Billing struct {
			Status, PendingPlan string
			Plan                struct{ ID string }
		}
		Plans []struct {
			ID    string
			Price *struct{ Amount int }
		}
	}
	app.Query(t, `{ billing { status pendingPlan plan { id } } plans { id price { amount } } }`, &graph)
	if graph.Billing.Status != "active" || graph.Billing.PendingPlan != "pro" || graph.Billing.Plan.ID != "pool" ||
		len(graph.Plans) < 5 || graph.Plans[1].Price.Amount != 2000 {
		t.Errorf("GraphQL returned %+v", graph)
	}
	if b := billOf(t, ada.Do(t, http.MethodDelete, "/api/billing/plan/pending", nil)); b.Billing.PendingPlan != "" {
		t.Errorf("after the canceled change: %+v", b)
	}

	// The provider is silent: mail and sign-in continue, requests that need it end in time, and afterwards
	// the service catches up.
	stripe.DelayResponses(time.Hour)
	begun := time.Now()
	wantAnswer(t, "a change while it is silent", ada.Do(t, http.MethodPut, "/api/billing/plan", asked{"plan": "pro"}),
		http.StatusBadGateway, "delivery_upstream_error")
	// the promise is six seconds; modules/billing tests it
	t.Logf("a change while the provider is silent took %s", time.Since(begun))
	if got := send(); got.Status != http.StatusOK {
		t.Errorf("an email in the meantime: %d %s", got.Status, got.Body)
	}
	app.SignedIn(t, app.Owner.Email, app.Owner.Password)
	stripe.DelayResponses(0)
	stripe.Set(sub, "status", "canceled", "") // without an event
	expect.Eventually(t, "it is queried again automatically", func() bool { return bill().Billing.Plan.ID == "free" })

	var log struct{ Entries []struct{ Action string } }
	ada.Do(t, http.MethodGet, "/api/audit-log?action=billing", nil).JSON(t, &log)
	if len(log.Entries) < 3 {
		t.Errorf("the audit log has %+v, want each synced change", log)
	}
	checkNowhere(t, app, map[string]string{"the key of Stripe": stripetest.Key,
		"the secret of events": stripetest.Secret})
}

func TestOnlyStripeReportsPayments(t *testing.T) {
	t.Parallel()
	stripe := stripetest.New(t)
	app := harness.Start(t, func(s setting.RawValues) {
		s["POSTRIDER_STRIPE_KEY"], s["POSTRIDER_STRIPE_WEBHOOK_SECRET"], s["POSTRIDER_STRIPE_URL"] = stripetest.Key,
			stripetest.Secret, stripe.URL
	})
	url := app.BaseURL + "/api/billing/stripe"
	event, err := json.Marshal(map[string]any{"id": "evt_1", "object": "event", "type": "x", "data": nil})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		secret string
		body   []byte
		want   int
	}{
		"genuine": {stripetest.Secret, event, http.StatusOK},
		"forged":  {"whsec_other", event, http.StatusBadRequest},
		"large":   {stripetest.Secret, make([]byte, 513<<10), http.StatusRequestEntityTooLarge},
	} {
		if status, said := stripetest.Post(t, url, c.secret, c.body, time.Now()); status != c.want {
			t.Errorf("%s: %d %s, want %d", name, status, said, c.want)
		}
	}
	if got := app.Do(t, http.MethodGet, "/api/billing/stripe", nil); got.Status != http.StatusMethodNotAllowed {
		t.Errorf("GET: %d %s", got.Status, got.Body)
	}
	if document := string(app.Do(t, http.MethodGet, "/api/openapi.json", nil).Body); strings.Contains(document,
		"billing/stripe") || !strings.Contains(document, "/billing/checkout") {
		t.Error("the document must not contain the path that Stripe posts to, and must contain the others")
	}
	off := harness.Start(t, nil)
	if status, said := stripetest.Post(t, off.BaseURL+"/api/billing/stripe", stripetest.Secret, event,
		time.Now()); status != http.StatusNotFound {
		t.Errorf("while billing is disabled: %d %s", status, said)
	}
	if b := billOf(t, off.SignedIn(t, off.Owner.Email, off.Owner.Password).
		Do(t, http.MethodGet, "/api/billing", nil)); b.Billing.Enabled || b.Billing.Mode != "" {
		t.Errorf("the billing is %+v", b)
	}
}
