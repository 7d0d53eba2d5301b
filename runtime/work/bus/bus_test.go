package bus_test

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/work/bus"
	"github.com/postrider/postrider/runtime/work/event"
)

func TestMain(m *testing.M) {
	flag.Parse()
	// the tests mostly wait until facts are old enough to be visible
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	// shared, ends with the test binary
	const server = "github.com/postrider/postrider/runtime/storage/postgres.(*Server)"
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction(server+".superviseProcess"),
		goleak.IgnoreAnyFunction(server+".launchProcess.func1"),
		goleak.IgnoreAnyFunction("os/exec.(*Cmd).writerDescriptor.func1"),
		goleak.IgnoreTopFunction("database/sql.(*DB).connectionOpener"))
}

const patience = expect.Patience

// withPatience makes a bus tolerate a busy machine: no batch is cut short and no handler times out, unless the test
// configures it.
func withPatience(o bus.Options) bus.Options {
	if o.BatchTime == 0 {
		o.BatchTime = patience
	}
	if o.HandlerTimeout == 0 {
		o.HandlerTimeout = patience
	}
	return o
}

// bench is a database with a table for the effects of handlers.
type bench struct {
	t testing.TB
	*db.DB
}

func newBench(t testing.TB) bench {
	t.Helper()
	b := bench{t, dbtest.New(t)}
	b.exec("CREATE TABLE effects (consumer text, fact_id text, at bigint GENERATED ALWAYS AS IDENTITY)")
	return b
}

func (b bench) exec(query string, args ...any) {
	b.t.Helper()
	if _, err := b.SQL.ExecContext(b.t.Context(), query, args...); err != nil {
		b.t.Fatalf("the statement %s failed: %v", query, err)
	}
}

func (b bench) count(query string, args ...any) (n int) {
	b.t.Helper()
	if err := b.SQL.QueryRowContext(b.t.Context(), query, args...).Scan(&n); err != nil {
		b.t.Fatalf("the query %s failed: %v", query, err)
	}
	return n
}

// bus creates and starts a bus, which is stopped with the test.
func (b bench) bus(o bus.Options, consumers ...bus.Consumer) *bus.Bus {
	b.t.Helper()
	made := bus.New(b.DB, slog.New(slog.NewTextHandler(b.t.Output(), nil)), withPatience(o))
	for _, c := range consumers {
		made.Register(c)
	}
	if err := made.Start(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { b.stop(made) })
	return made
}

func (b bench) stop(made *bus.Bus) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := made.Stop(ctx); err != nil {
		b.t.Error(err)
	}
}

// publish commits the facts in one transaction of the hot pool, then wakes the bus.
func (b bench) publish(on *bus.Bus, facts ...event.Fact) {
	b.t.Helper()
	err := b.InHotTx(b.t.Context(), func(tx *sql.Tx) error { return on.Publish(b.t.Context(), tx, facts...) })
	if err != nil {
		b.t.Fatal(err)
	}
	on.Wake()
}

// awaitCondition polls a condition with a deadline.
func (b bench) awaitCondition(what string, ok func() bool) {
	b.t.Helper()
	deadline := time.Now().Add(patience)
	for !ok() {
		if time.Now().After(deadline) {
			b.t.Fatalf("timed out waiting for: %s", what)
		}
		<-time.After(5 * time.Millisecond)
	}
}

func (b bench) awaitDrained() {
	b.t.Helper()
	b.awaitCondition("all messages handled", func() bool { return b.count("SELECT count(*) FROM bus_messages") == 0 })
}

// stableTail returns the part of an id that stays the same when the fact is stored under a newer id, which happens
// if a slow machine takes most of a second between creating a fact and its statement.
func stableTail(id string) string { return id[14:] }

// once fails the test unless every fact had exactly one effect in the group.
func (b bench) once(group string, facts []event.Fact) {
	b.t.Helper()
	rows, err := b.SQL.QueryContext(b.t.Context(), "SELECT fact_id, count(*) FROM effects WHERE consumer = $1 GROUP BY 1", group)
	if err != nil {
		b.t.Fatal(err)
	}
	defer rows.Close()
	got := map[string]int{}
	for rows.Next() {
		var fact string
		var n int
		if err := rows.Scan(&fact, &n); err != nil {
			b.t.Fatal(err)
		}
		got[stableTail(fact)] = n
	}
	if err := rows.Err(); err != nil {
		b.t.Fatal(err)
	}
	want := map[string]int{}
	for _, f := range facts {
		want[stableTail(f.ID)] = 1
	}
	if diff := cmp.Diff(want, got); diff != "" {
		b.t.Errorf("the effects of %s differ (-want +got):\n%s", group, diff)
	}
}

func effect(group string) bus.Handler {
	return func(ctx context.Context, tx db.Execer, f event.Fact) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO effects (consumer, fact_id) VALUES ($1, $2)", group, f.ID)
		return err
	}
}

func consumer(group string, handle bus.Handler) bus.Consumer {
	return bus.Consumer{Group: group, Types: []event.Type{event.EmailSent, event.EmailBounced}, Handle: handle}
}

func factsOf(n int, types ...event.Type) []event.Fact {
	facts := make([]event.Fact, n)
	for i := range facts {
		typ := event.EmailSent
		if len(types) > 0 {
			typ = types[i%len(types)]
		}
		facts[i] = event.New("acc_1", typ, time.Now(),
			event.Email{EmailID: id.New(id.Email), Subject: fmt.Sprint("number ", i)})
	}
	return facts
}

// signals returns the signals of a process with its own LISTEN connection.
func (b bench) signals() *db.Signals {
	b.t.Helper()
	s, err := db.NewSignals(b.DB, slog.New(slog.DiscardHandler))
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() {
		if err := s.Close(); err != nil {
			b.t.Error(err)
		}
	})
	return s
}

func TestEveryGroupHandlesEachFactOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	webhooks := bus.Consumer{Group: "webhooks", Types: []event.Type{event.EmailSent, event.EmailBounced},
		Handle: effect("webhooks")}
	suppression := bus.Consumer{Group: "suppression", Types: []event.Type{event.EmailBounced},
		Handle: effect("suppression")}
	on := b.bus(bus.Options{Signals: b.signals()}, webhooks, suppression)
	facts := factsOf(200, event.EmailSent, event.EmailBounced, event.EmailDelivered)
	b.publish(on, facts...)
	b.awaitDrained()
	var sent, bounced []event.Fact
	for _, f := range facts {
		switch f.Type {
		case event.EmailSent:
			sent = append(sent, f)
		case event.EmailBounced:
			bounced = append(bounced, f)
		}
	}
	b.once("webhooks", append(sent, bounced...))
	b.once("suppression", bounced)
	if n := b.count("SELECT count(*) FROM facts"); n != len(facts) {
		t.Errorf("got %d stored facts, want %d", n, len(facts))
	}
}

func TestHandlerGetsPublishedFact(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	got := make(chan event.Fact, 1)
	on := b.bus(bus.Options{Signals: b.signals()},
		consumer("g", func(_ context.Context, _ db.Execer, f event.Fact) error {
			got <- f
			return nil
		}))
	at := time.Date(2026, 3, 4, 5, 6, 7, 123456000, time.UTC)
	want := event.New("acc_1", event.EmailSent, at,
		event.Email{EmailID: "msg_1", Subject: `Grüße "an" \ {alle}, 'NULL'`})
	b.publish(on, want)
	f := <-got
	if stableTail(f.ID) == stableTail(want.ID) { // on a slow machine it is stored under a newer id
		want.ID = f.ID
	}
	if diff := cmp.Diff(want, f, cmp.FilterPath(func(p cmp.Path) bool { return p.String() == "Data" },
		cmp.Ignore())); diff != "" {
		t.Errorf("the fact differs (-want +got):\n%s", diff)
	}
	if !sameJSON(t, want.Data, f.Data) {
		t.Errorf("got the data %s, want %s", f.Data, want.Data)
	}
}

func TestWithoutConsumersOnlyFactsAreWritten(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	on := b.bus(bus.Options{})
	b.publish(on, factsOf(3)...)
	if n := b.count("SELECT count(*) FROM facts"); n != 3 {
		t.Errorf("got %d facts", n)
	}
	if n := b.count("SELECT count(*) FROM bus_messages"); n != 0 {
		t.Errorf("got %d messages without a consumer, want none", n)
	}
}

// A fact must not be published for a change that was rolled back.
func TestRollbackPublishesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	on := b.bus(bus.Options{Signals: b.signals()}, consumer("g", effect("g")))
	refused := errors.New("refused")
	err := b.InTx(t.Context(), func(tx *ent.Tx) error {
		if err := on.Publish(t.Context(), tx, factsOf(2)...); err != nil {
			return err
		}
		return refused
	})
	if !errors.Is(err, refused) {
		t.Fatal(err)
	}
	on.Wake()
	kept := factsOf(1)
	b.publish(on, kept...)
	b.awaitDrained()
	b.once("g", kept)
	if n := b.count("SELECT count(*) FROM facts"); n != 1 {
		t.Errorf("got %d facts, want only the committed one", n)
	}
}

func TestPublishRequiresTransaction(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	published := make(chan string, 10)
	inner := factsOf(1, event.EmailBounced)
	var on *bus.Bus
	ready := make(chan struct{})
	on = b.bus(bus.Options{Signals: b.signals()},
		bus.Consumer{Group: "g", Types: []event.Type{event.EmailSent, event.EmailBounced},
			Handle: func(ctx context.Context, tx db.Execer, f event.Fact) error {
				<-ready
				if f.Type == event.EmailSent && f.SubjectID == "msg_first" {
					if err := on.Publish(ctx, tx, inner...); err != nil {
						return err
					}
					on.Wake()
				}
				published <- stableTail(f.ID)
				return nil
			}})
	close(ready)
	first := event.New("acc_1", event.EmailSent, time.Now(), event.Email{EmailID: "msg_first"})
	if err := b.InTx(t.Context(), func(tx *ent.Tx) error { return on.Publish(t.Context(), tx, first) }); err != nil {
		t.Fatal(err)
	}
	on.Wake()
	if got := []string{<-published, <-published}; !slices.Equal(got,
		[]string{stableTail(first.ID), stableTail(inner[0].ID)}) {
		t.Errorf("the handled facts are %v", got)
	}
	for _, handle := range []db.Execer{b.SQL, b.Hot, b.Ent} {
		if err := on.Publish(t.Context(), handle, factsOf(1)...); err == nil {
			t.Errorf("Publish on %T succeeded outside of a transaction", handle)
		}
	}
	if err := b.InTx(t.Context(),
		func(tx *ent.Tx) error { return on.Publish(t.Context(), tx, event.Fact{}) }); err == nil {
		t.Error("Publish of an empty fact succeeded")
	}
}

// A remote server's reply may contain a NUL, which jsonb cannot store. The transaction that reports it must
// not fail forever.
func TestFactWithNULIsStored(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	on := b.bus(bus.Options{})
	b.publish(on, event.New("acc_1", event.EmailBounced, time.Now(),
		event.Email{EmailID: "msg_1", BounceReason: "a\x00b \\u0000 \\\x00"}))
	found, err := on.Log().Facts(t.Context(), "acc_1", "msg_1")
	if err != nil {
		t.Fatal(err)
	}
	if want := "a\ufffdb \\u0000 \\\ufffd"; len(found["msg_1"]) != 1 || bounceReason(t, found["msg_1"][0]) != want {
		t.Errorf("the stored data is %v, want %q", found, want)
	}
}
