package webhooks

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent/webhookdelivery"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/bus"
	"github.com/postrider/postrider/runtime/work/event"
)

// pendingLines returns the pending deliveries as text, without times and generated ids.
func (w *world) pendingLines(t testing.TB) (lines []string) {
	t.Helper()
	lines, err := db.All(t.Context(), w.db.SQL, db.Value[string], `
		SELECT concat_ws(' ', d.account_id, d.webhook_id, d.event_id, d.event_type, to_char(d.event_created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US'), d.state,
			d.data IS NULL, d.attempts, d.replays, d.error, q.webhook_id, q.fence, q.attempts, q.round, q.due_at = d.due_at)
		FROM webhook_deliveries d FULL JOIN webhook_works q USING (id) ORDER BY 1`)
	if err != nil {
		t.Fatalf("read pending deliveries: %v", err)
	}
	return lines
}

// Handling random facts in one batch creates the same deliveries as handling them one by one, and exactly those
// that the rules require.
func TestBatchedFactsCreateSameDeliveries(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	types := []event.Type{event.EmailSent, event.EmailDelivered, event.EmailBounced}
	accounts := []string{ada, eve, "acc_01kf0m4w7he6x8q2v5b3n9c1tc"} // the last one has no endpoint
	wanted := map[string]func(event.Fact) bool{}                     // keyed by endpoint
	for range 24 {
		account, all, age, off := accounts[rand.IntN(2)], rand.IntN(3) == 0, time.Duration(rand.IntN(3600))*time.Second,
			rand.IntN(4) == 0
		var events []string
		for _, typ := range types {
			if !all && rand.IntN(2) == 0 {
				events = append(events, string(typ))
			}
		}
		made, _ := w.addEndpoint(t, account, "https://hooks.example.com", events...)
		since := time.Now().Add(-age)
		w.exec(t, `UPDATE webhooks SET enabled_at = $2, enabled = $3 WHERE id = $1`, made.ID, since, !off)
		wanted[made.ID] = func(f event.Fact) bool {
			return !off && f.AccountID == account && (len(events) == 0 || slices.Contains(events, string(f.Type))) &&
				!id.Time(f.ID).Add(bus.HoldBack).Before(since)
		}
	}
	var facts []event.Fact
	for range 120 {
		age := time.Duration(rand.IntN(4000)) * time.Second
		typ := types[rand.IntN(len(types))]
		fact := event.New(accounts[rand.IntN(3)], typ, time.Now().Add(-age), samplePayload(typ))
		fact.ID = id.Since(id.Fact, time.Now().Add(-age))[:14] + fact.ID[14:]
		facts = append(facts, fact)
	}
	handled := func(some []event.Fact, atOnce bool) []string {
		t.Helper()
		err := w.db.InHotTx(t.Context(), func(tx *sql.Tx) error {
			if atOnce {
				return w.handleFacts(t.Context(), tx, some)
			}
			for _, f := range some {
				if err := w.handleFact(t.Context(), tx, f); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatalf("handle %d facts, together=%t: %v", len(some), atOnce, err)
		}
		return w.pendingLines(t)
	}
	none := func() { w.exec(t, `TRUNCATE webhook_deliveries, webhook_works`) }
	single := handled(facts, false)
	none()
	unknown := handled(facts, true) // before interest is loaded
	if err := w.interest.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	again := handled(facts, true)
	none()
	known := handled(facts, true)
	none()
	handled(facts[:40], false)
	overlapping := handled(facts, true)
	for name, got := range map[string][]string{"together": known, "in one batch before interest is loaded": unknown,
		"in one batch again": again, "in one batch after some of them": overlapping} {
		if diff := cmp.Diff(single, got); diff != "" {
			t.Errorf("deliveries of facts handled %s differ from one by one (-one by one +got):\n%s", name, diff)
		}
	}
	pairs := 0
	for endpoint, wants := range wanted {
		for _, f := range facts {
			if !wants(f) {
				continue
			}
			pairs++
			if w.count(t, `SELECT count(*) FROM webhook_deliveries WHERE webhook_id = $1 AND event_id = $2`, endpoint, f.ID) != 1 {
				t.Errorf("endpoint %s has no delivery of %s, want one", endpoint, f.ID)
			}
		}
	}
	if len(single) != pairs {
		t.Errorf("%d deliveries were created, want %d", len(single), pairs)
	}
}

// A fact that cannot be stored does not affect the other facts of any account.
func TestBrokenFactDoesNotStopOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	adas, _ := w.addEndpoint(t, ada, "https://hooks.example.com")
	eves, _ := w.addEndpoint(t, eve, "https://hooks.example.com")
	var facts []event.Fact
	for n := range 120 {
		facts = append(facts, event.New([]string{ada, eve}[n%2], event.EmailSent, time.Now(), samplePayload(event.EmailSent)))
	}
	err := w.db.InHotTx(t.Context(), func(tx *sql.Tx) error { return w.bus.Publish(t.Context(), tx, facts...) })
	if err != nil {
		t.Fatal(err)
	}
	broken := facts[30].ID[14:] // the table may rewrite the start of the id
	w.exec(t, fmt.Sprintf(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		IF substr(NEW.event_id, 15) = '%s' THEN RAISE EXCEPTION 'a broken fact'; END IF; RETURN NEW; END $$`, broken))
	w.exec(t, `CREATE TRIGGER refuse BEFORE INSERT ON webhook_deliveries FOR EACH ROW EXECUTE FUNCTION refuse()`)
	if err := w.bus.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "all other facts are queued", func() bool { return w.count(t, `SELECT count(*) FROM webhook_works`) == len(facts)-1 })
	if n := w.count(t, `SELECT count(*) FROM bus_messages WHERE failures = 1 AND last_error LIKE '%a broken fact%'`); n != 1 {
		t.Errorf("%d messages are waiting for a retry, want only the broken fact", n)
	}
	for _, endpoint := range []string{adas.ID, eves.ID} {
		if n := w.count(t, `SELECT count(DISTINCT event_id) FROM webhook_deliveries WHERE webhook_id = $1`, endpoint); n < len(facts)/2-1 {
			t.Errorf("endpoint %s has deliveries of %d events, want %d", endpoint, n, len(facts)/2)
		}
	}
}

// A test event stores its data with each of its deliveries and returns the delivery ids.
func TestQueuesTestEventForAllEndpoints(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 3 {
		w.addEndpoint(t, ada, "https://hooks.example.com")
	}
	fact := event.New(ada, event.EmailSent, time.Now(), samplePayload(event.EmailSent))
	made, err := w.Deliver(t.Context(), ada, fact)
	if err != nil || len(made) != 3 {
		t.Fatalf("Deliver to 3 endpoints returned %v, %v; want 3 ids", made, err)
	}
	stored, err := w.db.Ent.WebhookDelivery.Query().Where(webhookdelivery.IDIn(made...)).All(t.Context())
	if err != nil || len(stored) != 3 {
		t.Fatalf("%d deliveries are stored, want 3: %v", len(stored), err)
	}
	for _, d := range stored {
		if !sameJSON(t, d.Data, fact.Data) {
			t.Errorf("delivery %s has data %s, want %s", d.ID, d.Data, fact.Data)
		}
	}
}
