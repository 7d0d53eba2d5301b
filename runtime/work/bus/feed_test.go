package bus_test

import (
	"database/sql"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/months"
	"github.com/postrider/postrider/runtime/work/bus"
	"github.com/postrider/postrider/runtime/work/event"
)

var feedTypes = []event.Type{event.EmailSent, event.EmailBounced}

func (b bench) read(on *bus.Bus, after string, before time.Time, limit int) bus.FeedPage {
	b.t.Helper()
	got, err := on.Log().Read(b.t.Context(), bus.AccountFeed{AccountID: "acc_1", After: after, Before: before,
		Types: feedTypes, Limit: limit})
	if err != nil {
		b.t.Fatal(err)
	}
	return got
}

func (b bench) horizon(on *bus.Bus) time.Time {
	b.t.Helper()
	at, err := on.Log().Horizon(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	return at
}

// stableTails returns the sorted tails of ids: facts of one publication that are stored under newer ids have no
// defined order.
func stableTails(ids []string) (sorted []string) {
	for _, stored := range ids {
		sorted = append(sorted, stableTail(stored))
	}
	slices.Sort(sorted)
	return sorted
}

func idsOf(facts []event.Fact) []string {
	var ids []string
	for _, f := range facts {
		ids = append(ids, f.ID)
	}
	return ids
}

// A reader continues from the newest visible fact while one transaction has published but not committed, and
// others have committed.
func TestReaderWaitsForOpenTransaction(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	on := b.bus(bus.Options{})
	slow, err := b.Hot.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	late := factsOf(1)
	if err := on.Publish(t.Context(), slow, late...); err != nil {
		t.Fatal(err)
	}
	early := factsOf(3)
	b.publish(on, early...)
	over := time.Now().Add(bus.HoldBack + time.Second)
	begin := id.Since(id.Fact, time.Now().Add(-time.Hour))
	cursor := begin
	for time.Now().Before(over) { // longer than the age at which facts become visible
		got := b.read(on, cursor, b.horizon(on), 10)
		if len(got.Facts) > 0 {
			t.Fatalf("the reader saw %v while %s was not committed", idsOf(got.Facts), late[0].ID)
		}
		cursor = got.Next
	}
	if err := slow.Commit(); err != nil {
		t.Fatal(err)
	}
	var seen []string
	b.awaitCondition("the reader sees all facts", func() bool {
		got := b.read(on, cursor, b.horizon(on), 2)
		seen, cursor = append(seen, idsOf(got.Facts)...), got.Next
		return len(seen) >= 4
	})
	if want := append(idsOf(late), idsOf(early)...); !slices.IsSorted(seen) ||
		stableTail(seen[0]) != stableTail(late[0].ID) ||
		!slices.Equal(stableTails(seen), stableTails(want)) {
		t.Errorf("the reader saw %v, want %v", seen, want)
	}
}

// An open transaction that has not published holds nothing back. Facts that it publishes later are newer than
// all facts shown meanwhile, even if they were created earlier.
func TestUnpublishedTransactionDoesNotHoldBackReaders(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	on := b.bus(bus.Options{})
	cursor := id.Since(id.Fact, time.Now().Add(-time.Hour))
	slow, err := b.Hot.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := slow.ExecContext(t.Context(), "INSERT INTO effects (consumer) VALUES ('it has written')"); err != nil {
		t.Fatal(err)
	}
	late, early := factsOf(3), factsOf(2)
	b.publish(on, early...)
	var seen []string
	read := func() {
		got := b.read(on, cursor, b.horizon(on), 10)
		seen, cursor = append(seen, idsOf(got.Facts)...), got.Next
	}
	b.awaitCondition("the reader sees the facts of others",
		func() bool { read(); return len(seen) == 2 && cursor > late[2].ID })
	if err := on.Publish(t.Context(), slow, late...); err != nil {
		t.Fatal(err)
	}
	if err := slow.Commit(); err != nil {
		t.Fatal(err)
	}
	b.awaitCondition("the reader sees the late facts", func() bool { read(); return len(seen) >= 5 })
	if got := stableTails(seen[2:]); !slices.IsSorted(seen) || !slices.Equal(got, stableTails(idsOf(late))) {
		t.Errorf("the reader saw %v, want the facts %v after those of others", seen, idsOf(late))
	}
}

// A time is settled once every transaction that began before it has ended, even if it has not published.
func TestOpenTransactionIsNotSettled(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	on := b.bus(bus.Options{})
	settled := func() time.Time {
		at, err := on.Log().SettledTime(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	began := time.Now()
	err := b.InHotTx(t.Context(), func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(t.Context(), "SELECT 1"); err != nil {
			return err
		}
		open := time.Now()
		b.awaitCondition("the server's time has advanced",
			func() bool { return time.Since(open) > 1200*time.Millisecond })
		if at := settled(); at.After(open) {
			t.Errorf("Settled returned %s, although a transaction that began before %s is open", at, open)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	b.awaitCondition("the time is settled after the transaction ended", func() bool { return settled().After(began) })
}

// Publishers wait between creating facts and their statements, keep their transactions open, and roll them
// back completely or to a savepoint. A reader that continues from the last id sees each committed fact once,
// in order.
func TestReaderSeesFactsOfSlowPublishersOnce(t *testing.T) {
	t.Parallel()
	for _, form := range []string{"plain", "split"} {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			on := b.bus(bus.Options{})
			facts, err := months.FindTables("facts")
			if err != nil {
				t.Fatal(err)
			}
			if form == "split" {
				if err := months.Move(t.Context(), b.DB, facts[0], discard(), func(string) {}); err != nil {
					t.Fatal(err)
				}
			}
			var mutex sync.Mutex
			var want []string
			var publishers sync.WaitGroup
			for p := range 12 {
				publishers.Go(func() {
					dice := rand.New(rand.NewPCG(uint64(p), 17))
					for range 12 {
						made := factsOf(1 + dice.IntN(3))
						kept, err := b.publishSlowly(on, dice, made)
						if err != nil {
							t.Error(err)
							return
						}
						mutex.Lock()
						want = append(want, idsOf(kept)...)
						mutex.Unlock()
					}
				})
			}
			done := make(chan struct{})
			go func() { publishers.Wait(); close(done) }()
			var seen []string
			cursor := id.Since(id.Fact, time.Now().Add(-time.Hour))
			read := func() {
				got := b.read(on, cursor, b.horizon(on), 5)
				seen, cursor = append(seen, idsOf(got.Facts)...), got.Next
			}
			for ended := false; !ended; read() {
				select {
				case <-done:
					ended = true
				default:
				}
			}
			b.awaitCondition("the reader sees every fact", func() bool { read(); return len(seen) >= len(want) })
			if !slices.IsSorted(seen) || !slices.Equal(stableTails(seen), stableTails(want)) {
				t.Errorf("the reader saw %d facts, in order: %t; want the %d committed ones, each once", len(seen),
					slices.IsSorted(seen), len(want))
			}
		})
	}
}

// publishSlowly publishes facts in a slow transaction, and returns the committed ones.
func (b bench) publishSlowly(on *bus.Bus, dice *rand.Rand, facts []event.Fact) (kept []event.Fact, err error) {
	ctx, errUndo := b.t.Context(), errors.New("rolled back")
	err = b.InHotTx(ctx, func(tx *sql.Tx) error {
		pause := func() error {
			_, err := tx.ExecContext(ctx, "SELECT pg_sleep($1)", []float64{0, 0, 0.02, 0.1, 0.3, 0.5}[dice.IntN(6)])
			return err
		}
		do := func(statement string) error {
			_, err := tx.ExecContext(ctx, statement)
			return err
		}
		undo := dice.IntN(6)
		if err := pause(); err != nil {
			return err
		}
		if undo == 0 {
			if err := errors.Join(do("SAVEPOINT s"), on.Publish(ctx, tx, factsOf(1)...), do("ROLLBACK TO SAVEPOINT s"),
				pause()); err != nil {
				return err
			}
		}
		if err := errors.Join(on.Publish(ctx, tx, facts...), pause()); err != nil {
			return err
		}
		if undo == 1 {
			return errUndo
		}
		kept = facts
		return nil
	})
	if errors.Is(err, errUndo) {
		return nil, nil
	}
	return kept, err
}

// While a program runs that stores older ids than this one, readers wait longer.
func TestReadersWaitForOlderPrograms(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	on := b.bus(bus.Options{})
	first := b.VersionOf("timely_facts")
	for _, c := range []struct {
		schema string // migration version of the program
		silent string // for how long
		want   time.Duration
	}{{"20261126062013", "0s", 2 * time.Second}, {"", "0s", 2 * time.Second}, {"20261126062013", "2min", bus.HoldBack},
		{first, "0s", bus.HoldBack}, {db.Schema(), "0s", bus.HoldBack}} {
		b.exec(`DELETE FROM nodes`)
		b.exec(`INSERT INTO nodes (name, version, schema, roles, started_at, seen_at, claims_from) VALUES ('n', 'v', nullif($1, ''), '[]', now(), now() - $2::interval, now())`, c.schema, c.silent)
		before := time.Now()
		if at := b.horizon(on).Add(c.want); at.Before(before.Add(-100*time.Millisecond)) ||
			at.After(time.Now().Add(100*time.Millisecond)) {
			t.Errorf("with a program of the migration %q, silent for %s, the horizon is %s from now, want %s", c.schema,
				c.silent, time.Since(at.Add(-c.want)), c.want)
		}
	}
}

// A fact whose statement runs long after its creation, or that comes from a slow clock, gets an id of the
// server's time. The message has the same id.
func TestLateFactGetsNewID(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	on := bus.New(b.DB, discard(), bus.Options{})
	on.Register(consumer("g", effect("g")))
	var facts []event.Fact
	var floor string
	var made time.Time
	for time.Since(made) > 300*time.Millisecond { // again, if a busy machine delayed the punctual fact
		b.exec("DELETE FROM bus_messages")
		b.exec("DELETE FROM facts")
		facts, made = factsOf(3), time.Now()
		for i, age := range []time.Duration{time.Minute, 10 * time.Millisecond, -time.Minute} { // late, on time, ahead
			facts[i].ID = id.Since(id.Fact, made.Add(-age))[:14] + facts[i].ID[14:]
		}
		floor = id.Since(id.Fact, made.Add(-time.Second))
		if err := b.InHotTx(t.Context(),
			func(tx *sql.Tx) error { return on.Publish(t.Context(), tx, facts...) }); err != nil {
			t.Fatal(err)
		}
	}
	got := b.read(on, id.Since(id.Fact, time.Now().Add(-time.Hour)), time.Now().Add(time.Hour), 10)
	stored := idsOf(got.Facts)
	if len(stored) != 3 || !slices.Contains(stored, facts[1].ID) || stored[2] != facts[2].ID {
		t.Fatalf("stored %v, created %v", stored, idsOf(facts))
	}
	renewed := stored[0]
	if renewed == facts[1].ID {
		renewed = stored[1]
	}
	if renewed < floor || renewed > id.Since(id.Fact, time.Now()) || !strings.HasSuffix(renewed, facts[0].ID[14:]) ||
		!id.Is(id.Fact, renewed) {
		t.Errorf("the late fact was stored as %s, created as %s", renewed, facts[0].ID)
	}
	if n := b.count("SELECT count(*) FROM bus_messages JOIN facts ON facts.id = fact_id"); n != 3 {
		t.Errorf("%d of 3 messages have the id of their fact", n)
	}
}

func TestReadContinuesAfterExaminedFacts(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	on := b.bus(bus.Options{})
	b.publish(on, factsOf(1100, event.DomainAdded)...)
	wanted := factsOf(3)
	b.publish(on, wanted...)
	soon := time.Now().Add(time.Minute)
	first := b.read(on, id.Since(id.Fact, time.Now().Add(-time.Hour)), soon, 2)
	if len(first.Facts) != 0 || !first.More {
		t.Fatalf("the first read returned %v, more: %t", idsOf(first.Facts), first.More)
	}
	second := b.read(on, first.Next, soon, 2)
	third := b.read(on, second.Next, soon, 2)
	if got := append(idsOf(second.Facts), idsOf(third.Facts)...); !slices.IsSorted(got) ||
		!slices.Equal(stableTails(got), stableTails(idsOf(wanted))) ||
		len(second.Facts) != 2 || !second.More || third.More {
		t.Errorf("the next reads returned %v, more: %t, and %v, more: %t", idsOf(second.Facts), second.More,
			idsOf(third.Facts), third.More)
	}
	if last := b.read(on, third.Next, soon, 2); len(last.Facts) != 0 || last.Next != third.Next {
		t.Errorf("the last read returned %v, next %s", idsOf(last.Facts), last.Next)
	}
}

// Facts of all accounts are read in the order of their ids, in reads that are bounded in number and in size.
// Each read continues where the previous one ended.
func TestReadFeedIsCompleteAndBounded(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	on := b.bus(bus.Options{})
	facts := factsOf(9)
	for i := range facts {
		facts[i].AccountID = []string{"acc_1", "acc_2"}[i%2]
	}
	b.publish(on, facts...)
	small := len(facts[0].Data)
	for _, w := range []bus.Feed{{Limit: 4, Octets: 1 << 20}, {Limit: 100, Octets: 3*small + 2},
		{Limit: 100, Octets: 1}, {Limit: 100, Octets: 1 << 20}} {
		var seen []string
		w.After = id.Since(id.Fact, time.Now().Add(-time.Hour))
		b.awaitCondition("the reader sees all facts", func() bool {
			w.Before = b.horizon(on)
			got, err := on.Log().ReadFeed(t.Context(), w)
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Facts) > w.Limit || (len(got.Facts)-1)*small > w.Octets {
				t.Errorf("a read of at most %d facts and %d bytes returned %d facts", w.Limit, w.Octets, len(got.Facts))
			}
			seen, w.After = append(seen, idsOf(got.Facts)...), got.Next
			return len(seen) >= len(facts)
		})
		if !slices.IsSorted(seen) || !slices.Equal(stableTails(seen), stableTails(idsOf(facts))) {
			t.Errorf("reads of at most %d facts and %d bytes returned %v, want %v", w.Limit, w.Octets, seen,
				idsOf(facts))
		}
	}
}
