package statistics

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/statistics/rollup"
	"github.com/postrider/postrider/modules/statistics/store"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/event"
)

// publisher collects published events.
type publisher struct {
	mu     sync.Mutex
	events []string
}

func (p *publisher) Publish(_ context.Context, _ db.Execer, facts ...event.Fact) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range facts {
		var r event.ExceededRate
		if err := json.Unmarshal(f.Data, &r); err != nil {
			return err
		}
		p.events = append(p.events, fmt.Sprint(f.AccountID == r.AccountID, " ", f.AccountID, " ", r.Rate, " ", r.Share, " of ", r.Recipients, " > ", r.Limit))
	}
	return nil
}

func (*publisher) Wake() {}

// published returns the events since the last call.
func (p *publisher) published() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := p.events
	p.events = nil
	slices.Sort(out)
	return out
}

// addOutcomes adds outcomes of an account's mail to the statistics.
func (tr *traffic) addOutcomes(accountID, kind string, at time.Time, count int64) {
	tr.t.Helper()
	r := rollup.New()
	r.Add(&rollup.Facts{AccountID: accountID, Type: kind, At: [rollup.Placements]time.Time{at, at}, Count: count,
		By: rollup.By{DomainID: "dom_a"}, Named: true, Domain: "a.example", Recipients: 1, Bin: -1})
	if err := tr.db.InTx(tr.t.Context(), func(tx *ent.Tx) error {
		return store.Apply(tr.t.Context(), tx, store.Days, r)
	}); err != nil {
		tr.t.Fatal(err)
	}
}

// A rate that exceeds a limit is reported once, by one process, and again after it was below the limit.
func TestReportsExceededRatesOnce(t *testing.T) {
	t.Parallel()
	tr, p := newTraffic(t, 1), &publisher{}
	tr.publisher = p
	check := func(what string, want ...string) {
		t.Helper()
		var wait sync.WaitGroup
		for range 3 { // concurrently, like several processes
			wait.Go(func() {
				if err := tr.CheckRates(t.Context()); err != nil {
					t.Errorf("%s: the check failed: %v", what, err)
				}
			})
		}
		wait.Wait()
		if got := p.published(); !slices.Equal(got, want) {
			t.Errorf("%s: published %q, want %q", what, got, want)
		}
	}
	now, err := db.Now(t.Context(), tr.db.SQL)
	if err != nil {
		t.Fatal(err)
	}
	at, ada, bob := now.Add(-time.Hour), tr.account[0], tr.account[1]
	tr.horizon.at = now
	tr.addOutcomes(ada, "email.delivered", at, 50)
	tr.addOutcomes(ada, "email.bounced", at, 50)
	check("half of 100 recipients, which is too few")
	tr.addOutcomes(ada, "email.delivered", at, 1900)
	check("2.5 % bounced")
	tr.addOutcomes(ada, "email.bounced", at, 150)
	check("9.3 % bounced", "true "+ada+" bounce 0.09302325581395349 of 2150 > 0.05")
	check("nothing changed")
	tr.addOutcomes(ada, "email.complained", at, 5)
	check("0.26 % complained", "true "+ada+" complaint 0.002564102564102564 of 1950 > 0.001")
	tr.addOutcomes(ada, "email.complained", at, 5)
	check("0.5 % complained", "true "+ada+" complaint 0.005128205128205128 of 1950 > 0.003")
	tr.addOutcomes(bob, "email.delivered", at, 800)
	tr.addOutcomes(bob, "email.bounced", now.Add(-30*time.Hour), 800)
	check("bounces of another account, longer than a day ago")
	tr.addOutcomes(bob, "email.delivered", at, 1200)
	tr.addOutcomes(bob, "email.complained", at, 20)
	check("1 % complained, which exceeds two limits", "true "+bob+" complaint 0.01 of 2000 > 0.003")
	check("again")

	tr.addOutcomes(ada, "email.delivered", at, 100_000)
	check("all rates are below their limits, for less than a day")
	tr.addOutcomes(ada, "email.bounced", at, 10_000)
	check("the bounce rate exceeds its limit again on the same day")
	tr.addOutcomes(ada, "email.delivered", at, 200_000)
	tr.exec(`UPDATE exceeded_rates SET created_at = created_at - interval '25 hours'`)
	check("the rates are below their limits a day later")
	tr.addOutcomes(ada, "email.bounced", at, 20_000)
	check("the bounce rate exceeds its limit again", "true "+ada+" bounce 0.0909227758542827 of 332150 > 0.05")
}
