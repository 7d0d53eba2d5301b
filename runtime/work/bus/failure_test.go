package bus_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/bus"
	"github.com/postrider/postrider/runtime/work/event"
)

var quick = worker.Backoff{Min: time.Millisecond, Max: 20 * time.Millisecond}

// However a handler fails, its message moves to the poison table after five failures, with the reason, and
// other messages proceed. Watermill alone would redeliver a failing message forever, and deliver no message
// after it.
func TestPinPoison(t *testing.T) {
	t.Parallel()
	const beyond = "a statement that times out"
	for name, test := range map[string]struct {
		fail   func(ctx context.Context, tx db.Execer) error
		reason string
	}{
		"an error": {func(context.Context, db.Execer) error { return errors.New("no such \x00 thing") }, "no such \ufffd thing"},
		"a panic":  {func(context.Context, db.Execer) error { panic("boom") }, "panic: boom"},
		"a failed statement": {func(ctx context.Context, tx db.Execer) error {
			_, err := tx.ExecContext(ctx, "INSERT INTO no_such_table VALUES (1)")
			return err
		}, "no_such_table"},
		"a failed statement whose error is ignored": {func(ctx context.Context, tx db.Execer) error {
			if _, err := tx.ExecContext(ctx, "INSERT INTO no_such_table VALUES (1)"); err == nil {
				return errors.New("the table exists")
			}
			return nil
		}, "aborted"},
		"a constraint that fails at commit": {func(ctx context.Context, tx db.Execer) error {
			_, err := tx.ExecContext(ctx, "INSERT INTO late VALUES (7), (7)")
			return err
		}, "duplicate key"},
		beyond: {func(ctx context.Context, tx db.Execer) error {
			_, err := tx.ExecContext(ctx, "SELECT pg_sleep(60)")
			return err
		}, "cancel"},
		"a lost connection": {func(ctx context.Context, tx db.Execer) error {
			_, err := tx.ExecContext(ctx, "SELECT pg_terminate_backend(pg_backend_pid())")
			return err
		}, ""}, // the wording is the driver's
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.exec("CREATE TABLE late (n int UNIQUE DEFERRABLE INITIALLY DEFERRED)")
			facts := factsOf(30)
			bad := facts[10]
			var log expect.Log
			metrics := prometheus.NewRegistry()
			var calls atomic.Int32
			options := bus.Options{Signals: b.signals(), Registerer: metrics, Retry: quick}
			if name == beyond {
				options.HandlerTimeout = time.Second
			}
			on := bus.New(b.DB, slog.New(slog.NewTextHandler(&log, nil)), withPatience(options))
			on.Register(consumer("g", func(ctx context.Context, tx db.Execer, f event.Fact) error {
				if err := effect("g")(ctx, tx, f); err != nil { // undone if a later step fails
					return err
				}
				if stableTail(f.ID) == stableTail(bad.ID) {
					calls.Add(1)
					return test.fail(ctx, tx)
				}
				return nil
			}))
			if err := on.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { b.stop(on) })
			b.publish(on, facts...)
			b.awaitDrained()
			good := append(append([]event.Fact{}, facts[:10]...), facts[11:]...)
			b.once("g", good)

			var failures int
			var fact, reason string
			err := b.SQL.QueryRowContext(t.Context(), "SELECT fact_id, failures, error FROM bus_poison WHERE consumer = 'g'").Scan(&fact, &failures, &reason)
			if err != nil || stableTail(fact) != stableTail(bad.ID) || failures != 5 ||
				!strings.Contains(reason, test.reason) {
				t.Errorf("bus_poison has the fact %s, %d failures, %q, %v; want %s, 5, …%s…", fact, failures, reason,
					err, bad.ID,
					test.reason)
			}
			// In addition to the five counted calls: one in the savepoint of the batch, and batches that were
			// split.
			if n := calls.Load(); n < 5 || n > 1+12 {
				t.Errorf("the handler was called %d times, want 5 to 13", n)
			}
			b.awaitCondition("the poison is reported",
				func() bool { return strings.Contains(log.String(), "moved to bus_poison") })
			if n := sumMetric(t, metrics, "postrider_bus_poisoned_total"); n != 1 {
				t.Errorf("postrider_bus_poisoned_total is %v, want 1", n)
			}
			if !strings.Contains(log.String(), stableTail(bad.ID)) {
				t.Errorf("the log does not contain the fact:\n%s", log.String())
			}
		})
	}
}

func TestFailureIsRetriedWithoutWake(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var calls atomic.Int32
	on := b.bus(bus.Options{Signals: b.signals(), Poll: 24 * time.Hour,
		Retry: worker.Backoff{Min: 50 * time.Millisecond, Max: time.Second}},
		consumer("g", func(ctx context.Context, tx db.Execer, f event.Fact) error {
			if calls.Add(1) < 3 {
				return errors.New("not yet")
			}
			return effect("g")(ctx, tx, f)
		}))
	facts := factsOf(1)
	b.publish(on, facts...)
	b.awaitDrained()
	b.once("g", facts)
	if calls.Load() != 3 {
		t.Errorf("the handler was called %d times", calls.Load())
	}
}

func TestRequeueReturnsPoison(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var mended atomic.Bool
	on := b.bus(bus.Options{Signals: b.signals(), Poll: 24 * time.Hour, Retry: quick},
		consumer("g", func(ctx context.Context, tx db.Execer, f event.Fact) error {
			if !mended.Load() {
				return errors.New("a defect")
			}
			return effect("g")(ctx, tx, f)
		}))
	facts := factsOf(3)
	b.publish(on, facts...)
	b.awaitCondition("all messages are set aside", func() bool { return b.count("SELECT count(*) FROM bus_poison") == 3 })
	mended.Store(true)
	if n, err := on.Requeue(t.Context(), "g"); err != nil || n != 3 {
		t.Fatalf("Requeue returned %d, %v", n, err)
	}
	b.awaitDrained()
	b.once("g", facts)
	if n, err := on.Requeue(t.Context(), "g"); err != nil || n != 0 {
		t.Errorf("the second Requeue returned %d, %v", n, err)
	}
}

// During an upgrade an old replica reads messages of types that only the new one knows. It leaves them
// without counting a failure.
func TestUnknownTypeIsLeftForNewerReplica(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	upgraded := bus.New(b.DB, discard(), bus.Options{})
	upgraded.Register(bus.Consumer{Group: "g", Types: []event.Type{event.EmailSent, event.DomainFailed},
		Handle: effect("g")})
	fresh := event.New("acc_1", event.DomainFailed, time.Now(), event.Domain{DomainID: "dom_1"})
	b.publish(upgraded, fresh)

	var seen atomic.Int32
	old := b.bus(bus.Options{}, consumer("g", func(context.Context, db.Execer, event.Fact) error {
		seen.Add(1)
		return nil
	}))
	b.awaitCondition("the old replica has read the message", func() bool {
		return b.count("SELECT count(*) FROM "+
			"bus_messages WHERE due_at > now()") == 1
	})
	b.stop(old)
	if n := b.count("SELECT count(*) FROM bus_messages WHERE failures = 0"); n != 1 || seen.Load() != 0 {
		t.Errorf("%d messages remain, and the old handler was called %d times", n, seen.Load())
	}
	b.exec("UPDATE bus_messages SET due_at = now()")
	if err := upgraded.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.stop(upgraded) })
	b.awaitDrained()
	b.once("g", []event.Fact{fresh})
}

// A connection that breaks during a batch rolls back the whole batch and does not poison its messages. A
// message is set aside only if it was being handled each time.
func TestLostConnectionsCauseNoPoison(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	// Twenty facts break their connection twice, so two of a message's five failures are its own. Two more,
	// of any running handler, occur at random points.
	own := map[string]int{} // one goroutine handles the messages of a group
	var broken atomic.Int32
	on := b.bus(bus.Options{Retry: quick, Poll: 100 * time.Millisecond},
		consumer("g", func(ctx context.Context, tx db.Execer, f event.Fact) error {
			if err := effect("g")(ctx, tx, f); err != nil {
				return err
			}
			if last := f.ID[len(f.ID)-1]; strings.ContainsRune("02", rune(last)) && own[f.ID] < 2 {
				own[f.ID]++
				broken.Add(1)
				_, err := tx.ExecContext(ctx, "SELECT pg_terminate_backend(pg_backend_pid())")
				return err
			}
			return nil
		}))
	var facts []event.Fact
	for cut := 0; cut < 2 || broken.Load() < 20; {
		some := factsOf(100)
		facts = append(facts, some...)
		b.publish(on, some...)
		b.awaitCondition("all published facts are handled", func() bool {
			cut += b.count(`SELECT count(*) FILTER (WHERE pg_terminate_backend(pid)) FROM (SELECT pid FROM pg_stat_activity
				WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle' AND query ~ 'SAVEPOINT|INTO effects|INTO bus_handled' LIMIT $1) busy`, 2-cut)
			return b.count("SELECT count(*) FROM bus_messages") == 0
		})
	}
	if n := b.count("SELECT count(*) FROM bus_poison"); n != 0 {
		t.Errorf("%d messages were set aside, want none", n)
	}
	b.once("g", facts)
}

func sumMetric(t *testing.T, metrics prometheus.Gatherer, name string) (sum float64) {
	t.Helper()
	families, err := metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == name {
			for _, m := range family.GetMetric() {
				sum += m.GetCounter().GetValue()
			}
		}
	}
	return sum
}
