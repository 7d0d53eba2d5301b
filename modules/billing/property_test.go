package billing

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/billing/stripetest"
	"github.com/postrider/postrider/runtime/base/fault"
)

// Random histories of accounts. `make billing-properties` plays ROUNDS of each kind. The test suite plays a
// few, always the same ones. POSTRIDER_BILLING_SEED sets the seed of the first history.
const (
	shortRounds = 12
	aWorldEach  = 100 // few histories, because the fake scans all its objects
)

// eachLife plays histories. Some of them share an installation, one after the other, each with its own account.
func eachLife(t *testing.T, play func(w *world, l *life)) {
	t.Helper()
	rounds, first := shortRounds, uint64(1)
	if given := os.Getenv("POSTRIDER_BILLING_ROUNDS"); given != "" {
		var err error
		if rounds, err = strconv.Atoi(given); err != nil {
			t.Fatalf("POSTRIDER_BILLING_ROUNDS is %q, must be a number", given)
		}
		first = rand.Uint64() >> 16
	}
	if given := os.Getenv("POSTRIDER_BILLING_SEED"); given != "" {
		var err error
		if first, err = strconv.ParseUint(given, 10, 64); err != nil {
			t.Fatalf("POSTRIDER_BILLING_SEED is %q, must be a number", given)
		}
	}
	for from := 0; from < rounds; from += aWorldEach {
		t.Run(fmt.Sprintf("from %d", first+uint64(from)), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			other := w.process(w.db)
			for round := range min(aWorldEach, rounds-from) {
				seed := first + uint64(from+round)
				l := &life{world: w, services: []*Service{w.Service, other}, dice: rand.New(rand.NewPCG(seed, 1)),
					seed: seed}
				made, err := w.accounts.CreateAccount(t.Context(),
					accounts.NewAccount{Name: "Acme", Email: fmt.Sprintf("ada%d@example.com", seed),
						Plan: accounts.PlanFree})
				if err != nil {
					t.Fatal(err)
				}
				w.ada = made.ID
				play(w, l)
				if t.Failed() {
					t.Fatalf("the history of POSTRIDER_BILLING_SEED=%d was:\n%s", seed, strings.Join(l.log, "\n"))
				}
			}
		})
	}
}

// life is the history of one account.
type life struct {
	*world

	services []*Service // two processes
	dice     *rand.Rand
	seed     uint64
	log      []string
	pages    []string
	events   []stripetest.Event // not yet delivered
	faults   sync.Mutex         // guards dice during concurrent requests
}

func (l *life) note(format string, args ...any) { l.log = append(l.log, fmt.Sprintf(format, args...)) }

func (l *life) of(list ...string) string { return list[l.dice.IntN(len(list))] }

func (l *life) service() *Service { return l.services[l.dice.IntN(len(l.services))] }

// do runs a step that may be interrupted anywhere: requests fail, connections are cut, and the process dies
// before or after a request. Its leases are then released, as if they had expired.
func (l *life) do(what string, step func(ctx context.Context) error) {
	l.t.Helper()
	ctx, kill := context.WithCancel(l.t.Context())
	defer kill()
	broken := ""
	l.stripe.SetFault(func(*http.Request) stripetest.Fault {
		l.faults.Lock()
		defer l.faults.Unlock()
		switch l.dice.IntN(24) {
		case 0:
			broken += " refused"
			return stripetest.Fault{Status: []int{429, 500, 503}[l.dice.IntN(3)]}
		case 1:
			broken += " cut"
			return stripetest.Fault{Cut: true}
		case 2:
			broken += " killed-before"
			kill()
			return stripetest.Fault{Status: 500}
		case 3:
			broken += " killed-after"
			kill()
		}
		return stripetest.Fault{}
	})
	err := step(ctx)
	l.stripe.SetFault(nil)
	l.note("%s:%s %v", what, broken, err)
	if err != nil && broken == "" {
		switch fault.KindOf(err) {
		case fault.Conflict, fault.Invalid:
		default:
			l.t.Errorf("%s failed without an injected fault: %v", what, err)
		}
	}
	l.exec(`UPDATE billing_customers SET claimed_until = NULL, writing_until = NULL WHERE id = $1`, l.ada)
	l.events = append(l.events, l.stripe.Events()...)
}

// deliver posts some of the events in random order, some repeatedly and some never.
func (l *life) deliver() {
	l.t.Helper()
	posts := append(slices.Clone(l.events), l.events...)
	l.dice.Shuffle(len(posts), func(i, k int) { posts[i], posts[k] = posts[k], posts[i] })
	posts = posts[:l.dice.IntN(len(posts)+1)]
	for _, e := range posts {
		l.note("event %s %s", e.ID, e.Type)
		if err := l.service().HandleEvent(l.t.Context(), e.Body,
			stripetest.Sign(stripetest.Secret, e.Body, time.Now())); err != nil {
			l.t.Errorf("the event %s was rejected: %v", e.Body, err)
		}
	}
	if l.dice.IntN(3) == 0 {
		l.events = nil // the remaining events are never delivered
	}
}

// subscription returns a subscription that has not ended, or an empty string if there is none.
func (l *life) subscription() string {
	var open []string
	for _, b := range l.standing().Subscriptions {
		if b.Status != "canceled" && b.Status != "incomplete_expired" {
			open = append(open, b.ID)
		}
	}
	if len(open) == 0 {
		return ""
	}
	return l.of(open...)
}

func (l *life) standing() stripetest.Standing {
	customer, err := l.lookupCustomer(l.t.Context(), l.ada)
	if err != nil {
		return stripetest.Standing{} // no customer yet
	}
	return l.stripe.Standing(customer)
}

// step is one random event.
func (l *life) step() {
	l.t.Helper()
	switch l.dice.IntN(12) {
	case 0, 1:
		plan := l.of("pro", "scale", "pool")
		l.do("open a page for "+plan, func(ctx context.Context) error {
			p, err := l.service().PlanPage(ctx, l.ada, plan, "")
			if err == nil && !slices.Contains(l.pages, p.URL) {
				l.pages = append(l.pages, p.URL)
			}
			return err
		})
	case 2:
		l.do("open a page for a card", func(ctx context.Context) error {
			p, err := l.service().CardPage(ctx, l.ada, "")
			if err == nil && !slices.Contains(l.pages, p.URL) {
				l.pages = append(l.pages, p.URL)
			}
			return err
		})
	case 3, 4:
		for i, page := range l.pages {
			if l.stripe.Open(page) {
				l.note("pay %s: %s", page, l.stripe.Pay(page))
				l.pages = slices.Delete(l.pages, i, i+1)
				break
			}
		}
	case 5:
		if customer, err := l.lookupCustomer(l.t.Context(), l.ada); err == nil {
			year := 2020 + 79*l.dice.IntN(2)
			l.note("a card of %d: %s", year, l.stripe.AddCard(customer, "1111", 1, year))
		}
	case 6:
		if cards := l.standing().Cards; len(cards) > 0 {
			id := cards[l.dice.IntN(len(cards))].ID
			l.note("the card %s goes", id)
			l.stripe.RemoveCard(id)
		}
	case 7:
		if b := l.subscription(); b != "" {
			status := l.of("active", "trialing", "past_due", "unpaid", "paused", "canceled")
			l.note("%s is %s", b, status)
			l.stripe.Set(b, "status", status, "customer.subscription.updated")
		}
	case 8:
		if b := l.subscription(); b != "" {
			l.note("the period of %s ends", b)
			l.stripe.Turn(b)
		}
	case 9, 10:
		plan := l.of("pro", "scale", "pool", "free")
		l.do("change to "+plan, func(ctx context.Context) error {
			_, _, err := l.service().
				SetPlan(ctx, l.ada, plan)
			return err
		})
	case 11:
		if l.dice.IntN(2) == 0 {
			l.do("keep the plan", func(ctx context.Context) error {
				_, err := l.service().
					KeepPlan(ctx, l.ada)
				return err
			})
		} else {
			email := fmt.Sprintf("bills%d@example.com", l.dice.IntN(100))
			l.do("bills to "+email, func(ctx context.Context) error {
				_, err := l.service().Update(ctx, l.ada, SettingsChange{BillingEmail: &email})
				return err
			})
		}
	}
}

// After a sync, the account has the plan that it pays for, whatever happened at the provider and here, in
// whatever order and however often events arrived, and wherever a process died.
func TestPropertyAccountMatchesProvider(t *testing.T) {
	t.Parallel()
	eachLife(t, func(w *world, l *life) {
		for range 6 + l.dice.IntN(14) {
			l.step()
			l.events = append(l.events, w.stripe.Events()...)
			if l.dice.IntN(2) == 0 {
				l.deliver()
			}
			if l.dice.IntN(2) == 0 {
				l.do("ask", func(ctx context.Context) error { return l.service().customers.syncDue(ctx) })
			}
		}
		w.exec(`UPDATE billing_customers SET sync_due_at = now(), claimed_until = NULL WHERE id = $1 AND customer_id IS NOT NULL`, w.ada) // a day has passed
		w.synced()
		want := follows(l.standing())
		for range 2 {
			if diff := cmp.Diff(want, l.has()); diff != "" {
				w.t.Errorf("the state of the account differs from the provider's (-provider +account):\n%s", diff)
			}
			w.exec(`UPDATE billing_customers SET sync_due_at = now() WHERE id = $1 AND customer_id IS NOT NULL`, w.ada)
			w.synced() // another sync changes nothing
		}
	})
}

// outcome is the entitlement that a customer's state implies.
type outcome struct {
	Plan, Status, Pending string
	OnFile, Due, Ends     bool
}

func (l *life) has() outcome {
	l.t.Helper()
	o := l.overview()
	return outcome{Plan: o.Plan.ID, Status: o.Status, Pending: o.PendingPlan, OnFile: o.OnFile, Due: o.PaymentDue,
		Ends: o.CancelAt != nil}
}

// follows derives the outcome from the design, independently of the code under test.
func follows(s stripetest.Standing) outcome {
	o := outcome{Plan: "free", Status: StatusNone}
	for _, card := range s.Cards {
		o.OnFile = o.OnFile || !card.Expired
	}
	ranks := []string{"free", "pro", "scale", "pool"}
	order := []string{"ended", "past_due", "live"}
	state := func(b stripetest.StandingSubscription) string {
		switch b.Status {
		case "active", "trialing":
			return "live"
		case "past_due":
			return "past_due"
		}
		return "ended"
	}
	counts, shown := -1, -1
	for i, b := range s.Subscriptions {
		grade := slices.Index(order, state(b))
		if grade > 0 && (counts < 0 ||
			slices.Index(ranks, b.Plan) > slices.Index(ranks, s.Subscriptions[counts].Plan) ||
			b.Plan == s.Subscriptions[counts].Plan && grade >= slices.Index(order, state(s.Subscriptions[counts]))) {
			counts = i
		}
		if shown < 0 || grade >= slices.Index(order, state(s.Subscriptions[shown])) {
			shown = i
		}
	}
	if counts >= 0 {
		o.Plan, o.Due = s.Subscriptions[counts].Plan, state(s.Subscriptions[counts]) == "past_due"
	}
	if shown >= 0 {
		b := s.Subscriptions[shown]
		o.Status, o.Ends, o.Pending = b.Status, b.Ends, b.Pending
		if state(b) == "ended" {
			o.Pending = ""
		}
	}
	return o
}

// For each hour, the meter has the emails that were sent in it, however two concurrent processes interrupt,
// correct and repeat the reports.
func TestPropertyMeterMatchesSentEmails(t *testing.T) {
	t.Parallel()
	eachLife(t, func(w *world, l *life) {
		w.stripe.Pay(must(w.PlanPage(w.t.Context(), w.ada, "pool", "")).URL)
		w.stripe.Events()
		w.exec(`UPDATE billing_customers SET sync_due_at = now() WHERE id = $1`, w.ada)
		w.synced()
		w.exec(`UPDATE billing_subscriptions SET metered_since = now() - interval '20 days' WHERE account_id = $1`, w.ada)
		start := time.Now().UTC().Truncate(time.Hour).Add(-40 * time.Hour)
		want := map[int64]int64{}
		for range 6 + l.dice.IntN(10) {
			at := start.Add(time.Duration(l.dice.IntN(36)) * time.Hour)
			switch l.dice.IntN(5) {
			case 0, 1, 2: // an hour has ended, or its count was corrected
				n := 1 + l.dice.IntN(500)
				l.note("%d emails more at %s", n, at)
				w.addHour(at, n)
				want[at.Unix()] += int64(n)
			case 3: // killed after the report
				l.note("%s was reported, but not recorded", at)
				w.exec(`UPDATE usage_reports SET reported_revision = 0 WHERE account_id = $1 AND hour = $2`, w.ada, at)
			case 4:
				if told := w.stripe.Windows(w.customerID()); told[at.Unix()] > 0 {
					l.note("the provider loses %s", at)
					w.stripe.Forge(w.customerID(), at.Unix(), 0)
				}
			}
			first, second := l.service(), l.service()
			l.do("tell", func(ctx context.Context) error {
				var wait sync.WaitGroup
				errs := make([]error, 2)
				for i, s := range []*Service{first, second} {
					wait.Go(func() { errs[i] = s.meter.Run(ctx) })
				}
				wait.Wait()
				if ctx.Err() == nil && errs[0] != nil {
					return errs[0]
				}
				return errs[1]
			})
			// the pause has ended, or the lease of a killed process
			w.exec(`UPDATE usage_reports SET due_at = now() WHERE account_id = $1 AND reported_revision < revision`, w.ada)
		}
		for range 2 { // remaining reports, then those that the reconciliation finds
			if err := w.meter.Run(w.t.Context()); err != nil {
				w.t.Error(err)
			}
			if err := w.meter.Reconcile(w.t.Context()); err != nil {
				w.t.Error(err)
			}
		}
		got := w.stripe.Windows(w.customerID())
		maps.DeleteFunc(got, func(_, n int64) bool { return n == 0 })
		if diff := cmp.Diff(want, got); len(want)+len(got) > 0 && diff != "" {
			w.t.Errorf("the meter has different usage than was sent (-sent +meter):\n%s", diff)
		}
		w.exec(`DELETE FROM billing_subscriptions WHERE account_id = $1`, w.ada) // so that the next histories are compared alone
	})
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
