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

// Endpoints that hang keep a few POSTs of this process, and one that fails waits for
// its retries; the others, of their account or of another one, are told meanwhile. That
// it is meanwhile is seen by the order, not by a clock: nobody lets the hanging POSTs
// go before the others have heard everything.
func TestEndpointsThatHangHoldUpNobody(t *testing.T) {
	t.Parallel()
	for range 10 {
		if hangingHoldUpNobody(t) {
			return
		}
		t.Log("the machine stood still until a POST that hangs had taken too long, once more")
	}
	t.Error("the machine stands still again and again")
}

// hangingHoldUpNobody is false when a POST that hangs took too long before all was seen.
func hangingHoldUpNobody(t *testing.T) (undisturbed bool) {
	t.Helper()
	w := newWorld(t, func(c *Config) { c.Concurrency, c.Timeout = 16, lease/2 })
	release := make(chan struct{})
	var hanging []*receiver
	var ids []string
	for range 4 {
		slow := newReceiver(t)
		made, _ := w.endpoint(t, ada, slow.URL)
		hanging, ids = append(hanging, slow), append(ids, made.ID)
	}
	late := func() bool {
		return w.count(t, `SELECT count(*) FROM webhook_attempts a JOIN webhook_deliveries d ON d.id = a.delivery_id
			WHERE d.webhook_id = ANY($1) AND d.state <> 'delivered' AND a.outcome IS NOT NULL`, db.Array(ids)) > 0
	}
	t.Cleanup(func() { close(release) }) // before the receivers are closed
	failing, good, other := newReceiver(t), newReceiver(t), newReceiver(t)
	w.endpoint(t, ada, failing.URL)
	w.endpoint(t, ada, good.URL)
	w.endpoint(t, eve, other.URL)
	w.run(t)
	w.happens(t, ada, event.EmailSent)
	within(t, "all have proven themselves", func() bool {
		return w.count(t, `SELECT count(*) FROM webhook_deliveries WHERE state = 'delivered'`) == 6
	})
	failing.answers(http.StatusInternalServerError, "")
	for _, slow := range hanging {
		slow.mu.Lock()
		slow.block = release
		slow.mu.Unlock()
	}
	const first, events = 10, 40
	for range first {
		w.happens(t, ada, event.EmailSent)
	}
	open := func() int { return w.count(t, `SELECT count(*) FROM webhook_attempts WHERE outcome IS NULL`) }
	within(t, "the hanging ones have all that they may have", func() bool {
		return late() || len(good.heard()) >= 1+first && len(failing.heard()) >= 1+first && open() == w.taken(hanging) && w.taken(hanging) >= 4
	})
	before := w.taken(hanging)
	for range events {
		w.happens(t, ada, event.EmailSent)
		w.happens(t, eve, event.EmailSent)
	}
	within(t, "those that are well have heard everything", func() bool {
		return late() || len(good.heard()) >= 1+first+events && len(other.heard()) >= events && len(failing.heard()) >= 1+first+events
	})
	if late() {
		return false
	}
	if after := w.taken(hanging); after > 4*perEndpoint || after < before || before > w.config.Concurrency {
		t.Errorf("POSTs that hang: %d, then %d", before, after)
	}
	within(t, "only hanging POSTs have no outcome", func() bool { return late() || open() == w.taken(hanging) })
	if late() {
		return false
	}
	if n := w.count(t, `SELECT count(*) FROM webhook_deliveries d JOIN webhooks w ON w.id = d.webhook_id WHERE w.url = $1 AND d.state = 'pending' AND d.attempts = 1`, failing.URL); n != first+events {
		t.Errorf("%d deliveries of the failing one wait for another attempt, want all %d", n, first+events)
	}
	return true
}

// taken is how many POSTs endpoints hold that have answered one.
func (w *world) taken(hanging []*receiver) (n int) {
	for _, slow := range hanging {
		n += len(slow.heard()) - 1
	}
	return n
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
	old := id.Since(id.WebhookDelivery, time.Now().Add(-monthWaits-31*24*time.Hour)) // also where months are dropped as a whole
	w.exec(t, `WITH o AS (SELECT id FROM webhook_deliveries ORDER BY id LIMIT 1), a AS (UPDATE webhook_attempts SET delivery_id = $1 WHERE delivery_id IN (SELECT id FROM o)),
		q AS (UPDATE webhook_works SET id = $1 WHERE id IN (SELECT id FROM o))
		UPDATE webhook_deliveries SET id = $1 WHERE id IN (SELECT id FROM o)`, old)
	if n, err := w.Sweep(t.Context()); err != nil || n != 1 {
		t.Fatalf("Sweep deleted %d deliveries, %v, want the one that is too old", n, err)
	}
	if d, a, q := w.count(t, `SELECT count(*) FROM webhook_deliveries`), w.count(t, `SELECT count(*) FROM webhook_attempts`), w.count(t, `SELECT count(*) FROM webhook_works`); d != 1 || a != 0 || q != 1 {
		t.Errorf("%d deliveries, %d attempts and %d rows of work are left, want 1, 0 and 1", d, a, q)
	}
}

// The limits of a claim, without a clock: the room of one, the half of the doubtful.
// What hangs takes no room of others after two seconds, however many hang at once.
func TestHangingFlightsGiveTheirRoomBack(t *testing.T) {
	t.Parallel()
	f := newFlights(8, 4)
	now := time.Unix(1_000_000, 0)
	jobs := make([]delivery, 8)
	for i := range jobs {
		jobs[i].webhookID = []string{"a", "b"}[i/4]
	}
	f.begin(f.limits(now), jobs, now)
	if l := f.limits(now.Add(promptly - 1)); l.most != 0 || !f.full {
		t.Errorf("room %d while all is full", l.most)
	}
	l := f.limits(now.Add(promptly))
	if l.most != 8 || l.rooms[0].more != 0 || l.rooms[1].more != 0 || !l.rooms[0].doubtful || !l.rooms[1].doubtful {
		t.Errorf("room after two seconds: %+v", l)
	}
	for _, j := range jobs {
		f.end(j, &answer{})
	}
	if l := f.limits(now.Add(promptly)); l.most != 8 || l.rooms[0].more != 1 {
		t.Errorf("room after all have ended: %+v", l)
	}
}

func TestFlightsKeepTheirLimits(t *testing.T) {
	t.Parallel()
	f := newFlights(12, 4)
	now := time.Unix(1_000_000, 0)
	job := func(webhook string) delivery { return delivery{webhookID: webhook} }
	jobs := []delivery{job("a"), job("a"), job("b")}
	f.begin(f.limits(now), jobs, now)
	room := func(webhook string, now time.Time) int {
		l := f.limits(now)
		for _, known := range l.rooms {
			if known.webhookID == webhook {
				return known.more
			}
		}
		return l.room
	}
	if got := []int{room("a", now), room("b", now), room("c", now), f.limits(now).shared}; got[0] != 0 || got[1] != 0 || got[2] != 1 || got[3] != 6 {
		t.Errorf("room %v", got)
	}
	f.end(jobs[0], &answer{Answer: post.Answer{Failure: "no answer"}})
	if got := room("a", now); got != 0 { // one hangs still, and it has one at a time now
		t.Errorf("a doubtful one has room for %d", got)
	}
	f.end(jobs[1], &answer{Answer: post.Answer{Status: 200}, took: time.Millisecond})
	f.end(jobs[2], &answer{Answer: post.Answer{Status: 500}, took: time.Millisecond})
	if got := []int{room("a", now), room("b", now), f.limits(now).shared}; got[0] != 4 || got[1] != 4 || got[2] != 6 {
		t.Errorf("after the answers %v", got)
	}
	f.close()
}
