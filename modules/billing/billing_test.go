package billing

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/plans"
	"github.com/postrider/postrider/modules/billing/metering"
	"github.com/postrider/postrider/modules/billing/stripetest"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/storage/page"
)

// world is an installation with billing enabled, and a fake Stripe.
type world struct {
	*Service

	stripe *stripetest.Stripe
	ada    string // an account on the free plan
	t      *testing.T
}

func newWorld(t *testing.T) *world {
	t.Helper()
	s := stripetest.New(t)
	s.Meter()
	s.Plan("pro", 2000, 0, "")
	s.Plan("scale", 4900, 0, "")
	s.Plan("pool", 9900, 100, "0.04")
	w := &world{stripe: s, t: t}
	w.Service = w.process(dbtest.New(t))
	made, err := w.accounts.CreateAccount(t.Context(),
		accounts.NewAccount{Name: "Acme", Email: "ada@example.com", Plan: accounts.PlanFree})
	if err != nil {
		t.Fatal(err)
	}
	w.ada = made.ID
	return w
}

// process returns one of several processes that share the database.
func (w *world) process(d *db.DB) *Service {
	w.t.Helper()
	return w.processAt(d, secret.New(stripetest.Key), w.stripe.URL)
}

func (w *world) processAt(d *db.DB, key secret.String, url string) *Service {
	w.t.Helper()
	log := slog.New(slog.DiscardHandler)
	a, err := accounts.New(accounts.Params{DB: d, Cursors: page.NewCodec([]byte("0123456789abcdef")), Logger: log})
	if err != nil {
		w.t.Fatal(err)
	}
	s, err := New(Params{Config: Config{Key: key,
		Secrets: []secret.String{secret.New("whsec_old"), secret.New(stripetest.Secret)}, URL: url,
		Grace: 7 * 24 * time.Hour, BaseURL: "https://mail.example.com"}, DB: d, Accounts: a, Plans: plans.New(d, a),
		Cursors: page.NewCodec([]byte("0123456789abcdef")), Logger: log})
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// serve handles events over HTTP like the API does.
func (w *world) serve() (url string) {
	srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body := make([]byte, r.ContentLength)
		if _, err := r.Body.Read(body); err != nil && err.Error() != "EOF" {
			w.t.Error(err)
		}
		if err := w.HandleEvent(r.Context(), body, r.Header.Get("Stripe-Signature")); err != nil {
			rw.WriteHeader(map[fault.Kind]int{fault.Invalid: 400, fault.Unavailable: 503}[fault.KindOf(err)])
			rw.Write([]byte(err.Error())) // response to the sender of the event
		}
	}))
	w.t.Cleanup(srv.Close)
	return srv.URL
}

// postEvents posts all new events and syncs the customers that are due.
func (w *world) postEvents(url string) {
	w.t.Helper()
	for _, e := range w.stripe.Events() {
		if status, said := stripetest.Post(w.t, url, stripetest.Secret, e.Body, time.Now()); status != http.StatusOK {
			w.t.Fatalf("%s: %d %s", e.Type, status, said)
		}
	}
	w.synced()
}

func (w *world) synced() {
	w.t.Helper()
	if err := w.customers.syncDue(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) exec(statement string, args ...any) {
	w.t.Helper()
	if _, err := w.db.SQL.ExecContext(w.t.Context(), statement, args...); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) overview() Overview {
	w.t.Helper()
	o, err := w.Overview(w.t.Context(), w.ada)
	if err != nil {
		w.t.Fatal(err)
	}
	return o
}

func (w *world) customerID() string {
	w.t.Helper()
	c, err := w.lookupCustomer(w.t.Context(), w.ada)
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

// buy makes the account buy a plan, and returns the ID of its subscription.
func (w *world) buy(plan string) string {
	w.t.Helper()
	p, err := w.PlanPage(w.t.Context(), w.ada, plan, "")
	if err != nil {
		w.t.Fatal(err)
	}
	return w.stripe.Pay(p.URL)
}

func (w *world) checkPlan(what, plan, status string) Overview {
	w.t.Helper()
	o := w.overview()
	if o.Plan.ID != plan || o.Status != status {
		w.t.Errorf("%s: the plan is %s with status %s, want %s and %s", what, o.Plan.ID, o.Status, plan, status)
	}
	return o
}

func TestCardUnlocksProduction(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	url := w.serve()
	first, err := w.CardPage(t.Context(), w.ada, "/settings/billing?from=card")
	if err != nil {
		t.Fatal(err)
	}
	if again, err := w.CardPage(t.Context(), w.ada, ""); err != nil || again.URL != first.URL {
		t.Errorf("requesting the page again returned %+v, %v, want the open page", again, err)
	}
	w.stripe.Pay(first.URL)
	w.postEvents(url)
	o := w.checkPlan("a card", "free", StatusNone)
	if o.PaymentMethod == nil || *o.PaymentMethod != (Card{"visa", "4242", 12, 2099}) || !o.OnFile || o.Mode != Test ||
		o.Unlocked {
		t.Errorf("with a card, the overview is %+v, want the domain still missing", o)
	}
	w.exec(`INSERT INTO domains (id, account_id, name, status, ownership_token, created_at, updated_at) VALUES ('dom_x', $1, 'example.com', 'verified', 'x', now(), now())`, w.ada)
	if o := w.overview(); !o.Unlocked || !o.Verified {
		t.Errorf("with a card and a domain, the overview is %+v", o)
	}
	for _, r := range w.stripe.Requests() {
		if r == "POST /v1/customers" {
			goto once
		}
	}
	t.Error("no customer was created")
once:
	if again, err := w.CardPage(t.Context(), w.ada, ""); err != nil || again.URL == first.URL ||
		!w.stripe.Open(again.URL) {
		t.Errorf("after completion, requesting the page again returned %+v, %v, want a new page", again, err)
	}
	// The card is removed. An expired card does not replace it.
	w.stripe.AddCard(w.customerID(), "1111", 1, 2020)
	w.stripe.RemoveCard(w.overviewCard())
	w.postEvents(url)
	if o := w.overview(); o.Unlocked || o.OnFile || o.PaymentMethod != nil {
		t.Errorf("without a card, the overview is %+v", o)
	}
}

// overviewCard returns the ID of the card that is charged.
func (w *world) overviewCard() string {
	w.t.Helper()
	c, err := w.Service.stripe.Customer(w.t.Context(), w.customerID())
	if err != nil {
		w.t.Fatal(err)
	}
	return c.Default
}

func TestBuyChangeAndEndPlan(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	url := w.serve()
	sub := w.buy("pro")
	w.postEvents(url)
	w.checkPlan("bought", "pro", "active")
	if _, err := w.PlanPage(t.Context(), w.ada, "scale", ""); fault.Classify(err).Code != fault.CodeConflict {
		t.Errorf("buying a second plan returned %v", err)
	}
	q, err := w.Preview(t.Context(), w.ada, "pool")
	if err != nil || q.AmountDue != 1234 || q.Effective != Now {
		t.Errorf("the preview of an upgrade is %+v, %v", q, err)
	}
	o, effective, err := w.SetPlan(t.Context(), w.ada, "pool")
	if err != nil || effective != Now || o.Plan.ID != "pool" {
		t.Errorf("the upgrade returned %+v %s %v", o.Plan, effective, err)
	}
	// The metered price of pool was added.
	found, err := w.Service.stripe.Subscriptions(t.Context(), w.customerID())
	if err != nil || len(found) != 1 || len(found[0].Items) != 2 {
		t.Errorf("the subscription is %+v, %v", found, err)
	}
	o, effective, err = w.SetPlan(t.Context(), w.ada, "pro")
	if err != nil || effective != PeriodEnd || o.Plan.ID != "pool" || o.PendingPlan != "pro" || o.PendingAt == nil {
		t.Errorf("the downgrade returned %+v %s %v", o, effective, err)
	}
	if o, err := w.KeepPlan(t.Context(), w.ada); err != nil || o.PendingPlan != "" {
		t.Errorf("canceling the change returned %+v %v", o, err)
	}
	if _, err := w.KeepPlan(t.Context(), w.ada); fault.Classify(err).Code != fault.CodeConflict {
		t.Errorf("canceling the change again returned %v", err)
	}
	if _, _, err = w.SetPlan(t.Context(), w.ada, "pro"); err != nil {
		t.Fatal(err)
	}
	w.stripe.Turn(sub)
	w.postEvents(url)
	w.checkPlan("the period has ended", "pro", "active")
	o, effective, err = w.SetPlan(t.Context(), w.ada, "free")
	if err != nil || effective != PeriodEnd || o.CancelAt == nil || o.Plan.ID != "pro" {
		t.Errorf("the change to the free plan returned %+v %s %v", o, effective, err)
	}
	w.stripe.Turn(sub)
	w.postEvents(url)
	w.checkPlan("ended", "free", "canceled")
	// Buy a plan again.
	w.buy("scale")
	w.postEvents(url)
	w.checkPlan("bought again", "scale", "active")
}

func TestRefusedChangeStatesReason(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.exec(`INSERT INTO plans (id, name, requests_per_second, max_domains, rank, self_service) VALUES ('deal', 'Deal', 5, 5, 50, false), ('bare', 'Bare', 5, 5, 5, true)`)
	for plan, want := range map[string]string{"gold": "plan", "deal": "plan", "bare": "plan", "free": "plan",
		"": "plan"} {
		if _, err := w.PlanPage(t.Context(), w.ada, plan, ""); fault.Classify(err).Fields[want] == "" {
			t.Errorf("buying the plan %q returned %v", plan, err)
		}
	}
	for _, path := range []string{"//evil.example", "/\\evil.example", "https://evil.example", "x", "/a b", "/a\r\nb",
		"/" + strings.Repeat("a", 600)} {
		if _, err := w.CardPage(t.Context(), w.ada, path); fault.Classify(err).Fields["return_path"] == "" {
			t.Errorf("a page that links back to %q returned %v", path, err)
		}
	}
	if _, _, err := w.SetPlan(t.Context(), w.ada, "pro"); fault.Classify(err).Code != fault.CodeConflict {
		t.Errorf("changing a plan without a subscription returned %v", err)
	}
	sub := w.buy("scale")
	url := w.serve()
	w.postEvents(url)
	if _, _, err := w.SetPlan(t.Context(), w.ada, "scale"); fault.Classify(err).Code != fault.CodeConflict {
		t.Errorf("changing to the same plan returned %v", err)
	}
	for i := range 11 {
		w.exec(`INSERT INTO domains (id, account_id, name, status, ownership_token, created_at, updated_at) VALUES ($1, $2, $3, 'pending', 'x', now(), now())`, fmt.Sprint("dom_", i), w.ada, fmt.Sprint(i, ".example.com"))
	}
	_, _, err := w.SetPlan(t.Context(), w.ada, "pro")
	if f := fault.Classify(err); f.Code != fault.CodeConflict || f.Details["domains"] != 11 || f.Details["limit"] != 10 {
		t.Errorf("a downgrade with too many domains returned %+v", f)
	}
	w.stripe.Set(sub, "status", "past_due", "customer.subscription.updated")
	w.postEvents(url)
	if _, _, err := w.SetPlan(t.Context(), w.ada, "pool"); fault.Classify(err).Code != fault.CodePaymentDue {
		t.Errorf("changing a plan while a payment is overdue returned %v", err)
	}
	// One of two concurrent changes succeeds.
	w.stripe.Set(sub, "status", "active", "customer.subscription.updated")
	w.postEvents(url)
	var wait sync.WaitGroup
	results := make([]error, 2)
	for i := range results {
		wait.Go(func() { _, _, results[i] = w.SetPlan(t.Context(), w.ada, "pool") })
	}
	wait.Wait()
	if (results[0] == nil) == (results[1] == nil) {
		t.Errorf("two concurrent changes returned %v and %v, want one of them rejected", results[0], results[1])
	}
}

func TestDunning(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	url := w.serve()
	sub := w.buy("pro")
	w.postEvents(url)
	w.stripe.Set(sub, "status", "past_due", "invoice.payment_failed")
	w.stripe.Set(sub, "status", "past_due", "customer.subscription.updated")
	w.postEvents(url)
	if o := w.checkPlan("a payment failed", "pro", "past_due"); !o.PaymentDue || len(o.Problems) != 1 {
		t.Errorf("after a failed payment, the overview is %+v", o)
	}
	w.exec(`UPDATE billing_subscriptions SET past_due_since = now() - interval '8 days'`)
	w.exec(`UPDATE billing_customers SET sync_due_at = now()`)
	w.synced()
	if o := w.checkPlan("a week after the failed payment", "free", "past_due"); o.PaymentDue {
		t.Errorf("on Free, want no payment due: %+v", o)
	}
	w.stripe.Set(sub, "status", "active", "invoice.paid")
	w.exec(`UPDATE billing_customers SET sync_due_at = now()`)
	w.postEvents(url)
	if o := w.checkPlan("paid", "pro", "active"); o.PaymentDue {
		t.Errorf("after payment, want no payment due: %+v", o)
	}
}

// The state is that of the provider, whatever the order and repetition of events.
func TestOrderAndRepetitionOfEventsAreIgnored(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	url := w.serve()
	sub := w.buy("pro")
	w.stripe.Set(sub, "status", "past_due", "customer.subscription.updated")
	w.stripe.AddCard(w.customerID(), "5555", 5, 2098)
	w.stripe.Set(sub, "status", "active", "customer.subscription.updated")
	w.stripe.Set(sub, "cancel_at_period_end", true, "customer.subscription.updated")
	events := w.stripe.Events()
	var want Overview
	rounds := 20
	if os.Getenv("POSTRIDER_BILLING_ROUNDS") != "" {
		rounds = 100
	}
	for round := range rounds {
		dice := rand.New(rand.NewPCG(1, uint64(round)))
		posts := append(append([]stripetest.Event{}, events...), events...)
		dice.Shuffle(len(posts), func(i, k int) { posts[i], posts[k] = posts[k], posts[i] })
		for _, e := range posts[:len(posts)-dice.IntN(len(events))] { // some are never delivered
			if status, said := stripetest.Post(t, url, stripetest.Secret, e.Body, time.Now()); status != http.StatusOK {
				t.Fatalf("%s: %d %s", e.Type, status, said)
			}
			if dice.IntN(3) == 0 {
				w.synced()
			}
		}
		w.synced()
		got := w.overview()
		if round == 0 {
			want = got
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("round %d ended in a different state (-first +this):\n%s", round, diff)
		}
	}
	if want.Plan.ID != "pro" || want.CancelAt == nil || want.PaymentDue {
		t.Errorf("the final state is %+v", want)
	}
}

func TestEventRequiresValidSignature(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	url := w.serve()
	w.buy("pro")
	w.synced()
	e := w.stripe.Events()[0]
	now := time.Now()
	for name, c := range map[string]struct {
		secret string
		body   string
		at     time.Time
		want   int
	}{
		"genuine":        {stripetest.Secret, string(e.Body), now, 200},
		"the old secret": {"whsec_old", string(e.Body), now, 200},
		"forged":         {"whsec_wrong", string(e.Body), now, 400},
		"no secret":      {"", string(e.Body), now, 400},
		"too old":        {stripetest.Secret, string(e.Body), now.Add(-time.Hour), 400},
		"the future":     {stripetest.Secret, string(e.Body), now.Add(time.Hour), 400},
		"no data":        {stripetest.Secret, `{"id":"evt_1","object":"event","type":"x","data":null}`, now, 200},
		"no event":       {stripetest.Secret, `{"object":"v2.core.event"}`, now, 400},
		"invalid JSON":   {stripetest.Secret, `{"id":`, now, 400},
		"another mode":   {stripetest.Secret, strings.Replace(string(e.Body), `"livemode":false`, `"livemode":true`, 1), now, 200},
		"unknown customer": {stripetest.Secret,
			`{"id":"evt_2","object":"event","type":"customer.updated","data":{"object":{"object":"customer","id":"cus_no"}}}`, now, 200},
		"another API version": {stripetest.Secret, strings.Replace(string(e.Body), "2026-06-24.dahlia", "2024-06-20", 1), now, 200},
	} {
		if status, said := stripetest.Post(t, url, c.secret, []byte(c.body), c.at); status != c.want {
			t.Errorf("%s: %d %s, want %d", name, status, said, c.want)
		}
	}
	genuine := stripetest.Sign(stripetest.Secret, e.Body, now)
	for name, c := range map[string]struct {
		signature string
		body      string
		want      int
	}{
		"no signature":                      {"", string(e.Body), 400},
		"malformed signature":               {"v1=,t=now", string(e.Body), 400},
		"the signature of another body":     {genuine, strings.Replace(string(e.Body), `"livemode":false`, `"livemode": false`, 1), 400},
		"wrong and right signature":         {strings.Replace(genuine, "v1=", "v1="+strings.Repeat("0", 64)+",v1=", 1), string(e.Body), 200},
		"a right signature of another time": {strings.Replace(genuine, "t=", "t=1", 1), string(e.Body), 400},
	} {
		if status, said := stripetest.PostSigned(t, url, c.signature, []byte(c.body)); status != c.want {
			t.Errorf("%s: %d %s, want %d", name, status, said, c.want)
		}
	}
	var wait sync.WaitGroup
	for range 50 {
		wait.Go(func() {
			if status, said := stripetest.Post(t, url, stripetest.Secret, e.Body, now); status != 200 {
				t.Errorf("one of 50 concurrent posts: %d %s", status, said)
			}
		})
	}
	wait.Wait()
	if n, err := db.One(t.Context(), w.db.SQL, db.Value[int], `SELECT count(*) FROM billing_events WHERE id = $1`, e.ID); err != nil || n != 1 {
		t.Errorf("the event is stored %d times (%v), want once", n, err)
	}
}

func TestOperatorsPlanStaysUntilSubscriptionChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	url := w.serve()
	give := func(plan string) {
		t.Helper()
		if _, err := w.accounts.UpdateAccount(t.Context(), w.ada, accounts.AccountChange{Plan: &plan}); err != nil {
			t.Fatal(err)
		}
	}
	give("dedicated")
	page, err := w.CardPage(t.Context(), w.ada, "")
	if err != nil {
		t.Fatal(err)
	}
	w.stripe.Pay(page.URL)
	w.postEvents(url)
	w.checkPlan("a card of an account whose plan the operator assigned", "dedicated", StatusNone)
	sub := w.buy("pro")
	w.postEvents(url)
	w.checkPlan("bought", "pro", "active")
	give("dedicated")
	w.exec(`UPDATE billing_customers SET sync_due_at = now()`)
	w.synced()
	w.checkPlan("assigned again, and synced again", "dedicated", "active")
	w.stripe.Set(sub, "status", "canceled", "customer.subscription.deleted")
	w.postEvents(url)
	w.checkPlan("the subscription has ended", "free", "canceled")
}

func TestPriceOfUnknownPlanChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	url := w.serve()
	sub := w.buy("pro")
	w.postEvents(url)
	found, err := w.Service.stripe.Subscriptions(t.Context(), w.customerID())
	if err != nil {
		t.Fatal(err)
	}
	w.catalog.at = time.Time{}
	w.stripe.Set(found[0].Items[0].Product, "metadata", map[string]any{"postrider_plan": "gold"}, "")
	w.stripe.Set(sub, "description", "x", "customer.subscription.updated")
	w.postEvents(url)
	w.checkPlan("a product without a plan", "pro", "active")
	problems, err := db.One(t.Context(), w.db.SQL, db.Value[string], `SELECT problems::text FROM billing_customers`)
	if err != nil || !strings.Contains(problems, "price that belongs to no known plan") {
		t.Errorf("the operator sees the problems %s, %v", problems, err)
	}
}

func TestProviderOutageAffectsOnlyPrices(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	url := w.serve()
	w.buy("pro")
	w.postEvents(url)
	w.stripe.Fault = func(*http.Request) stripetest.Fault { return stripetest.Fault{Status: 500} }
	w.catalog.at = time.Time{}
	for name, call := range map[string]func() error{
		"a card":    func() error { _, err := w.CardPage(t.Context(), w.ada, ""); return err },
		"a plan":    func() error { _, _, err := w.SetPlan(t.Context(), w.ada, "pool"); return err },
		"a preview": func() error { _, err := w.Preview(t.Context(), w.ada, "pool"); return err },
		"a portal":  func() error { _, err := w.Portal(t.Context(), w.ada, ""); return err },
		"invoices":  func() error { _, err := w.Invoices(t.Context(), w.ada, page.Request{}); return err },
	} {
		if err := call(); fault.KindOf(err) != fault.Upstream || fault.Classify(err).Code != fault.CodeUpstream {
			t.Errorf("%s returned %v", name, err)
		}
	}
	w.checkPlan("away", "pro", "active")
	offers, err := w.Offers(t.Context(), w.ada)
	if err != nil || len(offers) != 5 || offers[1].Price != nil {
		t.Errorf("the plans are %+v, %v, want all without prices", offers, err)
	}
	if o, err := w.Sync(t.Context(), w.ada); err != nil || o.Plan.ID != "pro" {
		t.Errorf("after a sync, the overview is %+v, %v", o, err)
	}
	due, err := db.One(t.Context(), w.db.SQL, db.Value[bool], `SELECT sync_due_at < now() + interval '60 seconds' AND failures > 0 FROM billing_customers`)
	if err != nil || !due {
		t.Errorf("within a minute there was another sync: %v, %v", due, err)
	}
}

func TestCallsTakeEffectOnceOverCutConnections(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	url := w.serve()
	n := 0
	var mu sync.Mutex
	w.stripe.Fault = func(r *http.Request) stripetest.Fault {
		mu.Lock()
		defer mu.Unlock()
		n++
		return stripetest.Fault{Cut: r.Method == http.MethodPost && n%2 == 0}
	}
	retry := func(call func() error) {
		t.Helper()
		for range 6 {
			if call() == nil {
				return
			}
		}
		t.Fatal("the plan was not bought in six tries")
	}
	var p HostedPage
	retry(func() (err error) { p, err = w.PlanPage(t.Context(), w.ada, "pool", ""); return err })
	w.stripe.Pay(p.URL)
	for range 4 {
		w.exec(`UPDATE billing_customers SET sync_due_at = now()`)
		w.synced()
	}
	w.postEvents(url)
	w.checkPlan("bought over cut connections", "pool", "active")
	if customers := w.stripe.Customers(); len(customers) != 1 {
		t.Errorf("the customers are %v, want one", customers)
	}
}

// If a customer was created but the response was lost and the process died, the next change finds the customer.
// If the customer was deleted at the provider, a new one is created.
func TestCreateCustomerOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.stripe.SetFault(func(r *http.Request) stripetest.Fault {
		return stripetest.Fault{Cut: r.Method == http.MethodPost && r.URL.Path == "/v1/customers"}
	})
	for range 2 {
		if _, err := w.CardPage(t.Context(), w.ada, ""); len(w.stripe.Customers()) == 0 || err != nil &&
			fault.KindOf(err) != fault.Upstream {
			t.Fatalf("adding a card over a cut connection returned %v; the customers are %v", err, w.stripe.Customers())
		}
	}
	w.stripe.SetFault(nil)
	first := w.customerID()
	if customers := w.stripe.Customers(); len(customers) != 1 || customers[0] != first {
		t.Errorf("the customers are %v and the account has %s, want only that customer", customers, first)
	}
	w.stripe.Set(first, "deleted", true, "customer.deleted")
	w.postEvents(w.serve())
	if _, err := w.CardPage(t.Context(), w.ada, ""); err != nil || w.customerID() == first {
		t.Errorf("adding a card after the customer was deleted returned %v; the account has %s", err, w.customerID())
	}
}

// A request for a plan that is not for sale, or from an account without a subscription, is rejected and
// creates nothing.
func TestRefusedChangeCreatesNoCustomer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if _, _, err := w.SetPlan(t.Context(), w.ada, "gold"); fault.Classify(err).Fields["plan"] == "" {
		t.Errorf("changing to an unknown plan returned %v", err)
	}
	if _, err := w.Preview(t.Context(), w.ada, "gold"); fault.Classify(err).Fields["plan"] == "" {
		t.Errorf("previewing an unknown plan returned %v", err)
	}
	if _, err := w.PlanPage(t.Context(), w.ada, "gold", ""); fault.Classify(err).Fields["plan"] == "" {
		t.Errorf("buying an unknown plan returned %v", err)
	}
	if _, _, err := w.SetPlan(t.Context(), w.ada, "pro"); fault.Classify(err).Code != fault.CodeConflict {
		t.Errorf("changing a plan without a subscription returned %v", err)
	}
	if _, err := w.KeepPlan(t.Context(), w.ada); fault.Classify(err).Code != fault.CodeConflict {
		t.Errorf("keeping a plan without a subscription returned %v", err)
	}
	if made := w.stripe.Customers(); len(made) != 0 {
		t.Errorf("the customers are %v, want none", made)
	}
}

// addHour counts emails of an hour that has ended.
func (w *world) addHour(at time.Time, emails int) {
	w.t.Helper()
	w.exec(`INSERT INTO usage_marks (id, hour, fact_id) VALUES (1, $1, $2) ON CONFLICT (id) DO UPDATE SET hour = greatest(usage_marks.hour, $1)`, at.Add(time.Hour), id.Since(id.Fact, at.Add(time.Hour)))
	w.exec(`INSERT INTO usage_hours AS u (account_id, hour, emails) VALUES ($1, $2, $3) ON CONFLICT (account_id, hour) DO UPDATE SET emails = u.emails + $3`, w.ada, at, emails)
}

// Processes are killed between reporting and recording, responses are lost, and hours are corrected. The
// meter still counts exactly the emails that were sent.
func TestMeterMatchesSentEmails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	url := w.serve()
	w.buy("pool")
	w.postEvents(url)
	w.exec(`UPDATE billing_subscriptions SET metered_since = now() - interval '10 days'`)
	dice := rand.New(rand.NewPCG(7, 7))
	var mu sync.Mutex
	w.stripe.Fault = func(r *http.Request) stripetest.Fault {
		mu.Lock()
		defer mu.Unlock()
		if r.URL.Path != "/v1/billing/meter_events" {
			return stripetest.Fault{}
		}
		switch dice.IntN(3) {
		case 0:
			return stripetest.Fault{Cut: true}
		case 1:
			return stripetest.Fault{Status: []int{429, 500, 503}[dice.IntN(3)]}
		}
		return stripetest.Fault{}
	}
	start := time.Now().UTC().Truncate(time.Hour).Add(-30 * time.Hour)
	want := int64(0)
	other := w.process(w.db)
	for i := range 24 {
		n := 1 + i*7%50
		w.addHour(start.Add(time.Duration(i)*time.Hour), n)
		want += int64(n)
		if i%5 == 0 { // an hour is corrected after it was reported
			w.addHour(start.Add(time.Duration(i/2)*time.Hour), 3)
			want += 3
		}
		var wait sync.WaitGroup
		for _, s := range []*Service{w.Service, other} {
			wait.Go(func() {
				if err := s.meter.Run(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		w.exec(`UPDATE usage_reports SET due_at = now() WHERE reported_revision < revision`) // the pause has ended, or the lease of a killed process
		// reported, and killed before recording the report
		if i%4 == 0 {
			w.exec(`UPDATE usage_reports SET reported_revision = 0 WHERE hour = $1`, start.Add(time.Duration(i/3)*time.Hour))
		}
	}
	w.stripe.Fault = nil
	w.exec(`UPDATE usage_reports SET due_at = now()`)
	if err := w.meter.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	sum := int64(0)
	for _, n := range w.stripe.Windows(w.customerID()) {
		sum += n
	}
	if sum != want {
		t.Errorf("the meter has %d emails, want %d", sum, want)
	}
	backlog, err := w.meter.Backlog(t.Context())
	if err != nil || backlog.Hours != 0 || len(backlog.Stuck) != 0 {
		t.Errorf("the backlog is %+v, %v", backlog, err)
	}
	// A total that was changed at the provider is detected and corrected.
	w.stripe.Forge(w.customerID(), start.Unix(), 1_000_000)
	if err := w.meter.Reconcile(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := w.meter.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	sum = 0
	for _, n := range w.stripe.Windows(w.customerID()) {
		sum += n
	}
	if sum != want {
		t.Errorf("after reconciliation, the meter has %d emails, want %d", sum, want)
	}
}

// createdOf returns the creation time of an event.
func (w *world) createdOf(body []byte) int64 {
	w.t.Helper()
	var e struct{ Created int64 }
	if err := json.Unmarshal(body, &e); err != nil {
		w.t.Fatal(err)
	}
	return e.Created
}

func TestInvoiceWaitsForUsage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	url := w.serve()
	w.buy("pool")
	w.postEvents(url)
	w.exec(`UPDATE billing_subscriptions SET metered_since = now() - interval '20 days'`)
	end := time.Now().UTC().Truncate(time.Hour).Add(-2 * time.Hour)
	start := end.Add(-3 * time.Hour)
	w.addHour(start, 5)
	e := w.stripe.Invoice(w.customerID(), start, end)
	post := func() int {
		t.Helper()
		status, _ := stripetest.Post(t, url, stripetest.Secret, e.Body, time.Now())
		return status
	}
	if got := post(); got != http.StatusServiceUnavailable {
		t.Errorf("while hours of the period are open, the response to the invoice is %d", got)
	}
	w.addHour(start.Add(time.Hour), 6)
	w.addHour(start.Add(2*time.Hour), 7)
	w.stripe.Fault = func(r *http.Request) stripetest.Fault {
		return stripetest.Fault{Status: map[bool]int{true: 500}[r.URL.Path == "/v1/billing/meter_events"]}
	}
	if got := post(); got != http.StatusServiceUnavailable {
		t.Errorf("while reports fail, the response to the invoice is %d", got)
	}
	w.stripe.Fault = nil
	w.exec(`UPDATE usage_reports SET due_at = now()`)
	if got := post(); got != http.StatusOK {
		t.Errorf("after all hours were reported, the response to the invoice is %d", got)
	}
	// After 60 hours, failing usage reports no longer delay the invoice.
	w.addHour(start, 1)
	w.stripe.SetFault(func(*http.Request) stripetest.Fault { return stripetest.Fault{Status: http.StatusServiceUnavailable} })
	if got := post(); got != http.StatusServiceUnavailable {
		t.Errorf("while a corrected hour cannot be reported, the response to the invoice is %d", got)
	}
	fresh := e.Body
	e.Body = bytes.Replace(fresh, fmt.Appendf(nil, `"created":%d,"data"`, w.createdOf(fresh)),
		fmt.Appendf(nil, `"created":%d,"data"`, time.Now().Add(-61*time.Hour).Unix()), 1)
	if bytes.Equal(e.Body, fresh) {
		t.Fatal("the event has no creation time")
	}
	if got := post(); got != http.StatusOK {
		t.Errorf("after 60 hours, the response to the invoice is %d", got)
	}
	w.stripe.SetFault(nil)
	w.exec(`UPDATE usage_reports SET due_at = now()`)
	if err := w.meter.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	sum := int64(0)
	for _, n := range w.stripe.Windows(w.customerID()) {
		sum += n
	}
	if sum != 19 {
		t.Errorf("the meter has %d emails, want 19", sum)
	}
}

// The metered price ends with its plan, because of a downgrade or a change to the free plan. Usage until then
// is still reported, although its last hour is counted later, and the last invoice waits for it.
func TestReportsUsageUntilEndOfPlan(t *testing.T) {
	t.Parallel()
	for _, to := range []string{"pro", "free"} {
		t.Run(to, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			url := w.serve()
			sub := w.buy("pool")
			w.postEvents(url)
			if _, _, err := w.SetPlan(t.Context(), w.ada, to); err != nil {
				t.Fatal(err)
			}
			now := time.Now().UTC().Truncate(time.Hour)
			w.stripe.Backdate(sub, now.Add(-10*time.Hour))
			w.exec(`UPDATE billing_customers SET sync_due_at = now()`)
			w.synced()
			w.addHour(now.Add(-3*time.Hour), 5)
			w.stripe.Turn(sub)
			w.postEvents(url)
			w.checkPlan("the period has ended", to, map[string]string{"pro": "active", "free": "canceled"}[to])
			e := w.stripe.Invoice(w.customerID(), now.Add(-10*time.Hour), now)
			if status, _ := stripetest.Post(t, url, stripetest.Secret, e.Body,
				time.Now()); status != http.StatusServiceUnavailable {
				t.Errorf("while the last hour is open, the response to the last invoice is %d", status)
			}
			w.addHour(now.Add(-time.Hour), 7)
			for range 2 { // the result is the same a day later
				w.exec(`UPDATE billing_customers SET sync_due_at = now()`)
				w.synced()
				if status, said := stripetest.Post(t, url, stripetest.Secret, e.Body,
					time.Now()); status != http.StatusOK {
					t.Errorf("after all hours were closed, the response to the last invoice is %d %s", status, said)
				}
			}
			want := map[int64]int64{now.Add(-3 * time.Hour).Unix(): 5, now.Add(-time.Hour).Unix(): 7}
			if diff := cmp.Diff(want, w.stripe.Windows(w.customerID())); diff != "" {
				t.Errorf("the meter has different usage (-want +got):\n%s", diff)
			}
			w.addHour(now.Add(time.Hour), 3) // a later hour has no metered price
			if err := w.meter.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, w.stripe.Windows(w.customerID())); diff != "" {
				t.Errorf("after the end, the meter has (-want +got):\n%s", diff)
			}
		})
	}
}

// Unreported hours of a customer that was deleted at the provider are marked stuck, however many there are,
// and do not delay other customers.
func TestDeletedCustomerDoesNotDelayOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	url := w.serve()
	w.buy("pool")
	w.postEvents(url)
	start := time.Now().UTC().Truncate(time.Hour).Add(-100 * time.Hour)
	w.exec(`UPDATE billing_subscriptions SET metered_since = $1`, start)
	for i := range 60 {
		w.addHour(start.Add(time.Duration(i)*time.Hour), 1)
	}
	if err := w.meter.Queue(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.stripe.Set(w.customerID(), "deleted", true, "customer.deleted")
	w.postEvents(url)
	if _, err := w.lookupCustomer(t.Context(), w.ada); fault.KindOf(err) != fault.Conflict {
		t.Fatalf("the customer was not marked as deleted: %v", err)
	}
	gone := w.ada
	bob, err := w.accounts.CreateAccount(t.Context(),
		accounts.NewAccount{Name: "Bob", Email: "bob@example.com", Plan: accounts.PlanFree})
	if err != nil {
		t.Fatal(err)
	}
	w.ada = bob.ID
	w.buy("pool")
	w.postEvents(url)
	w.exec(`UPDATE billing_subscriptions SET metered_since = $1`, start)
	w.addHour(start.Add(70*time.Hour), 9)
	if err := w.meter.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[int64]int64{start.Add(70 * time.Hour).Unix(): 9},
		w.stripe.Windows(w.customerID())); diff != "" {
		t.Errorf("the other customer's meter has different usage (-want +got):\n%s", diff)
	}
	backlog, err := w.meter.Backlog(t.Context())
	if err != nil || backlog.Hours != 0 || len(backlog.Stuck) != 60 || backlog.Stuck[0].AccountID != gone ||
		!strings.Contains(backlog.Stuck[0].Reason, "deleted") {
		t.Errorf("the backlog is %+v, %v; want 60 stuck hours", backlog, err)
	}
}

// A dispute refers only to a charge, not to a customer. The operator sees it until it is closed, and it has
// no other effect.
func TestOperatorSeesDisputes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	url := w.serve()
	w.buy("pro")
	w.postEvents(url)
	post := func(e stripetest.Event) int {
		t.Helper()
		status, _ := stripetest.Post(t, url, stripetest.Secret, e.Body, time.Now())
		return status
	}
	seen := func(what string, want ...metering.BillingProblem) {
		t.Helper()
		w.synced()
		_, state, err := w.Watch(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, state.Problems); diff != "" {
			t.Errorf("%s: the operator sees (-want +got):\n%s", what, diff)
		}
	}
	events := w.stripe.Dispute(w.customerID(), true)
	w.stripe.SetFault(func(*http.Request) stripetest.Fault { return stripetest.Fault{Status: http.StatusServiceUnavailable} })
	if got := post(events[0]); got != http.StatusServiceUnavailable {
		t.Errorf("while the customer of the charge cannot be looked up, the response to the event is %d", got)
	}
	w.stripe.SetFault(nil)
	for range 2 {
		if got := post(events[0]); got != http.StatusOK {
			t.Errorf("the response to the dispute is %d", got)
		}
	}
	seen("disputed, and posted twice", metering.BillingProblem{AccountID: w.ada, What: "A payment is disputed"})
	w.checkPlan("disputed", "pro", "active")
	if got := post(events[1]); got != http.StatusOK {
		t.Errorf("the response to the closed dispute is %d", got)
	}
	seen("closed")
	for _, customer := range []string{"cus_other", ""} {
		if got := post(w.stripe.Dispute(customer, false)[0]); got != http.StatusOK {
			t.Errorf("the response to the dispute of %q is %d", customer, got)
		}
	}
	seen("disputes of unknown customers")
}

func TestNoConnectionsWhileBillingIsOff(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	log := slog.New(slog.DiscardHandler)
	a, err := accounts.New(accounts.Params{DB: d, Cursors: page.NewCodec([]byte("0123456789abcdef")), Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(Params{Config: Config{URL: "http://127.0.0.1:1"}, DB: d, Accounts: a, Plans: plans.New(d, a),
		Cursors: page.NewCodec([]byte("0123456789abcdef")), Logger: log})
	if err != nil || s.stripe != nil || s.meter != nil {
		t.Fatalf("billing is disabled, but has a client: %v", err)
	}
	made, err := a.CreateAccount(t.Context(),
		accounts.NewAccount{Name: "Acme", Email: "ada@example.com", Plan: accounts.PlanPool})
	if err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string]func() error{
		"card":    func() error { _, err := s.CardPage(t.Context(), made.ID, ""); return err },
		"buy":     func() error { _, err := s.PlanPage(t.Context(), made.ID, "pro", ""); return err },
		"plan":    func() error { _, _, err := s.SetPlan(t.Context(), made.ID, "pro"); return err },
		"preview": func() error { _, err := s.Preview(t.Context(), made.ID, "pro"); return err },
		"keep":    func() error { _, err := s.KeepPlan(t.Context(), made.ID); return err },
		"portal":  func() error { _, err := s.Portal(t.Context(), made.ID, ""); return err },
		"sync":    func() error { _, err := s.Sync(t.Context(), made.ID); return err },
		"email": func() error {
			_, err := s.Update(t.Context(), made.ID, SettingsChange{BillingEmail: new("ada@example.com")})
			return err
		},
	} {
		if err := call(); fault.Classify(err).Code != fault.CodeBillingDisabled {
			t.Errorf("%s: %v", name, err)
		}
	}
	o, err := s.Overview(t.Context(), made.ID)
	if err != nil || o.Enabled || o.Mode != "" || o.Plan.ID != accounts.PlanPool || o.Status != StatusNone {
		t.Errorf("the overview is %+v, %v", o, err)
	}
	if err := s.HandleEvent(t.Context(), []byte(`{}`), ""); fault.KindOf(err) != fault.NotFound {
		t.Errorf("an event was accepted: %v", err)
	}
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if names := s.tasks.Names(); len(names) != 0 {
		t.Errorf("the running tasks are %v, want none", names)
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

// The entitlement does not depend on the order of subscriptions.
func TestBestSubscriptionDeterminesEntitlement(t *testing.T) {
	t.Parallel()
	now := time.Now()
	const week = 7 * 24 * time.Hour
	pro := subscriptionState{id: "sub_1", plan: "pro", status: "active", rank: 10, accessible: true}
	pool := subscriptionState{id: "sub_2", plan: "pool", status: "active", rank: 30, accessible: true}
	with := func(s subscriptionState, status string, ago time.Duration) subscriptionState {
		s.status, s.pastDue = status, now.Add(-ago)
		return s
	}
	unknown := subscriptionState{id: "sub_3", status: "active"}
	for name, c := range map[string]struct {
		all    []subscriptionState
		before string
		plan   string
		due    bool
	}{
		"none":                                  {nil, "", "", false},
		"deleted at the provider":               {nil, "pro", "free", false},
		"active":                                {[]subscriptionState{pro}, "", "pro", false},
		"trialing":                              {[]subscriptionState{with(pro, "trialing", 0)}, "", "pro", false},
		"two":                                   {[]subscriptionState{pro, pool}, "pro", "pool", false},
		"incomplete":                            {[]subscriptionState{with(pro, "incomplete", 0)}, "", "", false},
		"incomplete and an active one":          {[]subscriptionState{with(pool, "incomplete", 0), pro}, "pro", "pro", false},
		"overdue":                               {[]subscriptionState{with(pro, "past_due", time.Hour)}, "pro", "pro", true},
		"overdue, and the grace period is over": {[]subscriptionState{with(pro, "past_due", week)}, "pro", "free", false},
		"overdue and a better one":              {[]subscriptionState{with(pro, "past_due", time.Hour), pool}, "pro", "pool", false},
		"unpaid":                                {[]subscriptionState{with(pro, "unpaid", 0)}, "pro", "free", false},
		"paused":                                {[]subscriptionState{with(pro, "paused", 0)}, "pro", "free", false},
		"never paid":                            {[]subscriptionState{with(pro, "incomplete_expired", 0)}, "", "free", false},
		"unknown plan":                          {[]subscriptionState{unknown}, "pro", "pro", false},
		"unknown plan, the first":               {[]subscriptionState{unknown}, "", "", false},
		"ended and an active one":               {[]subscriptionState{with(pool, "canceled", 0), pro}, "pool", "pro", false},
	} {
		for range 4 {
			got := entitle(c.all, c.before, week, now)
			if got.plan != c.plan || got.paymentDue != c.due {
				t.Errorf("%s: the entitlement is %+v, want %s, %v", name, got, c.plan, c.due)
			}
			rand.Shuffle(len(c.all), func(i, k int) { c.all[i], c.all[k] = c.all[k], c.all[i] })
		}
	}
}

func TestInvoicesBelongToAccount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if found, err := w.Invoices(t.Context(), w.ada, page.Request{}); err != nil || len(found.Items) != 0 {
		t.Errorf("an account without a subscription has the invoices %+v, %v", found, err)
	}
	w.buy("pro")
	w.synced()
	now := time.Now()
	w.stripe.Invoice(w.customerID(), now.Add(-time.Hour), now)
	w.stripe.Invoice("cus_other", now.Add(-time.Hour), now)
	found, err := w.Invoices(t.Context(), w.ada, page.Request{})
	if err != nil || len(found.Items) != 1 || found.Items[0].Total != 4900 || found.HasMore {
		t.Errorf("the invoices are %+v, %v", found, err)
	}
	if _, err := w.Invoices(t.Context(), w.ada, page.Request{Cursor: "in_000001"}); fault.Classify(err).
		Fields["cursor"] == "" {
		t.Errorf("an invoice ID as a cursor returned %v", err)
	}
}
