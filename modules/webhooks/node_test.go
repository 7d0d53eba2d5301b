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

// numbered is a node of a test: it has a number, and claims until a time.
type numbered struct {
	node.None

	id    int32
	until time.Time
}

func (n numbered) ID() int32        { return n.id }
func (n numbered) Until() time.Time { return n.until }

// beside is another process on the same database, which is not running.
func (w *world) beside(t *testing.T, n numbered) *Service {
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
	s, err := New(Params{Config: w.config, DB: w.db, Box: w.box, Signals: signals, Node: n, Cursors: page.NewCodec(make([]byte, 16)), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// queue makes deliveries of so many events.
func (w *world) queue(t *testing.T, events int) {
	t.Helper()
	entry, _ := event.Lookup(event.EmailSent)
	for range events {
		if _, err := w.Deliver(t.Context(), ada, event.New(ada, event.EmailSent, time.Now(), entry.Sample)); err != nil {
			t.Fatal(err)
		}
	}
}

// The rate of an endpoint holds over all processes: three that claim as fast as they can
// never take more together than one would, and take all in its time.
func TestARateHoldsOverAllProcesses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const rate, events = 10, 24
	limited, free := newReceiver(t), newReceiver(t)
	every := rate
	if _, _, err := w.Create(t.Context(), ada, NewEndpoint{URL: limited.URL, RateLimit: &every}); err != nil {
		t.Fatal(err)
	}
	w.endpoint(t, ada, free.URL)
	w.queue(t, events)
	for range 3 {
		s := w.beside(t, numbered{})
		if err := s.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := s.Stop(t.Context()); err != nil {
				t.Error(err)
			}
		}()
	}
	within(t, "both endpoints have heard everything", func() bool { return len(limited.heard()) >= events && len(free.heard()) >= events })
	taken, err := db.All(t.Context(), w.db.SQL, db.Value[float64], `SELECT extract(epoch FROM a.started_at) FROM webhook_attempts a JOIN webhook_deliveries d ON d.id = a.delivery_id
		JOIN webhooks w ON w.id = d.webhook_id WHERE w.rate_limit IS NOT NULL ORDER BY a.started_at`)
	if err != nil || len(taken) != events {
		t.Fatalf("%d attempts, %v; want %d", len(taken), err, events)
	}
	for i, from := range taken {
		for j, to := range taken[i:] {
			if most := float64(perEndpoint) + (to-from)*rate + 0.001; float64(j+1) > most {
				t.Errorf("%d were taken within %.3f s, want %.1f at most", j+1, to-from, most)
			}
		}
	}
	t.Logf("%d at %d/s took %.2f s", events, rate, taken[events-1]-taken[0])
}

// A claim that waited has an older now() than one that began later and finished first. What the other one
// wrote still counts, although it is further ahead than a burst; only a step of the clock makes it void.
func TestAClaimThatRunsLateKeepsTheRate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rate := 10 // a burst is 400 ms
	if _, _, err := w.Create(t.Context(), ada, NewEndpoint{URL: newReceiver(t).URL, RateLimit: &rate}); err != nil {
		t.Fatal(err)
	}
	w.queue(t, 20)
	s := w.beside(t, numbered{id: 7})
	for _, c := range []struct {
		ahead string
		want  int // an endpoint that has not answered yet gets one at a time
	}{{"5 seconds", 0}, {"1 hour", 1}} {
		w.exec(t, `UPDATE webhooks SET rate_full_at = now() + $1::interval`, c.ahead)
		if jobs, err := s.claim(t.Context(), 10, lease); err != nil || len(jobs) != c.want {
			t.Errorf("with the row %s ahead: claimed %d, %v; want %d", c.ahead, len(jobs), err, c.want)
		}
	}
}

// What a process had claimed that is gone is due at once, and the attempts that it cut off
// are unknown; its own outcome comes too late.
func TestDeliveriesOfADeadNodeAreHandedBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hook, _ := w.endpoint(t, ada, newReceiver(t).URL)
	w.queue(t, 1)
	dead, other := w.beside(t, numbered{id: 7}), w.beside(t, numbered{id: 8})
	jobs, err := dead.claim(t.Context(), 10, lease)
	if err != nil || len(jobs) != 1 {
		t.Fatalf("claimed %d, %v", len(jobs), err)
	}
	if again, err := other.claim(t.Context(), 10, lease); err != nil || len(again) != 0 {
		t.Fatalf("another one claimed %d of the same, %v", len(again), err)
	}
	for _, c := range []struct {
		gone int32
		want int64
	}{{8, 0}, {7, 1}, {7, 0}} {
		if n, err := other.handBackOf(t.Context(), c.gone); err != nil || n != c.want {
			t.Errorf("of node %d were handed back %d, %v; want %d", c.gone, n, err, c.want)
		}
	}
	again, err := other.claim(t.Context(), 10, lease)
	if err != nil || len(again) != 1 || again[0].attempt != 2 {
		t.Fatalf("afterwards were claimed %+v, %v", again, err)
	}
	if err := dead.settle(t.Context(), []worker.Result[delivery, answer]{{Job: jobs[0], Value: answer{Answer: post.Answer{Status: 200}}}}); err != nil {
		t.Fatal(err)
	}
	if d := w.only(t, hook.ID); d.State != "pending" || d.Attempts != 2 {
		t.Errorf("the late outcome of the dead one counted: %+v", d)
	}
	if n := w.count(t, `SELECT count(*) FROM webhook_attempts WHERE number = 1 AND node = 7`); n != 1 {
		t.Errorf("%d first attempts of node 7", n)
	}
}

// A claim that runs later than its process may claim takes nothing.
func TestALateClaimTakesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.endpoint(t, ada, newReceiver(t).URL)
	w.queue(t, 1)
	for _, c := range []struct {
		until time.Duration
		want  int
	}{{-time.Second, 0}, {time.Minute, 1}} {
		if jobs, err := w.beside(t, numbered{until: time.Now().Add(c.until)}).claim(t.Context(), 10, lease); err != nil || len(jobs) != c.want {
			t.Errorf("a claim that holds good until %s from now took %d, %v; want %d", c.until, len(jobs), err, c.want)
		}
	}
}
