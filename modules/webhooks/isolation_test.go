package webhooks

import (
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/event"
	"github.com/postrider/postrider/runtime/id"
)

// Endpoints that hang keep a few POSTs of this process, and the others are told in
// the meantime: it takes no longer than without them.
func TestEndpointsThatHangHoldUpNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *Config) { c.Concurrency = 16 })
	release := make(chan struct{})
	for range 4 {
		slow := newReceiver(t)
		slow.block = release
		w.endpoint(t, ada, slow.URL)
	}
	t.Cleanup(func() { close(release) }) // before the receivers are closed
	good := newReceiver(t)
	w.endpoint(t, ada, good.URL)
	w.run(t)
	const events = 40
	began := time.Now()
	for range events {
		w.happens(t, ada, event.EmailSent)
	}
	within(t, "the good one has heard all", func() bool { return len(good.heard()) == events })
	if took := time.Since(began); took > 9*time.Second { // a hanging POST ends after 10 s
		t.Errorf("it took %s, so it waited for the others", took)
	}
	if n := w.count(t, `SELECT count(*) FROM webhook_attempts a JOIN webhook_deliveries d ON d.id = a.delivery_id WHERE a.outcome IS NULL`); n > 8 {
		t.Errorf("%d POSTs hang, more than half the room", n)
	}
}

func TestDeliveriesAreKeptForThirtyDays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.endpoint(t, ada, newReceiver(t).URL)
	entry, _ := event.Lookup(event.EmailSent)
	for range 2 {
		if _, err := w.Deliver(t.Context(), ada, event.New(ada, event.EmailSent, time.Now(), entry.Sample)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.claim(t.Context(), 10, time.Minute); err != nil {
		t.Fatal(err)
	}
	old := id.Since(id.WebhookDelivery, time.Now().Add(-Kept-time.Hour))
	w.exec(t, `WITH o AS (SELECT id FROM webhook_deliveries ORDER BY id LIMIT 1), a AS (UPDATE webhook_attempts SET delivery_id = $1 WHERE delivery_id IN (SELECT id FROM o))
		UPDATE webhook_deliveries SET id = $1 WHERE id IN (SELECT id FROM o)`, old)
	if n, err := w.Sweep(t.Context()); err != nil || n != 1 {
		t.Fatalf("%d, %v", n, err)
	}
	if d, a := w.count(t, `SELECT count(*) FROM webhook_deliveries`), w.count(t, `SELECT count(*) FROM webhook_attempts`); d != 1 || a != 0 {
		t.Errorf("%d deliveries and %d attempts are left", d, a)
	}
}

// The limits of a claim, without a clock: a rate, the room of one, the half of the doubtful.
func TestFlightsKeepTheirLimits(t *testing.T) {
	t.Parallel()
	f := newFlights(4, 6)
	now := time.Unix(1_000_000, 0)
	job := func(webhook string, rate int) delivery { return delivery{webhookID: webhook, rateLimit: rate} }
	jobs := []delivery{job("a", 0), job("a", 0), job("b", 2)}
	f.begin(f.limits(now), jobs, now)
	room := func(webhook string, now time.Time) int64 {
		l := f.limits(now)
		for i, known := range l.ids {
			if known == webhook {
				return l.rooms[i]
			}
		}
		return int64(l.room)
	}
	if got := []int64{room("a", now), room("b", now), room("c", now), int64(f.limits(now).shared)}; got[0] != 0 || got[1] != 0 || got[2] != 1 || got[3] != 6 {
		t.Errorf("room %v", got)
	}
	f.end(jobs[0], &answer{failure: "no answer"})
	if got := room("a", now); got != 0 { // one hangs still, and it has one at a time now
		t.Errorf("a doubtful one has room for %d", got)
	}
	f.end(jobs[1], &answer{status: 200, took: time.Millisecond})
	f.end(jobs[2], &answer{status: 500, took: time.Millisecond})
	if got := []int64{room("a", now), room("b", now), room("b", now.Add(time.Second)), int64(f.limits(now).shared)}; got[0] != 4 || got[1] != 1 || got[2] != 2 || got[3] != 6 {
		t.Errorf("after the answers %v", got)
	}
	f.close()
}
