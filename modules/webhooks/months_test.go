package webhooks

import (
	"database/sql"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/postrider/postrider/ent/webhookdelivery"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db/months"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/work/event"
)

// byMonth splits the deliveries table by month.
func (w *world) byMonth(t *testing.T) *world {
	t.Helper()
	tables, err := months.FindTables(deliveriesTable)
	if err != nil {
		t.Fatal(err)
	}
	if err := months.Move(t.Context(), w.db, tables[0], slog.New(slog.DiscardHandler), func(string) {}); err != nil {
		t.Fatal(err)
	}
	return w
}

// eachForm runs a test with a plain deliveries table and with one split by month, which cannot have a unique
// index on event and endpoint.
func eachForm(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	t.Parallel()
	for name, made := range map[string]func(*testing.T) *world{
		"plain": func(t *testing.T) *world { t.Helper(); return newWorld(t) },
		"split": func(t *testing.T) *world { t.Helper(); return newWorld(t).byMonth(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, made(t))
		})
	}
}

func (w *world) applyFacts(t *testing.T, facts ...event.Fact) {
	t.Helper()
	if err := w.db.InHotTx(t.Context(),
		func(tx *sql.Tx) error { return w.handleFacts(t.Context(), tx, facts) }); err != nil {
		t.Fatal(err)
	}
}

// factOfAge returns a fact of the given age.
func (w *world) factOfAge(t *testing.T, age time.Duration) event.Fact {
	t.Helper()
	f := event.New(ada, event.EmailSent, time.Now().Add(-age), samplePayload(event.EmailSent))
	f.ID = id.Since(id.Fact, time.Now().Add(-age))[:14] + f.ID[14:]
	return f
}

// A delivery id is valid, contains the time of its event and is derived from event and endpoint.
func TestDeliveryIDDerivesFromEventAndEndpoint(t *testing.T) {
	eachForm(t, func(t *testing.T, w *world) {
		t.Helper()
		for range 3 {
			made, _ := w.addEndpoint(t, ada, "https://hooks.example.com")
			w.exec(t, `UPDATE webhooks SET enabled_at = NULL WHERE id = $1`, made.ID)
		}
		facts := []event.Fact{w.factOfAge(t, 0), w.factOfAge(t, time.Hour), w.factOfAge(t, 29*24*time.Hour)}
		ids := func() (all []string) {
			w.applyFacts(t, facts...)
			rows, err := w.db.Ent.WebhookDelivery.Query().Order(webhookdelivery.ByID()).All(t.Context())
			if err != nil || len(rows) != 9 {
				t.Fatalf("3 events have %d deliveries to 3 endpoints, %v; want 9", len(rows), err)
			}
			for _, d := range rows {
				if !id.Is(id.WebhookDelivery, d.ID) || !id.Time(d.ID).Equal(id.Time(d.EventID)) {
					t.Errorf("delivery of event %s has id %s with time %s, want the time of the event", d.EventID, d.ID,
						id.Time(d.ID))
				}
				all = append(all, d.ID)
			}
			return all
		}
		first := ids()
		w.exec(t, `TRUNCATE webhook_deliveries, webhook_works`)
		if again := ids(); !slices.Equal(first, again) {
			t.Errorf("the second fan-out created ids %v, want %v as before", again, first)
		}
	})
}

// The id of a delivery names the cell in the id of its event, so that the id of the pair is the same in every process.
func TestDeliveryIDNamesTheCellOfItsEvent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made, _ := w.addEndpoint(t, ada, "https://hooks.example.com")
	fact := w.factOfAge(t, 0)
	fact.ID = fact.ID[:14] + "h" + fact.ID[15:28] + "9c"
	if cell := id.Cell(fact.ID); cell != 300 {
		t.Fatalf("%s names cell %d, want 300", fact.ID, cell)
	}
	w.applyFacts(t, fact)
	d := w.onlyDelivery(t, made.ID)
	if !id.Is(id.WebhookDelivery, d.ID) || id.Cell(d.ID) != 300 || !id.Time(d.ID).Equal(id.Time(fact.ID)) {
		t.Errorf("the delivery of event %s has the id %s, want one of its time and cell", fact.ID, d.ID)
	}
}

// An event has one delivery per endpoint, no matter how many processes create it, concurrently or later.
func TestConcurrentFanoutCreatesOneDelivery(t *testing.T) {
	eachForm(t, func(t *testing.T, w *world) {
		t.Helper()
		made, _ := w.addEndpoint(t, ada, "https://hooks.example.com")
		w.exec(t, `UPDATE webhooks SET enabled_at = NULL WHERE id = $1`, made.ID)
		var facts []event.Fact
		for n := range 60 {
			facts = append(facts, w.factOfAge(t, time.Duration(n)*3*time.Second))
			w.exec(t,
				`INSERT INTO facts (id, account_id, type, subject_id, data, created_at) VALUES ($1, $2, $3, 's', '{}', $4)`, facts[n].ID, ada, facts[n].Type, facts[n].CreatedAt)
		}
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() { w.applyFacts(t, facts...) })
			all.Go(func() {
				if _, err := w.Recover(t.Context(), ada, made.ID,
					Recovery{Since: time.Now().Add(-time.Hour)}); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if n, pairs := w.count(t, `SELECT count(*) FROM webhook_deliveries`), w.count(t,
			`SELECT count(DISTINCT (event_id, webhook_id)) FROM webhook_deliveries`); n != 60 || pairs != 60 {
			t.Errorf("60 events have %d deliveries to %d pairs, want 60 and 60", n, pairs)
		}
		if n := w.count(t, `SELECT count(*) FROM webhook_works`); n != 60 {
			t.Errorf("60 deliveries have %d work rows, want 60", n)
		}
	})
}

// Older versions gave deliveries random ids. An event that has such a delivery gets no second one when it
// arrives late or is recovered.
func TestFindsDeliveriesWithLegacyIDs(t *testing.T) {
	eachForm(t, func(t *testing.T, w *world) {
		t.Helper()
		made, _ := w.addEndpoint(t, ada, "https://hooks.example.com")
		w.exec(t, `UPDATE webhooks SET enabled_at = NULL WHERE id = $1`, made.ID)
		late := w.factOfAge(t, 2*lateAfter)
		w.exec(t,
			`INSERT INTO facts (id, account_id, type, subject_id, data, created_at) VALUES ($1, $2, $3, 's', '{}', $4)`,
			late.ID, ada, late.Type, late.CreatedAt)
		w.exec(t, `INSERT INTO webhook_deliveries (id, account_id, webhook_id, event_id, event_type, event_created_at, state, attempts, replays, error, created_at, failed)
			VALUES ($1, $2, $3, $4, 'email.sent', now(), 'failed', 5, 0, '', now(), true)`, id.New(id.WebhookDelivery), ada, made.ID, late.ID)
		w.applyFacts(t, late, w.factOfAge(t, 0))
		if n := w.count(t, `SELECT count(*) FROM webhook_deliveries WHERE event_id = $1`, late.ID); n != 1 {
			t.Errorf("event with a delivery of an older version has %d deliveries, want 1", n)
		}
		done, err := w.Recover(t.Context(), ada, made.ID, Recovery{Since: time.Now().Add(-time.Hour)})
		if n := w.count(t, `SELECT count(*) FROM webhook_deliveries`); err != nil || done.Count != 1 || n != 2 {
			t.Errorf("Recover = %+v, %v with %d deliveries; want 1 recovered and 2 deliveries", done, err, n)
		}
	})
}

// In a split table, expired deliveries remain until their month is dropped. They are hidden, and the stored
// responses of endpoints are deleted.
func TestHidesExpiredDeliveriesOfSplitTable(t *testing.T) {
	t.Parallel()
	w := newWorld(t).byMonth(t)
	made, _ := w.addEndpoint(t, ada, "https://hooks.example.com")
	now := time.Now()
	old, older, young := now.Add(-deleteAfter-time.Hour), now.Add(-monthWaits-32*24*time.Hour), now.Add(-Retention)
	for _, at := range []time.Time{old, older, young} {
		w.addDelivery(t, ada, made.ID, "failed", 1, at, time.Second)
	}
	w.exec(t,
		`INSERT INTO webhook_attempts (delivery_id, account_id, number, fence, started_at, error, response, remote_addr) SELECT id, account_id, 1, 1, now(), '', 'an answer', '' FROM webhook_deliveries`)
	w.exec(t,
		`INSERT INTO webhook_works (id, webhook_id, due_at, fence, attempts, round) SELECT id, webhook_id, now() + interval '1 day', 1, 1, 1 FROM webhook_deliveries`)
	if n, err := w.Sweep(t.Context()); err != nil || n != 1 {
		t.Errorf("Sweep deleted %d rows, %v; want the one from an overdue month", n, err)
	}
	for table, want := range map[string]int{"webhook_deliveries": 2, "webhook_attempts": 1, "webhook_works": 1} {
		if n := w.count(t, `SELECT count(*) FROM `+table); n != want {
			t.Errorf("%d rows of %s remain, want %d", n, table, want)
		}
	}
	found, err := w.Deliveries(t.Context(), ada, made.ID, Filter{Request: page.Request{Limit: 10}})
	if err != nil || len(found.Items) != 1 || !id.Time(found.Items[0].ID).Equal(young.Truncate(time.Millisecond)) {
		t.Errorf("Deliveries returned %d, %v; want only the recent one", len(found.Items), err)
	}
	hidden, err := w.db.Ent.WebhookDelivery.Query().Where(webhookdelivery.IDLT(id.Since(id.WebhookDelivery, young))).
		OnlyID(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Delivery(t.Context(), ada, hidden); fault.KindOf(err) != fault.NotFound {
		t.Errorf("Delivery of an expired delivery returned %v, want not found", err)
	}
	if _, err := w.Replay(t.Context(), ada, hidden, nil); fault.KindOf(err) != fault.NotFound {
		t.Errorf("Replay of an expired delivery returned %v, want not found", err)
	}
	if latest, err := w.Latest(t.Context(), ada, "", 10, made.ID); err != nil || len(latest[made.ID]) != 1 {
		t.Errorf("Latest = %v, %v; want the recent delivery", latest, err)
	}
}

// A month can be dropped when its last delivery has expired and none is pending.
func TestDropsMonthsWithoutNeededDeliveries(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	now := time.Now()
	ask := func(below time.Time) bool {
		t.Helper()
		yes, err := unneededMonths().Ask(t.Context(), w.db.SQL, id.Since(id.WebhookDelivery, below), now)
		if err != nil {
			t.Fatal(err)
		}
		return yes
	}
	if ask(now.Add(-deleteAfter+time.Hour)) || !ask(now.Add(-deleteAfter-time.Hour)) {
		t.Error("only months of the last 31 days must be needed")
	}
	w.exec(t,
		`INSERT INTO webhook_works (id, webhook_id, due_at, fence, attempts, round) VALUES ($1, 'wh_1', now(), 0, 0, 0)`, id.Since(id.WebhookDelivery, now.Add(-deleteAfter-2*time.Hour)))
	if ask(now.Add(-deleteAfter-time.Hour)) || !ask(now.Add(-deleteAfter-3*time.Hour)) {
		t.Error("a month with pending work must be needed, and the one before it must not")
	}
}

// An erasure deletes the answers of endpoints that quote the address, in the body or in a header field.
func TestErasureDeletesQuotedHeaders(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made, _ := w.addEndpoint(t, ada, "https://hooks.example.com")
	for range 2 {
		w.addDelivery(t, ada, made.ID, "failed", 1, time.Now(), time.Second)
	}
	w.exec(t, `INSERT INTO webhook_attempts (delivery_id, account_id, number, fence, started_at, error, response, response_headers, remote_addr)
		SELECT id, account_id, 1, 1, now(), '', 'an answer', CASE WHEN id = max(id) OVER () THEN 'X-To: Bob@Example.net' ELSE 'X-To: eve@example.net' END || chr(10), '' FROM webhook_deliveries`)
	w.exec(t, `UPDATE webhook_deliveries SET data = '{}'`)
	if err := w.Erase(t.Context(), ada, "bob@example.net", nil); err != nil {
		t.Fatal(err)
	}
	if n := w.count(t, `SELECT count(*) FROM webhook_attempts WHERE response_headers = 'X-To: eve@example.net' || chr(10) AND response = 'an answer'`); n != 1 {
		t.Errorf("%d answers that do not quote the address remain, want 1", n)
	}
	if n := w.count(t, `SELECT count(*) FROM webhook_attempts WHERE response_headers IS NULL AND response = ''`); n != 1 {
		t.Errorf("%d answers that quote the address were deleted, want 1", n)
	}
}
