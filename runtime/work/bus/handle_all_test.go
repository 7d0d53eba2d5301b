package bus_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/bus"
	"github.com/postrider/postrider/runtime/work/event"
)

// handleTogether returns a consumer whose HandleAll calls its Handle for each fact.
func handleTogether(group string, handle bus.Handler) bus.Consumer {
	c := consumer(group, handle)
	c.HandleAll = func(ctx context.Context, tx db.Execer, facts []event.Fact) error {
		for _, f := range facts {
			if err := handle(ctx, tx, f); err != nil {
				return err
			}
		}
		return nil
	}
	return c
}

// effects returns the facts that a group has handled, and the number of failures of each fact that was set
// aside, by the tails of their ids.
func (b bench) effects(group string) map[string]int {
	b.t.Helper()
	found := map[string]int{}
	err := db.Each(b.t.Context(), b.SQL, func(row db.Row) error {
		var fact string
		var n int
		if err := row.Scan(&fact, &n); err != nil {
			return err
		}
		found[stableTail(fact)] += n
		return nil
	}, `SELECT fact_id, count(*) FROM effects WHERE consumer = $1 GROUP BY 1 UNION ALL SELECT fact_id, -failures FROM bus_poison WHERE consumer = $1`, group)
	if err != nil {
		b.t.Fatalf("read the effects of %s: %v", group, err)
	}
	return found
}

// Any number of facts, of which some fail always or a few times in various ways, leave the same rows whether
// they are handled together or one by one.
func TestHandleAllLeavesSameRowsAsHandle(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ways := []func(ctx context.Context, tx db.Execer) error{
		func(context.Context, db.Execer) error { return errors.New("a defect") },
		func(context.Context, db.Execer) error { panic("boom") },
		func(ctx context.Context, tx db.Execer) error {
			_, err := tx.ExecContext(ctx, "INSERT INTO no_such_table VALUES (1)")
			return err
		},
	}
	// Each tenth fact fails, each twentieth always; its id determines which, and how.
	fails := func(seed uint64, f event.Fact, calls int) func(context.Context, db.Execer) error {
		h := fnv.New64a()
		fmt.Fprint(h, seed, stableTail(f.ID))
		n := h.Sum64()
		if n%10 != 0 || n%20 == 0 && calls > 2 {
			return nil
		}
		return ways[n/20%uint64(len(ways))]
	}
	handler := func(group string, seed uint64) bus.Handler {
		calls := map[string]int{} // by fact; one goroutine handles the messages of a group
		return func(ctx context.Context, tx db.Execer, f event.Fact) error {
			if err := effect(group)(ctx, tx, f); err != nil {
				return err
			}
			calls[f.ID]++
			if fail := fails(seed, f, calls[f.ID]); fail != nil {
				return fail(ctx, tx)
			}
			return nil
		}
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	on := b.bus(bus.Options{Signals: b.signals(), Retry: quick}, consumer("single", handler("single", seed)),
		handleTogether("at-once", handler("at-once", seed)))
	var facts []event.Fact
	for range 12 {
		some := factsOf(1 + rand.IntN(120))
		facts = append(facts, some...)
		b.publish(on, some...)
	}
	b.awaitDrained()
	single, atOnce := b.effects("single"), b.effects("at-once")
	if len(single) != len(facts) {
		t.Errorf("%d of %d facts were handled or set aside", len(single), len(facts))
	}
	if diff := cmp.Diff(single, atOnce); diff != "" {
		t.Errorf("facts handled together left different rows than facts handled one by one (-single +together):\n%s",
			diff)
	}
}

// However HandleAll fails, the facts are handled one by one, and only the broken one is set aside. A fact
// that failed before is not passed to HandleAll again.
func TestBrokenFactDoesNotBlockItsBatch(t *testing.T) {
	t.Parallel()
	const beyond = "a statement that times out"
	for name, fail := range map[string]func(ctx context.Context, tx db.Execer) error{
		"an error": func(context.Context, db.Execer) error { return errors.New("a defect") },
		"a panic":  func(context.Context, db.Execer) error { panic("boom") },
		"a failed statement whose error is ignored": func(ctx context.Context, tx db.Execer) error {
			if _, err := tx.ExecContext(ctx, "INSERT INTO no_such_table VALUES (1)"); err == nil {
				return errors.New("the table exists")
			}
			return nil
		},
		"a constraint that fails at commit": func(ctx context.Context, tx db.Execer) error {
			_, err := tx.ExecContext(ctx, "INSERT INTO late VALUES (7), (7)")
			return err
		},
		beyond: func(ctx context.Context, tx db.Execer) error {
			_, err := tx.ExecContext(ctx, "SELECT pg_sleep(60)")
			return err
		},
		"a lost connection": func(ctx context.Context, tx db.Execer) error {
			_, err := tx.ExecContext(ctx, "SELECT pg_terminate_backend(pg_backend_pid())")
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.exec("CREATE TABLE late (n int UNIQUE DEFERRABLE INITIALLY DEFERRED)")
			facts := factsOf(80)
			bad := stableTail(facts[20].ID)
			c := handleTogether("g", func(ctx context.Context, tx db.Execer, f event.Fact) error {
				if err := effect("g")(ctx, tx, f); err != nil {
					return err
				}
				if stableTail(f.ID) == bad {
					return fail(ctx, tx)
				}
				return nil
			})
			var batches atomic.Int32
			each := c.HandleAll
			c.HandleAll = func(ctx context.Context, tx db.Execer, some []event.Fact) error {
				if slices.ContainsFunc(some, func(f event.Fact) bool { return stableTail(f.ID) == bad }) {
					batches.Add(1)
				}
				return each(ctx, tx, some)
			}
			options := bus.Options{Signals: b.signals(), Retry: quick}
			if name == beyond {
				options.HandlerTimeout = time.Second
			}
			on := b.bus(options, c)
			b.publish(on, facts...)
			b.awaitDrained()
			b.once("g", slices.Delete(slices.Clone(facts), 20, 21))
			if n := b.count("SELECT count(*) FROM bus_poison WHERE substr(fact_id, 15) = $1 AND failures = 5", bad); n != 1 {
				t.Errorf("the broken fact is in bus_poison %d times with 5 failures, want once", n)
			}
			if n := batches.Load(); n < 1 || n > 8 { // batches that were lost grow again from one message
				t.Errorf("HandleAll got the broken fact %d times, want few times, because it does not get facts "+
					"that failed", n)
			}
		})
	}
}

// HandleAll gets the facts of a batch in the order of their publication. A single fact is passed to Handle.
func TestHandleAllGetsFactsInOrder(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var order []string
	var alone int
	c := consumer("g", func(ctx context.Context, tx db.Execer, f event.Fact) error {
		order, alone = append(order, stableTail(f.ID)), alone+1
		return effect("g")(ctx, tx, f)
	})
	c.HandleAll = func(ctx context.Context, tx db.Execer, facts []event.Fact) error {
		for _, f := range facts {
			order = append(order, stableTail(f.ID))
			if err := effect("g")(ctx, tx, f); err != nil {
				return err
			}
		}
		return nil
	}
	on := bus.New(b.DB, discard(), withPatience(bus.Options{Poll: 50 * time.Millisecond}))
	on.Register(c)
	facts := factsOf(101) // two batches of 50, and one fact
	b.publish(on, facts...)
	if err := on.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.awaitDrained()
	b.stop(on)
	var want []string
	for _, f := range facts {
		want = append(want, stableTail(f.ID))
	}
	if diff := cmp.Diff(want, order); diff != "" {
		t.Errorf("facts were not handled in the order of their publication (-want +got):\n%s", diff)
	}
	if alone != 1 {
		t.Errorf("Handle was called for %d facts of 101 in batches of 50, want the last one", alone)
	}
}

// While two processes handle facts together, connections break at random points, and the table of messages is
// emptied, each fact is handled once.
func TestProcessesHandleFactsTogetherOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.createMark("g")
	options := often
	options.Signals = b.signals()
	one := b.bus(options, handleTogether("g", effect("g")))
	b.bus(options, handleTogether("g", effect("g")))
	var facts []event.Fact
	for cut := 0; cut < 5; {
		some := factsOf(80)
		facts = append(facts, some...)
		b.publish(one, some...)
		if len(facts)%160 == 0 {
			b.exec("DELETE FROM bus_messages")
		}
		// a message that breaks its connection five times is set aside, and one remains in the table until it
		// is handled
		left := 4
		b.awaitCondition("all published facts are handled", func() bool {
			now := b.count(`SELECT count(*) FILTER (WHERE pg_terminate_backend(pid)) FROM (SELECT pid FROM pg_stat_activity
				WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle' AND query ~ 'SAVEPOINT|INTO effects|INTO bus_handled' LIMIT $1) busy`, left)
			cut, left = cut+now, left-now
			return b.count("SELECT count(*) FROM bus_messages") == 0
		})
	}
	b.awaitMarks("g")
	b.once("g", facts)
	if n := b.count("SELECT count(*) FROM bus_poison"); n != 0 {
		t.Errorf("%d facts were set aside because of broken connections", n)
	}
}

// The catch-up of a slow group adds only a few facts to the queued ones, however often it scans.
func TestCatchUpAddsFewToFullQueue(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.createMark("g")
	old := factsOf(1500)
	b.publish(bus.New(b.DB, discard(), bus.Options{}), old...)
	var most atomic.Int64
	began := time.Now()
	on := b.bus(bus.Options{CatchUp: 5 * time.Millisecond, Poll: 50 * time.Millisecond, Batch: 5},
		consumer("g", func(ctx context.Context, tx db.Execer, f event.Fact) error {
			var waits int64
			if err := b.SQL.QueryRowContext(ctx, "SELECT count(*) FROM bus_messages").Scan(&waits); err != nil {
				return err
			}
			most.Store(max(most.Load(), waits))
			return effect("g")(ctx, tx, f)
		}))
	b.awaitCondition("half of the facts are handled", func() bool { return b.count("SELECT count(*) FROM effects") > len(old)/2 })
	b.stop(on)
	limit := 250 + 50*int64(time.Since(began)/(5*time.Second)) // aheadMost, and aheadLeast once in each leastEvery
	if n := most.Load(); n > limit {
		t.Errorf("a slow group had %d queued messages, want at most %d", n, limit)
	}
}

// A consumer without HandleAll gets the facts of a batch one after the other, in the order of their
// publication and in one savepoint. If one fails, each gets its own savepoint.
func TestBatchSharesSavepoint(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	facts := factsOf(20)
	bad := stableTail(facts[7].ID)
	type call struct{ fact, savepoint string }
	var calls []call // one goroutine handles the messages of a group
	var done atomic.Bool
	on := b.bus(bus.Options{Signals: b.signals(), Retry: quick},
		consumer("g", func(ctx context.Context, tx db.Execer, f event.Fact) error {
			// Two writes in the same savepoint have the same subtransaction.
			written, err := db.One(ctx, tx, db.Value[string], `INSERT INTO effects (consumer, fact_id) VALUES ('g', $1) RETURNING xmin::text`, f.ID)
			if err != nil {
				return err
			}
			if calls = append(calls, call{stableTail(f.ID), written}); stableTail(f.ID) == bad && !done.Swap(true) {
				return errors.New("a defect, once")
			}
			return nil
		}))
	b.publish(on, facts...)
	b.awaitDrained()
	b.once("g", facts)
	if len(calls) < 28 {
		t.Fatalf("the handler was called %d times, want 8 together and 20 alone", len(calls))
	}
	for i, c := range calls[:28] {
		first, want := calls[0].savepoint, stableTail(facts[i%8].ID)
		if i >= 8 {
			want = stableTail(facts[i-8].ID)
		}
		if c.fact != want || (c.savepoint == first) != (i < 8) || i > 8 && c.savepoint == calls[i-1].savepoint {
			t.Errorf("call %d was for %s in the savepoint %s after %+v, want %s, in the savepoint of the first "+
				"eight: %t", i, c.fact, c.savepoint, calls[:i], want, i < 8)
		}
	}
}

// A group can have larger batches. If HandleAll fails, the number of savepoints of a transaction stays limited.
func TestLargeBatchHasFewSavepoints(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var together []int
	apart := map[int64]int{} // calls of Handle, by transaction
	c := consumer("g", func(ctx context.Context, tx db.Execer, f event.Fact) error {
		number, err := db.One(ctx, tx, db.Value[int64], "SELECT txid_current()")
		apart[number]++
		return errors.Join(err, effect("g")(ctx, tx, f))
	})
	c.Batch = 100
	c.HandleAll = func(_ context.Context, _ db.Execer, facts []event.Fact) error {
		together = append(together, len(facts))
		return errors.New("a defect")
	}
	on := bus.New(b.DB, discard(), withPatience(bus.Options{Poll: 50 * time.Millisecond}))
	on.Register(c)
	facts := factsOf(150)
	b.publish(on, facts...)
	if err := on.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.awaitDrained()
	b.stop(on)
	if len(together) == 0 || together[0] != 100 {
		t.Errorf("HandleAll was called with %v facts, want 100 first", together)
	}
	handled := 0
	for number, n := range apart {
		if handled += n; n > 60 {
			t.Errorf("Handle was called %d times in transaction %d, want at most 60", n, number)
		}
	}
	if handled != len(facts) || len(b.effects("g")) != len(facts) {
		t.Errorf("Handle was called %d times with %d effects, want %d", handled, len(b.effects("g")), len(facts))
	}
}
