package bus_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/bus"
	"github.com/postrider/postrider/runtime/work/event"
)

// often is the configuration of a bus that looks for facts without messages ten times a second.
var often = bus.Options{CatchUp: 100 * time.Millisecond, Poll: 50 * time.Millisecond, Retry: quick}

// emptyMessages empties the table of messages every 10 ms until the returned function is called.
func (b bench) emptyMessages() (stop func()) {
	b.t.Helper()
	ending, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ending:
				ended <- nil
				return
			case <-tick.C:
				if _, err := b.SQL.ExecContext(context.WithoutCancel(b.t.Context()), "DELETE FROM bus_messages"); err != nil {
					ended <- err
					return
				}
			}
		}
	}()
	return sync.OnceFunc(func() {
		close(ending)
		if err := <-ended; err != nil {
			b.t.Errorf("empty bus_messages: %v", err)
		}
	})
}

// awaitMarks waits until the groups have handled every stored fact.
func (b bench) awaitMarks(groups ...string) {
	b.t.Helper()
	for _, group := range groups {
		b.awaitCondition(group+" has handled every fact", func() bool {
			return b.count("SELECT count(*) FROM bus_marks WHERE consumer = $1 AND until_id > (SELECT max(id) FROM facts)", group) == 1
		})
	}
}

// publishOneByOne publishes facts one by one and returns them.
func (b bench) publishOneByOne(on *bus.Bus, n int) (facts []event.Fact) {
	b.t.Helper()
	for range n {
		some := factsOf(1)
		b.publish(on, some...)
		facts = append(facts, some...)
	}
	return facts
}

// Although the table of messages is emptied a hundred times a second while two processes publish and handle,
// every group handles every fact exactly once.
func TestFactsWithoutMessagesAreHandledOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	one := b.bus(often, consumer("g", effect("g")), consumer("h", effect("h")))
	two := b.bus(often, consumer("g", effect("g")), consumer("h", effect("h")))
	stop := b.emptyMessages()
	defer stop()
	var facts [2][]event.Fact
	var publishers sync.WaitGroup
	for i, on := range []*bus.Bus{one, two} {
		publishers.Go(func() { facts[i] = b.publishOneByOne(on, 150) })
	}
	publishers.Wait()
	stop()
	b.awaitMarks("g", "h")
	for _, group := range []string{"g", "h"} {
		b.once(group, slices.Concat(facts[0], facts[1]))
	}
	if n := b.count("SELECT count(*) FROM bus_messages"); n != 0 {
		t.Errorf("%d messages of handled facts remain", n)
	}
	b.awaitCondition("records of handled facts below the marks are deleted", func() bool { return b.count("SELECT count(*) FROM bus_handled") == 0 })
}

// Connections break while two processes scan. An interrupted scan is rolled back, and another one continues.
func TestInterruptedScanIsExactlyOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.createMark("g")
	facts := factsOf(2000)
	without := bus.New(b.DB, discard(), bus.Options{})
	b.publish(without, facts...)
	for range 2 {
		b.bus(often, consumer("g", effect("g")))
	}
	for range 2 {
		for _, at := range []struct{ lock, statement string }{
			{"bus_marks IN EXCLUSIVE MODE", "enable_nestloop"},
			{"bus_handled IN ACCESS EXCLUSIVE MODE", "looked AS"},
			{"bus_marks IN SHARE MODE", "UPDATE bus_marks"},
		} {
			some := factsOf(100) // so that there is something to find
			facts = append(facts, some...)
			b.publish(without, some...)
			b.cutConnection(at.lock, at.statement)
		}
	}
	b.awaitMarks("g")
	b.once("g", facts)
}

// cutConnection waits until a statement waits for a locked table, and then terminates the statement's connection.
func (b bench) cutConnection(lock, statement string) {
	b.t.Helper()
	err := b.InHotTx(b.t.Context(), func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(b.t.Context(), "LOCK TABLE "+lock); err != nil {
			return err
		}
		b.awaitCondition("a connection is cut off in "+statement, func() bool {
			return b.count(`SELECT count(*) FILTER (WHERE pg_terminate_backend(pid)) FROM pg_stat_activity
				WHERE datname = current_database() AND pid <> pg_backend_pid() AND wait_event_type = 'Lock' AND query ~ $1`, statement) > 0
		})
		return nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

// createMark turns a group into one that has run before and has handled all facts.
func (b bench) createMark(group string) {
	b.t.Helper()
	b.stop(b.bus(often, consumer(group, effect(group))))
}

// A transaction publishes, stays open while later facts are handled, and loses its messages. The mark waits
// for it.
func TestMarkWaitsForOpenTransaction(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	on := b.bus(often, consumer("g", effect("g")))
	slow, err := b.Hot.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	late := factsOf(1)
	if err := on.Publish(t.Context(), slow, late...); err != nil {
		t.Fatal(err)
	}
	var stored string
	if err := slow.QueryRowContext(t.Context(), "DELETE FROM bus_messages RETURNING fact_id").Scan(&stored); err != nil {
		t.Fatal(err)
	}
	early := b.publishOneByOne(on, 3)
	b.awaitDrained()
	// longer than the age at which facts become visible
	for over := time.Now().Add(bus.HoldBack + time.Second); time.Now().Before(over); {
		if n := b.count("SELECT count(*) FROM bus_marks WHERE until_id > $1", stored); n != 0 {
			t.Fatalf("the mark passed %s, whose transaction is open", stored)
		}
	}
	if err := slow.Commit(); err != nil {
		t.Fatal(err)
	}
	b.awaitMarks("g")
	b.once("g", append(early, late...))
}

// A fact that failed too often is not delivered again, and does not hold back the mark.
func TestPoisonIsNotDeliveredAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	facts := factsOf(3)
	var calls atomic.Int32
	alone := often
	alone.Batch = 1 // otherwise it would be called once more, in the savepoint of the whole batch
	on := b.bus(alone, consumer("g", func(ctx context.Context, tx db.Execer, f event.Fact) error {
		if stableTail(f.ID) == stableTail(facts[1].ID) {
			calls.Add(1)
			return errors.New("a defect")
		}
		return effect("g")(ctx, tx, f)
	}))
	b.publish(on, facts...)
	b.awaitMarks("g")
	if n := calls.Load(); n != 5 {
		t.Errorf("the handler that fails was called %d times, want 5", n)
	}
	if n := b.count("SELECT count(*) FROM bus_poison WHERE substr(fact_id, 15) = $1", stableTail(facts[1].ID)); n != 1 {
		t.Errorf("the fact is in bus_poison %d times, want once", n)
	}
	b.once("g", []event.Fact{facts[0], facts[2]})
}

// Requeue returns facts to the group after the mark has passed them. Emptying the message table does not lose
// them, and a fact that fails again is in bus_poison only once.
func TestRequeuedFactsSurviveLostMessages(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var mended atomic.Bool
	facts := factsOf(3)
	handler := consumer("g", func(ctx context.Context, tx db.Execer, f event.Fact) error {
		if !mended.Load() {
			return errors.New("a defect")
		}
		return effect("g")(ctx, tx, f)
	})
	on := b.bus(often, handler)
	b.publish(on, facts...)
	b.awaitMarks("g")
	if n, err := on.Requeue(t.Context(), "g"); err != nil || n != 3 {
		t.Fatalf("Requeue returned %d of 3 facts: %v", n, err)
	}
	b.awaitCondition("all facts failed again", func() bool {
		return b.count("SELECT count(*) FROM bus_poison WHERE requeued_at IS NULL") == 3
	})
	if n := b.count("SELECT count(*) FROM bus_poison"); n != 3 {
		t.Errorf("got %d rows in bus_poison for 3 facts", n)
	}
	b.stop(on)
	mended.Store(true)
	if n, err := on.Requeue(t.Context(), "g"); err != nil || n != 3 {
		t.Fatalf("Requeue returned %d of 3 facts: %v", n, err)
	}
	b.exec("DELETE FROM bus_messages")
	b.bus(often, handler)
	b.awaitCondition("no message is set aside", func() bool { return b.count("SELECT count(*) FROM bus_poison") == 0 })
	b.once("g", facts)
}

// If a module was disabled for a while, its group continues where it stopped. A group that never ran gets
// only new facts.
func TestDisabledGroupCatchesUp(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	both := b.bus(often, consumer("g", effect("g")), consumer("other", effect("other")))
	facts := b.publishOneByOne(both, 10)
	b.awaitMarks("g", "other")
	b.stop(both)

	without := b.bus(often, consumer("other", effect("other")))
	facts = append(facts, b.publishOneByOne(without, 30)...)
	b.awaitMarks("other")
	// Make the mark and all facts a week older.
	b.exec("UPDATE bus_marks SET looked_at = looked_at - interval '7 days'")

	b.awaitCondition("the facts are older than those that a new group gets", func() bool {
		return b.count("SELECT count(*) FROM facts WHERE id > $1", id.Since(id.Fact, b.horizon(without).Add(-time.Second))) == 0
	})
	b.bus(often, consumer("g", effect("g")), consumer("other", effect("other")), consumer("new", effect("new")))
	b.awaitMarks("g", "other", "new")
	b.once("g", facts)
	b.once("other", facts)
	b.once("new", nil)
}

// Tables without messages are copied into another cluster while facts are unhandled. No fact is lost or
// handled twice.
func TestCopyWithoutMessagesContinues(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.bus(often, consumer("g", effect("g")))
	handled := b.publishOneByOne(first, 20)
	b.awaitDrained()
	b.stop(first)
	waiting := factsOf(20)
	b.publish(first, waiting...)

	restored := newBench(t)
	copyTable(t, b, restored, "facts", "id, account_id, type, subject_id, data, created_at")
	copyTable(t, b, restored, "bus_marks", "consumer, until_id, types, looked_at")
	copyTable(t, b, restored, "bus_handled", "consumer, last_id, n, first_id, fact_ids")
	copyTable(t, b, restored, "effects", "consumer, fact_id")
	on := restored.bus(often, consumer("g", effect("g")))
	fresh := restored.publishOneByOne(on, 20)
	restored.awaitMarks("g")
	restored.once("g", slices.Concat(handled, waiting, fresh))
}

// A process that does not know yet that an account is wanted publishes without a message. The catch-up calls
// Wants again. Accounts that no group wants are skipped.
func TestCatchUpFindsNewlyWantedAccounts(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var known, really atomic.Bool
	few := bus.Consumer{Group: "few", Types: []event.Type{event.EmailSent}, Handle: effect("few"),
		Wants:   func(accountID string) bool { return known.Load() && accountID == "acc_1" },
		Refresh: func(context.Context) error { known.Store(really.Load()); return nil }}
	on := b.bus(often, few)
	b.publish(on, event.New("acc_1", event.EmailSent, time.Now(), event.Email{EmailID: "msg_before"}))
	b.awaitMarks("few")
	really.Store(true)
	known.Store(false)
	b.publish(on, event.New("acc_2", event.EmailSent, time.Now(), event.Email{EmailID: "msg_other"}))
	wanted := factsOf(2)
	b.publish(on, wanted[0])
	if n := b.count("SELECT count(*) FROM bus_messages"); n > 1 {
		t.Errorf("got %d messages for accounts that are not known to be wanted", n)
	}
	b.publish(on, wanted[1])
	b.awaitMarks("few")
	b.once("few", wanted)
}

// During an upgrade the newer version scans, because the older one does not know all types of the group. Once
// the newer version is gone permanently, the older one continues.
func TestVersionWithMoreTypesScans(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.createMark("g") // types of the older version
	newer := b.bus(often, bus.Consumer{Group: "g",
		Types: []event.Type{event.EmailSent, event.EmailBounced, event.DomainFailed}, Handle: effect("g")})
	b.awaitCondition("the newer version has run the catch-up", func() bool {
		return b.count("SELECT count(*) FROM bus_marks WHERE 'domain.failed' = ANY(types)") == 1
	})
	older := b.bus(often, consumer("g", effect("g")))
	fresh := event.New("acc_1", event.DomainFailed, time.Now(), event.Domain{DomainID: "dom_1"})
	b.publish(older, fresh) // without a message: the older version knows of no group that wants it
	b.awaitMarks("g")
	b.once("g", []event.Fact{fresh})

	b.stop(newer)
	facts := b.publishOneByOne(older, 3)
	b.exec("DELETE FROM bus_messages")
	b.exec("UPDATE bus_marks SET looked_at = looked_at - interval '1 minute'") // as if that much time had passed
	b.awaitMarks("g")
	b.once("g", append(facts, fresh))
}

// The catch-up adds missed facts in portions, so that a new fact does not wait for long.
func TestNewFactsDoNotWaitForCatchUp(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.createMark("g")
	old := factsOf(4000)
	without := bus.New(b.DB, discard(), bus.Options{})
	b.publish(without, old...)
	on := b.bus(often, consumer("g", effect("g")))
	b.awaitCondition("the catch-up is running", func() bool { return b.count("SELECT count(*) FROM effects") > 100 })
	fresh := factsOf(1)
	b.publish(on, fresh...)
	before := b.count("SELECT count(*) FROM effects") // do not wait for facts handled during the publication
	b.awaitCondition("the new fact is handled", func() bool {
		return b.count("SELECT count(*) FROM effects WHERE substr(fact_id, 15) = $1", stableTail(fresh[0].ID)) == 1
	})
	passed := b.count("SELECT count(*) FROM effects WHERE at < (SELECT at FROM effects WHERE substr(fact_id, 15) = $1)", stableTail(fresh[0].ID)) - before
	if passed > 500 { // 200 waiting facts, and those already read
		t.Errorf("the new fact waited for %d of %d old ones, want at most 500", passed, len(old))
	}
	b.awaitMarks("g")
	b.once("g", append(old, fresh...))
}

// A mark that was created while the server's clock was ahead is moved back.
func TestMarkAheadOfClockIsMovedBack(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.createMark("g")
	b.exec("UPDATE bus_marks SET until_id = $1", id.Since(id.Fact, time.Now().Add(365*24*time.Hour)))
	on := b.bus(often, consumer("g", effect("g")))
	facts := b.publishOneByOne(on, 3)
	b.awaitCondition("the mark is in the past", func() bool {
		return b.count("SELECT count(*) FROM bus_marks WHERE until_id < $1", id.Since(id.Fact, time.Now())) == 1
	})
	b.awaitMarks("g")
	b.once("g", facts)
}

// Sweep deletes no fact that an active group has not handled, whatever its age. It deletes facts of a module
// that has been disabled for longer, and logs this.
func TestSweepKeepsUnhandledFacts(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.createMark("g")
	old := oldFact(t, event.EmailSent)
	b.publish(bus.New(b.DB, discard(), bus.Options{}), old)
	b.restoreIDs(old)
	on := bus.New(b.DB, discard(), bus.Options{})
	b.exec("UPDATE bus_marks SET until_id = $1, looked_at = now()", old.ID)
	if swept, err := on.Sweep(t.Context(), 30*24*time.Hour); err != nil || swept != 0 {
		t.Errorf("Sweep deleted %d facts that an active group has not handled: %v", swept, err)
	}
	b.exec("UPDATE bus_marks SET looked_at = now() - interval '40 days'")
	if swept, err := on.Sweep(t.Context(), 30*24*time.Hour); err != nil || swept != 1 {
		t.Errorf("Sweep deleted %d facts of a disabled group, want 1: %v", swept, err)
	}
}

// A consumer with Wants must also have Refresh.
func TestWantsRequiresRefresh(t *testing.T) {
	t.Parallel()
	defer func() {
		if cause := fmt.Sprint(recover()); cause != `bus: consumer "few" has Wants without Refresh` {
			t.Errorf("Register panicked with %q", cause)
		}
	}()
	few := consumer("few", effect("few"))
	few.Wants = func(string) bool { return false }
	bus.New(nil, discard(), bus.Options{}).Register(few)
}
