package webhooks

import (
	"database/sql"
	"errors"
	"testing"

	"github.com/postrider/postrider/runtime/work/event"
)

// claimedSQL counts first attempts that have not ended.
const claimedSQL = `SELECT count(*) FROM ` + firstAttemptsSQL

// newFreshWorld returns a world that claims the deliveries it creates. Its worker has not started.
func newFreshWorld(t *testing.T, urls ...string) *world {
	t.Helper()
	w := newWorld(t)
	for _, url := range urls {
		w.addEndpoint(t, ada, url)
	}
	w.exec(t, `UPDATE webhooks SET enabled_at = NULL`)
	w.handed.open.Store(true)
	return w
}

// A new delivery is stored as claimed and posted after the commit, without another claim.
func TestNewDeliveryIsHandedOver(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	w := newWorld(t)
	w.addEndpoint(t, ada, r.URL)
	w.run(t)
	for posts := 1; posts <= 20; posts++ {
		w.publishSample(t, ada, event.EmailSent)
		eventually(t, "the event is delivered", func() bool {
			return w.count(t, `SELECT count(*) FROM webhook_deliveries WHERE state = 'delivered'`) == posts
		})
	}
	if n := len(r.received()); n != 20 {
		t.Errorf("the endpoint received %d events, want 20", n)
	}
	// A claim of its own would begin the attempt in a later transaction. One may happen to run during the fan-out.
	if n := w.count(t, `SELECT count(*) FROM webhook_deliveries d JOIN webhook_attempts a ON a.delivery_id = d.id
		WHERE a.started_at = d.created_at AND a.outcome = 'delivered' AND a.fence = 1`); n < 10 {
		t.Errorf("%d of 20 deliveries were handed over, want at least 10", n)
	}
}

// The bytes that are posted are those that Body returns.
func TestHandedOverBodyIsTheStoredOne(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	w := newWorld(t)
	made, _ := w.addEndpoint(t, ada, r.URL)
	w.run(t)
	w.publishSample(t, ada, event.EmailBounced)
	eventually(t, "the event is delivered", func() bool {
		return w.count(t, `SELECT count(*) FROM webhook_deliveries WHERE state = 'delivered'`) == 1
	})
	body, err := w.Body(t.Context(), w.onlyDelivery(t, made.ID))
	if err != nil || string(body) != r.received()[0].body {
		t.Errorf("posted %s, Body returns %s, %v", r.received()[0].body, body, err)
	}
}

// What a transaction claimed that was rolled back is not posted.
func TestRollbackDropsHandedOverDeliveries(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	w := newFreshWorld(t, r.URL)
	rollback := errors.New("rollback")
	err := w.db.InHotTx(t.Context(), func(tx *sql.Tx) error {
		return errors.Join(w.handleFacts(t.Context(), tx, []event.Fact{w.factOfAge(t, 0)}), rollback)
	})
	if !errors.Is(err, rollback) || len(w.handed.jobs) != 1 {
		t.Fatalf("%v, %d deliveries handed over; want one", err, len(w.handed.jobs))
	}
	w.dropHandedOver() // the next batch begins
	w.handleCommit()
	for id, e := range w.flights.byID {
		if len(e.begun) > 0 {
			t.Errorf("endpoint %s has %d deliveries in flight, want none", id, len(e.begun))
		}
	}
	if n := w.count(t, `SELECT count(*) FROM webhook_deliveries`); n != 0 || len(w.handed.jobs) != 0 {
		t.Errorf("%d deliveries stored, %d handed over; want none", n, len(w.handed.jobs))
	}
}

// Deliveries for which the worker has no place are due again, and their first attempt is still to come.
func TestHandedOverDeliveriesWithoutPlaceAreReleased(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	w := newFreshWorld(t, r.URL)
	w.applyFacts(t, w.publishSample(t, ada, event.EmailSent))
	if n := w.count(t, claimedSQL); n != 1 {
		t.Fatalf("%d deliveries are claimed, want 1", n)
	}
	w.handleCommit() // the worker has not started
	if n := w.count(t, `SELECT count(*) FROM webhook_works WHERE due_at <= now() AND attempts = 0 AND round = 0`); n != 1 {
		t.Errorf("%d deliveries are due, want 1", n)
	}
	if n := w.count(t, `SELECT (SELECT count(*) FROM webhook_attempts) + (SELECT count(*) FROM webhook_claims)`); n != 0 {
		t.Errorf("%d attempts or claims are stored, want none", n)
	}
	if err := w.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the event is delivered in its first attempt", func() bool {
		return w.count(t, `SELECT count(*) FROM webhook_attempts WHERE number = 1 AND outcome = 'delivered'`) == 1
	})
}

// If the process is killed after the commit, its attempt is unknown and another process repeats it.
func TestKilledProcessLosesNoHandedOverDelivery(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	w := newFreshWorld(t, r.URL)
	w.applyFacts(t, w.publishSample(t, ada, event.EmailSent))
	other := w.newOtherProcess(t, numberedNode{})
	if err := other.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := other.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	w.exec(t, `UPDATE webhook_claims SET due_at = now()`) // the lease ends
	eventually(t, "the second attempt succeeds", func() bool {
		return w.count(t, `SELECT count(*) FROM webhook_attempts WHERE number = 1 AND outcome = 'unknown'`) == 1 &&
			w.count(t, `SELECT count(*) FROM webhook_attempts WHERE number = 2 AND outcome = 'delivered'`) == 1
	})
	if n := len(r.received()); n != 1 {
		t.Errorf("the endpoint received %d events, want 1", n)
	}
}

// An untested endpoint gets one delivery, one with a rate limit or due deliveries none.
func TestHandOverRespectsEndpoints(t *testing.T) {
	t.Parallel()
	w := newFreshWorld(t, "https://a.example.com", "https://b.example.com", "https://c.example.com")
	w.exec(t, `UPDATE webhooks SET rate_limit = 1000 WHERE url LIKE '%//b.%'`)
	busy, _ := w.addEndpoint(t, ada, "https://d.example.com")
	w.exec(t, `UPDATE webhooks SET enabled_at = NULL`)
	if _, err := w.DeliverTo(t.Context(), ada, busy.ID, w.factOfAge(t, 0)); err != nil {
		t.Fatal(err)
	}
	var facts []event.Fact
	for range 5 {
		facts = append(facts, w.factOfAge(t, 0))
	}
	w.applyFacts(t, facts...)
	if n := w.count(t, claimedSQL); n != 2 || len(w.handed.jobs) != 2 {
		t.Errorf("%d deliveries are claimed and %d handed over, want 2", n, len(w.handed.jobs))
	}
	if n := w.count(t, `SELECT count(*) FROM webhook_works WHERE attempts = 0 AND due_at <= now()`); n != 19 {
		t.Errorf("%d deliveries are due, want 18 and the test event", n)
	}
	w.dropHandedOver()
}
