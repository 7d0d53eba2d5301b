package webhooks

import (
	"database/sql"
	"testing"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/work/bus"
	"github.com/postrider/postrider/runtime/work/event"
)

// Facts of accounts without endpoints skip the bus. Facts published by another process before it learns of a
// new endpoint are still delivered.
func TestSkipsAccountsWithoutEndpoints(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := w.interest.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	const messages = `SELECT count(*) FROM bus_messages WHERE consumer = 'webhooks'`
	w.publishSample(t, ada, event.EmailSent)
	if n := w.count(t, messages); n != 0 {
		t.Fatalf("%d messages for an account without endpoints, want 0", n)
	}
	r := newReceiver(t)
	hook, _ := w.addEndpoint(t, ada, r.URL, string(event.EmailDelivered))
	w.publishSample(t, ada, event.EmailDelivered)
	if n := w.count(t, messages); n != 1 {
		t.Fatalf("%d messages, want 1 for the account that now has an endpoint", n)
	}
	if err := w.bus.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	// Another process, which has not learned of the endpoint yet.
	other := bus.New(w.db, w.Service.log, bus.Options{})
	missed := event.New(ada, event.EmailDelivered, time.Now(), samplePayload(event.EmailDelivered))
	// no endpoint subscribes to it
	unwanted := event.New(ada, event.EmailSent, time.Now(), samplePayload(event.EmailSent))
	foreign := event.New(eve, event.EmailDelivered, time.Now(), samplePayload(event.EmailDelivered))
	err := w.db.InHotTx(t.Context(),
		func(tx *sql.Tx) error { return other.Publish(t.Context(), tx, missed, unwanted, foreign) })
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the missed fact is queued", func() bool {
		return w.count(t, `SELECT count(*) FROM webhook_deliveries WHERE webhook_id = $1 AND event_id = $2`, hook.ID, missed.ID) == 1
	})
	eventually(t, "the mark has passed all facts", func() bool {
		return w.count(t, `SELECT count(*) FROM bus_marks WHERE until_id > (SELECT max(id) FROM facts)`) == 1
	})
	if n := w.count(t, `SELECT count(*) FROM webhook_deliveries`); n != 2 {
		t.Errorf("%d deliveries, want 2: the others have no subscribed endpoint", n)
	}
}

func samplePayload(typ event.Type) event.Payload {
	entry, _ := event.Lookup(typ)
	return entry.Sample
}

// A fact that arrives late goes only to endpoints that existed and were enabled when it occurred.
func TestEndpointReceivesOnlyLaterEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := newReceiver(t)
	there, _ := w.addEndpoint(t, ada, r.URL)
	later, _ := w.addEndpoint(t, ada, r.URL)
	off, _ := w.addEndpoint(t, ada, r.URL)
	legacy, _ := w.addEndpoint(t, ada, r.URL)
	for _, old := range []string{there.ID, off.ID} {
		w.exec(t, `UPDATE webhooks SET enabled_at = enabled_at - interval '1 minute' WHERE id = $1 AND enabled_at IS NOT NULL`, old)
	}
	no, yes := false, true
	for _, enabled := range []*bool{&no, &yes} {
		if _, err := w.Update(t.Context(), ada, off.ID, EndpointChange{Enabled: enabled}); err != nil {
			t.Fatal(err)
		}
	}
	// it was already enabled
	if _, err := w.Update(t.Context(), ada, there.ID, EndpointChange{RateLimit: new(int), Enabled: &yes}); err != nil {
		t.Fatal(err)
	}
	w.exec(t, `UPDATE webhooks SET enabled_at = NULL WHERE id = $1`, legacy.ID) // an endpoint created by an older version
	for name, test := range map[string]struct {
		age  time.Duration
		want []string
	}{
		"just now":                           {0, []string{there.ID, later.ID, off.ID, legacy.ID}},
		"before two were created or enabled": {30 * time.Second, []string{there.ID, legacy.ID}},
		"before every known time":            {2 * time.Minute, []string{legacy.ID}},
		"older than the retention":           {Retention + time.Hour, nil},
	} {
		fact := event.New(ada, event.EmailDelivered, time.Now().Add(-test.age), samplePayload(event.EmailDelivered))
		fact.ID = id.Since(id.Fact, time.Now().Add(-test.age))[:14] + fact.ID[14:]
		if err := w.db.InTx(t.Context(),
			func(tx *ent.Tx) error { return w.handleFact(t.Context(), tx, fact) }); err != nil {
			t.Fatal(err)
		}
		got := w.count(t, `SELECT count(*) FROM webhook_deliveries WHERE event_id = $1`, fact.ID)
		for _, endpoint := range test.want {
			if w.count(t, `SELECT count(*) FROM webhook_deliveries WHERE event_id = $1 AND webhook_id = $2`, fact.ID, endpoint) != 1 {
				t.Errorf("%s: endpoint %s has no delivery", name, endpoint)
			}
		}
		if got != len(test.want) {
			t.Errorf("%s: %d deliveries, want %d", name, got, len(test.want))
		}
	}
}
