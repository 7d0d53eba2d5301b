package billing

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/postrider/postrider/modules/billing/stripetest"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/page"
)

// promised is how long a caller may wait for a change to billing while the provider is down.
const promised = 6 * time.Second

// A caller gets its response when the budget of answerLimit is used up, however many calls a change makes,
// and whether the provider does not respond at all or responds slowly to each call. In this test, the budget
// is a fraction of the limit of one exchange, so that a call without the budget fails the test on any
// machine.
func TestCallersAreAnsweredWithinBudget(t *testing.T) {
	t.Parallel()
	if answerLimit > promised-time.Second {
		t.Errorf("callers wait %s for the provider, which leaves less than a second of %s", answerLimit, promised)
	}
	const budget, outside = 100 * time.Millisecond, 4 * time.Second // one exchange may take five seconds
	for name, first := range map[string]time.Duration{"silent": 0, "slow": budget * 2 / 3} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.buy("pro")
			w.synced()
			other := w.process(w.db) // which has not loaded prices yet
			w.Service.config.Answer, other.config.Answer = budget, budget
			open := make(chan struct{})
			t.Cleanup(func() { close(open) })
			w.stripe.SetFault(func(r *http.Request) stripetest.Fault {
				if first > 0 {
					return stripetest.Fault{Wait: first}
				}
				select {
				case <-open:
				case <-r.Context().Done():
				}
				return stripetest.Fault{Status: http.StatusServiceUnavailable}
			})
			for _, s := range []*Service{w.Service, other} {
				for name, call := range map[string]func(ctx context.Context) error{
					"a card": func(ctx context.Context) error { _, err := s.CardPage(ctx, w.ada, ""); return err },
					"a plan": func(ctx context.Context) error { _, err := s.PlanPage(ctx, w.ada, "pool", ""); return err },
					"a change of plan": func(ctx context.Context) error {
						_, _, err := s.SetPlan(ctx, w.ada, "pool")
						return err
					},
					"keeping the plan": func(ctx context.Context) error { _, err := s.KeepPlan(ctx, w.ada); return err },
					"a preview":        func(ctx context.Context) error { _, err := s.Preview(ctx, w.ada, "pool"); return err },
					"a portal":         func(ctx context.Context) error { _, err := s.Portal(ctx, w.ada, ""); return err },
					"invoices":         func(ctx context.Context) error { _, err := s.Invoices(ctx, w.ada, page.Request{}); return err },
					"an address": func(ctx context.Context) error {
						_, err := s.Update(ctx, w.ada, SettingsChange{BillingEmail: new("bills@example.com")})
						return err
					},
					"a sync":  func(ctx context.Context) error { _, err := s.Sync(ctx, w.ada); return err },
					"a price": func(ctx context.Context) error { _, err := s.Offers(ctx, w.ada); return err },
				} {
					var err error
					took := time.Hour
					for tries := 0; took > outside && tries < 3; tries++ { // long enough for a busy machine
						begun := time.Now()
						err = call(t.Context())
						took = time.Since(begun)
						// the previous call was stopped before it could release the row
						if first == 0 && fault.KindOf(err) == fault.Conflict {
							expect.Eventually(t, name+" to get its turn", func() bool {
								begun = time.Now()
								err = call(t.Context())
								took = time.Since(begun)
								return fault.KindOf(err) != fault.Conflict
							})
						}
					}
					if took > outside {
						t.Errorf("%s took %s, want the budget of %s", name, took, budget)
					}
					switch kind := fault.KindOf(err); {
					case first > 0: // one call may finish in time
						if err != nil && kind != fault.Upstream && kind != fault.Conflict {
							t.Errorf("%s with a slow provider: %v, want 502", name, err)
						}
					case name == "a sync" || name == "a price":
						if err != nil {
							t.Errorf("%s with a silent provider: %v, want what is known", name, err)
						}
					case kind != fault.Upstream:
						t.Errorf("%s with a silent provider: %v, want 502", name, err)
					}
				}
			}
		})
	}
}

// Prices are loaded for a caller with a long deadline. Callers with shorter deadlines are not delayed by
// this, however many there are.
func TestReadingPricesDelaysNoOtherCaller(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.buy("pro")
	w.synced()
	w.catalog.at = time.Time{}
	w.Service.config.Answer = 100 * time.Millisecond
	asked, open := make(chan struct{}, 100), make(chan struct{})
	w.stripe.SetFault(func(*http.Request) stripetest.Fault {
		asked <- struct{}{}
		<-open
		return stripetest.Fault{}
	})
	var wait sync.WaitGroup
	wait.Go(func() {
		if _, err := w.catalog.get(t.Context()); err != nil {
			t.Errorf("the caller with the long deadline got %v", err)
		}
	})
	<-asked
	for range 20 {
		if _, _, err := w.SetPlan(t.Context(), w.ada, "pool"); fault.KindOf(err) != fault.Upstream {
			t.Errorf("a concurrent change returned %v, want 502", err)
		}
		if offers, err := w.Offers(t.Context(), w.ada); err != nil || len(offers) == 0 || offers[1].Price != nil {
			t.Errorf("meanwhile, the plans are %+v %v, want them without prices", offers, err)
		}
	}
	close(open)
	wait.Wait()
}
