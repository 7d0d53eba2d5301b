package webhooks

import (
	"log/slog"
	"testing"
	"time"

	"github.com/postrider/postrider/modules/webhooks/post"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/work/event"
	"github.com/postrider/postrider/runtime/work/node"
)

// numberedNode is a test node with an id that may claim until a given time.
type numberedNode struct {
	node.None

	id    int32
	until time.Time
}

func (n numberedNode) ID() int32              { return n.id }
func (n numberedNode) ClaimsUntil() time.Time { return n.until }

// newOtherProcess returns a service that acts as another process on the same database. It is not started.
func (w *world) newOtherProcess(t *testing.T, n numberedNode) *Service {
	t.Helper()
	signals, err := db.NewSignals(w.db, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := signals.Close(); err != nil {
			t.Error(err)
		}
	})
	s, err := New(Params{Config: w.config, DB: w.db, Box: w.box, Signals: signals, Events: w.bus, Node: n,
		Cursors: page.NewCodec(make([]byte, 16)), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// queueEvents creates deliveries for the given number of events.
func (w *world) queueEvents(t *testing.T, events int) {
	t.Helper()
	entry, _ := event.Lookup(event.EmailSent)
	for range events {
		if _, err := w.Deliver(t.Context(), ada, event.New(ada, event.EmailSent, time.Now(), entry.Sample)); err != nil {
			t.Fatal(err)
		}
	}
}

// The rate limit of an endpoint applies across all processes: three that claim as fast as possible together
// claim no more than one would, and still claim everything in time.
func TestRateLimitAppliesAcrossProcesses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const rate, events = 10, 24
	limited, free := newReceiver(t), newReceiver(t)
	every := rate
	if _, _, err := w.Create(t.Context(), ada, NewEndpoint{URL: limited.URL, RateLimit: &every}); err != nil {
		t.Fatal(err)
	}
	w.addEndpoint(t, ada, free.URL)
	w.queueEvents(t, events)
	for range 3 {
		s := w.newOtherProcess(t, numberedNode{})
		if err := s.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := s.Stop(t.Context()); err != nil {
				t.Error(err)
			}
		}()
	}
	eventually(t, "both endpoints have received everything",
		func() bool { return len(limited.received()) >= events && len(free.received()) >= events })
	taken, err := db.All(t.Context(), w.db.SQL, db.Value[float64], `SELECT extract(epoch FROM a.started_at) FROM webhook_attempts a JOIN webhook_deliveries d ON d.id = a.delivery_id
		JOIN webhooks w ON w.id = d.webhook_id WHERE w.rate_limit IS NOT NULL ORDER BY a.started_at`)
	if err != nil || len(taken) != events {
		t.Fatalf("%d attempts, %v; want %d", len(taken), err, events)
	}
	for i, from := range taken {
		for j, to := range taken[i:] {
			if most := float64(maxPerEndpoint) + (to-from)*rate + 0.001; float64(j+1) > most {
				t.Errorf("%d deliveries claimed within %.3f s, want at most %.1f", j+1, to-from, most)
			}
		}
	}
	t.Logf("%d deliveries at %d/s took %.2f s", events, rate, taken[events-1]-taken[0])
}

// A delayed claim has an older now() than one that began later and finished first. The row written by the other
// claim still counts, although it is further ahead than a burst. It is ignored only after the clock stepped
// back.
func TestDelayedClaimKeepsRateLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rate := 10 // a burst is 400 ms
	if _, _, err := w.Create(t.Context(), ada, NewEndpoint{URL: newReceiver(t).URL, RateLimit: &rate}); err != nil {
		t.Fatal(err)
	}
	w.queueEvents(t, 20)
	s := w.newOtherProcess(t, numberedNode{id: 7})
	for _, c := range []struct {
		ahead string
		want  int // an endpoint that has not responded yet gets one at a time
	}{{"5 seconds", 0}, {"1 hour", 1}} {
		w.exec(t, `UPDATE webhooks SET rate_full_at = now() + $1::interval`, c.ahead)
		if jobs, err := s.claim(t.Context(), 10, lease); err != nil || len(jobs) != c.want {
			t.Errorf("with the row %s ahead: claimed %d, %v; want %d", c.ahead, len(jobs), err, c.want)
		}
	}
}

// Deliveries claimed by a dead node become due immediately, and the outcome of their interrupted attempts is
// unknown. An outcome that the node stores later has no effect.
func TestHandsBackDeliveriesOfDeadNode(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hook, _ := w.addEndpoint(t, ada, newReceiver(t).URL)
	w.queueEvents(t, 1)
	dead, other := w.newOtherProcess(t, numberedNode{id: 7}), w.newOtherProcess(t, numberedNode{id: 8})
	jobs, err := dead.claim(t.Context(), 10, lease)
	if err != nil || len(jobs) != 1 {
		t.Fatalf("claimed %d, %v", len(jobs), err)
	}
	if again, err := other.claim(t.Context(), 10, lease); err != nil || len(again) != 0 {
		t.Fatalf("another node claimed %d of the same deliveries, %v; want 0", len(again), err)
	}
	for _, c := range []struct {
		gone int32
		want int64
	}{{8, 0}, {7, 1}, {7, 0}} {
		if n, err := other.handBackNode(t.Context(), c.gone); err != nil || n != c.want {
			t.Errorf("handBackOf(%d) = %d, %v; want %d", c.gone, n, err, c.want)
		}
	}
	again, err := other.claim(t.Context(), 10, lease)
	if err != nil || len(again) != 1 || again[0].attempt != 2 {
		t.Fatalf("claimed after the release: %+v, %v; want attempt 2", again, err)
	}
	if err := dead.settle(t.Context(),
		[]worker.Result[delivery, answer]{{Job: jobs[0],
			Value: answer{Result: post.Result{Status: 200}}}}); err != nil {
		t.Fatal(err)
	}
	if d := w.onlyDelivery(t, hook.ID); d.State != "pending" || d.Attempts != 2 {
		t.Errorf("a late outcome from the dead node changed the delivery: %+v", d)
	}
	if n := w.count(t, `SELECT count(*) FROM webhook_attempts WHERE number = 1 AND node = 7`); n != 1 {
		t.Errorf("%d first attempts of node 7, want 1", n)
	}
}

// A claim that runs after its process's deadline for claims takes nothing.
func TestLateClaimTakesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addEndpoint(t, ada, newReceiver(t).URL)
	w.queueEvents(t, 1)
	for _, c := range []struct {
		until time.Duration
		want  int
	}{{-time.Second, 0}, {time.Minute, 1}} {
		if jobs, err := w.newOtherProcess(t, numberedNode{until: time.Now().Add(c.until)}).
			claim(t.Context(), 10, lease); err != nil || len(jobs) != c.want {
			t.Errorf("a claim with a deadline %s from now took %d, %v; want %d", c.until, len(jobs), err, c.want)
		}
	}
}
