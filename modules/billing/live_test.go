package billing

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stripe/stripe-go/v86"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/plans"
	"github.com/postrider/postrider/modules/billing/desk"
	"github.com/postrider/postrider/modules/billing/stripetest"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

// liveKey is the variable that contains the key of a test-mode account. `make stripe-live` sets it.
const liveKey = "POSTRIDER_STRIPE_TEST_KEY"

// customerAtStripe acts as a customer on Stripe's pages.
type customerAtStripe interface {
	giveCard(t *testing.T, customer string)
	buy(t *testing.T, w *world, plan, customer string)
	leave(t *testing.T, customer string)
}

type atDouble struct{ stripe *stripetest.Stripe }

func (a atDouble) giveCard(_ *testing.T, customer string) {
	a.stripe.AddCard(customer, "4242", 12, 2099)
}
func (a atDouble) buy(_ *testing.T, w *world, plan, _ string) { w.buy(plan) }
func (atDouble) leave(*testing.T, string)                     {}

type atStripe struct{ client *stripe.Client }

func (a atStripe) giveCard(t *testing.T, customer string) {
	t.Helper()
	if _, err := a.client.V1PaymentMethods.Attach(t.Context(), "pm_card_visa",
		&stripe.PaymentMethodAttachParams{Customer: stripe.String(customer)}); err != nil {
		t.Fatal(err)
	}
}

func (a atStripe) buy(t *testing.T, w *world, plan, customer string) {
	t.Helper()
	known, err := w.Service.stripe.Catalog(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	items := []*stripe.SubscriptionCreateItemParams{{Price: stripe.String(known.Plans[plan].Base)}}
	if metered := known.Plans[plan].Metered; metered != "" {
		items = append(items, &stripe.SubscriptionCreateItemParams{Price: stripe.String(metered)})
	}
	if _, err := a.client.V1Subscriptions.Create(t.Context(),
		&stripe.SubscriptionCreateParams{Customer: stripe.String(customer), Items: items}); err != nil {
		t.Fatal(err)
	}
}

func (a atStripe) leave(t *testing.T, customer string) {
	t.Helper()
	if _, err := a.client.V1Customers.Delete(t.Context(), customer, nil); err != nil { // also ends its subscriptions
		t.Error(err)
	}
}

// Covers every call of Postrider to Stripe, from setup to the end. It runs against the fake, and with `make
// stripe-live` against a test-mode account, which is the only proof that the fake is accurate.
func TestStripeAndDoubleAgree(t *testing.T) {
	t.Parallel()
	w := &world{t: t}
	key, url, patience := secret.New(stripetest.Key), "", time.Minute
	var person customerAtStripe
	if given := os.Getenv(liveKey); given != "" {
		if !strings.HasPrefix(given, "sk_test_") && !strings.HasPrefix(given, "rk_test_") {
			t.Fatalf("%s must be the key of a test-mode account: sk_test_… or rk_test_…", liveKey)
		}
		key, patience, person = secret.New(given), 15*time.Minute, atStripe{stripe.NewClient(given)}
	} else {
		w.stripe = stripetest.New(t)
		url, person = w.stripe.URL, atDouble{w.stripe}
	}
	d := dbtest.New(t)
	w.Service = w.processAt(d, key, url)
	made, err := w.accounts.CreateAccount(t.Context(),
		accounts.NewAccount{Name: "Acme", Email: "ada@example.com", Plan: accounts.PlanFree})
	if err != nil {
		t.Fatal(err)
	}
	w.ada = made.ID

	// The operator runs the setup twice. The second run creates nothing.
	operator, err := desk.New(d, w.plans, key, url, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.plans.Set(t.Context(), "pool", plans.PlanChange{IncludedEmails: new(new(100))}); err != nil {
		t.Fatal(err)
	}
	file, err := desk.ReadPrices([]byte("currency: eur\nplans:\n  pro: {amount: 2000}\n  scale: {amount: 4900}\n  pool: {amount: 9900, overage: \"40\"}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := operator.Setup(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	if again, err := operator.Setup(t.Context(), file); err != nil || len(again.Made) > 0 {
		t.Errorf("a second setup created %q, %v", again.Made, err)
	}

	// Add a card, buy a plan, upgrade, downgrade, and cancel the downgrade.
	first, err := w.CardPage(t.Context(), w.ada, "")
	if err != nil || !strings.HasPrefix(first.URL, "https://") {
		t.Fatalf("the page for a card is %+v, %v", first, err)
	}
	customer := w.customerID()
	t.Cleanup(func() { person.leave(t, customer) })
	person.giveCard(t, customer)
	w.ask()
	if o := w.checkPlan("a card", "free", StatusNone); o.PaymentMethod == nil || o.PaymentMethod.Last4 != "4242" ||
		o.Mode != Test {
		t.Errorf("with a card, the overview is %+v", o)
	}
	person.buy(t, w, "pro", customer)
	w.ask()
	w.checkPlan("bought", "pro", "active")
	if q, err := w.Preview(t.Context(), w.ada, "pool"); err != nil || q.AmountDue <= 0 || q.Currency != "eur" ||
		len(q.Lines) == 0 {
		t.Errorf("the preview is %+v, %v", q, err)
	}
	if o, effective, err := w.SetPlan(t.Context(), w.ada, "pool"); err != nil || effective != Now ||
		o.Plan.ID != "pool" {
		t.Errorf("the upgrade returned %+v %s %v", o.Plan, effective, err)
	}
	if o, effective, err := w.SetPlan(t.Context(), w.ada, "pro"); err != nil || effective != PeriodEnd ||
		o.Plan.ID != "pool" || o.PendingPlan != "pro" {
		t.Errorf("the downgrade returned %+v %s %v", o, effective, err)
	}
	if o, err := w.KeepPlan(t.Context(), w.ada); err != nil || o.PendingPlan != "" || o.Plan.ID != "pool" {
		t.Errorf("canceling the change returned %+v %v", o, err)
	}
	if to, err := w.Portal(t.Context(), w.ada, ""); err != nil || !strings.HasPrefix(to, "https://") {
		t.Errorf("the portal is %q, %v", to, err)
	}

	// The latest report of an hour replaces the previous one.
	hour := time.Now().UTC().Truncate(time.Hour)
	w.exec(`UPDATE billing_subscriptions SET metered_since = $1`, hour)
	for range 2 {
		w.addHour(hour, 70)
		if err := w.meter.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	meter, err := w.Service.stripe.Meter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	expect.EventuallyWithin(t, patience, "the meter has 140 emails, the latest report of the hour", func() bool {
		told, err := w.Service.stripe.ReportedUsage(t.Context(), meter, customer, hour, hour.Add(time.Hour))
		return err == nil && told[hour] == 140
	})

	if _, effective, err := w.SetPlan(t.Context(), w.ada, "free"); err != nil || effective != PeriodEnd {
		t.Errorf("the change to the free plan returned %s %v", effective, err)
	}
	if o := w.overview(); o.CancelAt == nil {
		t.Errorf("after the change to the free plan, the overview is %+v, want an end", o)
	}
}

// ask syncs the account with Stripe immediately.
func (w *world) ask() {
	w.t.Helper()
	w.exec(`UPDATE billing_customers SET sync_due_at = now()`)
	w.synced()
}
