package webhooks

import (
	"net/http"
	"testing"
	"time"

	"github.com/postrider/postrider/modules/webhooks/post"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/event"
)

// Endpoints that hang occupy only a few POSTs of this process, and a failing endpoint waits for its retries.
// Meanwhile, other endpoints of the same account and of other accounts receive their events. The test depends
// on the order of events, not on a clock: the hanging POSTs are released only after the other endpoints have
// received everything.
func TestHangingEndpointsDoNotDelayOthers(t *testing.T) {
	t.Parallel()
	for range 10 {
		if checkHangingEndpoints(t) {
			return
		}
		t.Log("a hanging POST timed out because the machine stalled; retrying")
	}
	t.Error("a hanging POST timed out in every attempt")
}

// checkHangingEndpoints returns false if a hanging POST timed out before all conditions held.
func checkHangingEndpoints(t *testing.T) (undisturbed bool) {
	t.Helper()
	w := newWorld(t, func(c *Config) { c.Concurrency, c.Timeout = 16, lease/2 })
	release := make(chan struct{})
	var hanging []*receiver
	var ids []string
	for range 4 {
		slow := newReceiver(t)
		made, _ := w.addEndpoint(t, ada, slow.URL)
		hanging, ids = append(hanging, slow), append(ids, made.ID)
	}
	late := func() bool {
		return w.count(t, `SELECT count(*) FROM webhook_attempts a JOIN webhook_deliveries d ON d.id = a.delivery_id
			WHERE d.webhook_id = ANY($1) AND d.state <> 'delivered' AND a.outcome IS NOT NULL`, db.Array(ids)) > 0
	}
	t.Cleanup(func() { close(release) }) // before the receivers close
	failing, good, other := newReceiver(t), newReceiver(t), newReceiver(t)
	w.addEndpoint(t, ada, failing.URL)
	w.addEndpoint(t, ada, good.URL)
	w.addEndpoint(t, eve, other.URL)
	w.run(t)
	w.publishSample(t, ada, event.EmailSent)
	eventually(t, "all endpoints have answered once", func() bool {
		return w.count(t, `SELECT count(*) FROM webhook_deliveries WHERE state = 'delivered'`) == 6
	})
	failing.setAnswer(http.StatusInternalServerError, "")
	for _, slow := range hanging {
		slow.mu.Lock()
		slow.block = release
		slow.mu.Unlock()
	}
	const first, events = 10, 40
	for range first {
		w.publishSample(t, ada, event.EmailSent)
	}
	open := func() int { return w.count(t, openSQL) }
	eventually(t, "the hanging endpoints have used their room", func() bool {
		return late() || len(good.received()) >= 1+first && len(failing.received()) >= 1+first &&
			open() == w.countHanging(hanging) && w.countHanging(hanging) >= 4
	})
	before := w.countHanging(hanging)
	for range events {
		w.publishSample(t, ada, event.EmailSent)
		w.publishSample(t, eve, event.EmailSent)
	}
	eventually(t, "the healthy endpoints have received everything", func() bool {
		return late() || len(good.received()) >= 1+first+events && len(other.received()) >= events &&
			len(failing.received()) >= 1+first+events
	})
	if late() {
		return false
	}
	if after := w.countHanging(hanging); after > 4*maxPerEndpoint || after < before || before > w.config.Concurrency {
		t.Errorf("hanging POSTs changed from %d to %d", before, after)
	}
	eventually(t, "only hanging POSTs have no outcome", func() bool { return late() || open() == w.countHanging(hanging) })
	if late() {
		return false
	}
	if n := w.count(t,
		`SELECT count(*) FROM webhook_deliveries d JOIN webhooks w ON w.id = d.webhook_id WHERE w.url = $1 AND d.state = 'pending' AND d.attempts >= 1`, failing.URL); n != first+events {
		t.Errorf("%d deliveries of the failing endpoint are waiting for a retry, want all %d", n, first+events)
	}
	return true
}

// openSQL counts the attempts that have not ended.
const openSQL = `SELECT (SELECT count(*) FROM webhook_attempts WHERE outcome IS NULL) + (SELECT count(*) FROM ` + firstAttemptsSQL + `)`

// countHanging returns the number of hanging POSTs, not counting the first one of each endpoint.
func (w *world) countHanging(hanging []*receiver) (n int) {
	for _, slow := range hanging {
		n += len(slow.received()) - 1
	}
	return n
}

func TestDeliveriesAreKeptForThirtyDays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addEndpoint(t, ada, newReceiver(t).URL)
	entry, _ := event.Lookup(event.EmailSent)
	for range 2 {
		if _, err := w.Deliver(t.Context(), ada,
			event.New(ada, event.EmailSent, time.Now(), entry.Sample)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.claim(t.Context(), 10, time.Minute); err != nil {
		t.Fatal(err)
	}
	// old enough even if only whole months are dropped
	old := id.Since(id.WebhookDelivery, time.Now().Add(-monthWaits-31*24*time.Hour))
	w.exec(t, `WITH o AS (SELECT id FROM webhook_deliveries ORDER BY id LIMIT 1), a AS (UPDATE webhook_attempts SET delivery_id = $1 WHERE delivery_id IN (SELECT id FROM o)),
		q AS (UPDATE webhook_works SET id = $1 WHERE id IN (SELECT id FROM o))
		UPDATE webhook_deliveries SET id = $1 WHERE id IN (SELECT id FROM o)`, old)
	if n, err := w.Sweep(t.Context()); err != nil || n != 1 {
		t.Fatalf("Sweep deleted %d deliveries, %v; want only the expired one", n, err)
	}
	if d, a, q := w.count(t, `SELECT count(*) FROM webhook_deliveries`), w.count(t,
		`SELECT count(*) FROM webhook_attempts`), w.count(t, `SELECT count(*) FROM webhook_works`); d != 1 || a != 0 || q != 1 {
		t.Errorf("%d deliveries, %d attempts and %d work rows remain, want 1, 0 and 1", d, a, q)
	}
}

// Tests the limits of a claim with a fake clock. A hanging endpoint has a capacity of one, and slow endpoints
// share half. After two seconds, hanging POSTs no longer reduce the capacity of other endpoints, however many
// there are.
func TestHangingPostsReleaseCapacity(t *testing.T) {
	t.Parallel()
	f := newFlights(8)
	now := time.Unix(1_000_000, 0)
	jobs := make([]delivery, 8)
	for i := range jobs {
		jobs[i].webhookID = []string{"a", "b"}[i/4]
	}
	f.begin(f.claimLimits(now), jobs, now)
	if l := f.claimLimits(now.Add(promptTime - 1)); l.most != 0 || !f.full {
		t.Errorf("capacity %d while all slots are taken, want 0 and full", l.most)
	}
	l := f.claimLimits(now.Add(promptTime))
	if l.most != 8 || l.rooms[0].more != 0 || l.rooms[1].more != 0 || !l.rooms[0].doubtful || !l.rooms[1].doubtful {
		t.Errorf("limits after two seconds: %+v", l)
	}
	for _, j := range jobs {
		f.end(j, &answer{})
	}
	if l := f.claimLimits(now.Add(promptTime)); l.most != 8 || l.rooms[0].more != 1 {
		t.Errorf("limits after all POSTs ended: %+v", l)
	}
}

func TestPostsInFlightStayWithinLimits(t *testing.T) {
	t.Parallel()
	f := newFlights(12)
	now := time.Unix(1_000_000, 0)
	job := func(webhook string) delivery { return delivery{webhookID: webhook} }
	jobs := []delivery{job("a"), job("a"), job("b")}
	f.begin(f.claimLimits(now), jobs, now)
	room := func(webhook string, now time.Time) int {
		l := f.claimLimits(now)
		for _, known := range l.rooms {
			if known.webhookID == webhook {
				return known.more
			}
		}
		return l.room
	}
	if got := []int{room("a", now), room("b", now), room("c", now), f.claimLimits(now).shared}; got[0] != 0 ||
		got[1] != 0 || got[2] != 1 || got[3] != 6 {
		t.Errorf("capacity of a, b, c and shared: %v, want 0, 0, 1, 6", got)
	}
	f.end(jobs[0], &answer{Result: post.Result{Failure: "no answer"}})
	if got := room("a", now); got != 0 { // one POST still hangs, and the endpoint is limited to one
		t.Errorf("a slow endpoint has a capacity of %d, want 0", got)
	}
	f.end(jobs[1], &answer{Result: post.Result{Status: 200}, took: time.Millisecond})
	f.end(jobs[2], &answer{Result: post.Result{Status: 500}, took: time.Millisecond})
	if got := []int{room("a", now), room("b", now), f.claimLimits(now).shared}; got[0] != 4 || got[1] != 4 ||
		got[2] != 6 {
		t.Errorf("after the answers, the capacity of a, b and shared is %v, want 4, 4, 6", got)
	}
	f.close()
}
