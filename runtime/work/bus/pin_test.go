package bus_test

import (
	"context"
	"database/sql"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ThreeDotsLabs/watermill"
	wsql "github.com/ThreeDotsLabs/watermill-sql/v4/pkg/sql"
	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/work/bus"
	"github.com/postrider/postrider/runtime/work/event"
)

// Pins document the behavior of Watermill that requires our adapters, and test that the adapters behave
// differently.

// When Watermill's queue mode is closed in the middle of a batch, it acknowledges the whole batch, including
// messages that no handler saw.
//
// If this test fails, the library has changed: read its subscriber and queue adapter again. If it deletes
// only acknowledged messages, offsets.AckMessageQuery may take the rows from Watermill; batch.commit is still
// needed for its own reasons.
func TestPinStockQueueModeLosesABatchOnStop(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	table := wsql.PostgreSQLQueueSchema{SubscribeBatchSize: 50}
	acks := wsql.PostgreSQLQueueOffsetsAdapter{DeleteOnAck: true}
	plain := wsql.BeginnerFromStdSQL(d.SQL)
	subscriber, err := wsql.NewSubscriber(plain, wsql.SubscriberConfig{SchemaAdapter: table, OffsetsAdapter: acks,
		InitializeSchema: true},
		watermill.NopLogger{})
	if err != nil {
		t.Fatal(err)
	}
	if err := subscriber.SubscribeInitialize("pin"); err != nil {
		t.Fatal(err)
	}
	publisher, err := wsql.NewPublisher(plain, wsql.PublisherConfig{SchemaAdapter: table}, watermill.NopLogger{})
	if err != nil {
		t.Fatal(err)
	}
	for range 50 {
		if err := publisher.Publish("pin", message.NewMessage(watermill.NewUUID(), []byte("{}"))); err != nil {
			t.Fatal(err)
		}
	}
	messages, err := subscriber.Subscribe(t.Context(), "pin")
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		(<-messages).Ack()
	}
	<-messages // held by the sixth handler
	if err := subscriber.Close(); err != nil {
		t.Fatal(err)
	}
	var left int
	if err := d.SQL.QueryRowContext(t.Context(), "SELECT count(*) FROM watermill_pin").Scan(&left); err != nil {
		t.Fatal(err)
	}
	if left != 0 {
		t.Errorf("%d of 50 messages remain after 5 were handled: Watermill no longer loses the rest of the batch",
			left)
	}
}

// Our adapter deletes exactly the handled messages. If this test fails, messages are lost or handled twice on
// every deployment: look at group.run, offsets.AckMessageQuery and batch.commit.
func TestPinStopDuringBatchLosesNoMessages(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	facts := factsOf(50)
	for round := range 4 {
		inSixth := make(chan struct{})
		stopping := &waitedFor{Context: t.Context(), begun: make(chan struct{})}
		var calls atomic.Int32
		on := bus.New(b.DB, discard(), withPatience(bus.Options{}))
		on.Register(consumer("g", func(ctx context.Context, tx db.Execer, f event.Fact) error {
			if calls.Add(1) == 6 {
				close(inSixth)
				<-stopping.begun
			}
			return effect("g")(ctx, tx, f)
		}))
		if round == 0 {
			b.publish(on, facts...)
		}
		if err := on.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-inSixth
		if err := on.Stop(stopping); err != nil {
			t.Fatal(err)
		}
		handled, left := b.count("SELECT count(*) FROM effects"), b.count("SELECT count(*) FROM bus_messages")
		if handled != 6*(round+1) || left != len(facts)-handled {
			t.Fatalf("round %d: %d handled and %d remaining of %d, want %d handled", round, handled, left, len(facts),
				6*(round+1))
		}
	}
	b.bus(bus.Options{}, consumer("g", effect("g")))
	b.awaitDrained()
	b.once("g", facts)
}

// waitedFor is a context that records the first call of Done. Stop calls Done after it has signaled every worker to
// stop.
type waitedFor struct {
	context.Context
	once  sync.Once
	begun chan struct{}
}

func (w *waitedFor) Done() <-chan struct{} {
	w.once.Do(func() { close(w.begun) })
	return w.Context.Done()
}

// A Stop that runs out of time interrupts the handler. Nothing of its batch is stored, neither effects nor
// deletions.
func TestInterruptedStopIsAtomic(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	entered := make(chan struct{}, 10)
	on := bus.New(b.DB, discard(), withPatience(bus.Options{}))
	on.Register(consumer("g", func(ctx context.Context, tx db.Execer, f event.Fact) error {
		if err := effect("g")(ctx, tx, f); err != nil {
			return err
		}
		entered <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	}))
	facts := factsOf(3)
	b.publish(on, facts...)
	if err := on.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-entered
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := on.Stop(ctx); err == nil {
		t.Error("Stop did not report that a handler was still running")
	}
	b.bus(bus.Options{}, consumer("g", effect("g")))
	b.awaitDrained()
	b.once("g", facts)
}

// With an ack deadline, Watermill passes a message to a second handler while the first still processes it. We
// set none; instead the handler's context ends.
//
// If this test fails, look at SubscriberConfig.AckDeadline in group.subscribe.
func TestPinLateHandlerIsNotStartedTwice(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var now, most atomic.Int32
	late := make(chan struct{})
	slow := func(ctx context.Context, tx db.Execer, f event.Fact) error {
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		defer now.Add(-1)
		<-late // ignores its context
		return effect("g")(context.WithoutCancel(ctx), tx, f)
	}
	options := bus.Options{HandlerTimeout: 50 * time.Millisecond, Poll: 20 * time.Millisecond, Retry: quick}
	one := b.bus(options, consumer("g", slow))
	b.bus(options, consumer("g", slow))
	facts := factsOf(1)
	b.publish(one, facts...)
	b.awaitCondition("the handler starts", func() bool { return now.Load() == 1 })
	<-time.After(500 * time.Millisecond) // many polls and ten handler timeouts
	close(late)
	b.awaitDrained()
	b.once("g", facts)
	if most.Load() != 1 {
		t.Errorf("%d handlers processed one message concurrently", most.Load())
	}
}

// Watermill's offset mode only reads below the oldest transaction of the whole cluster, so that any open
// transaction stops every topic. Our rows do not depend on it.
//
// If this test fails, reading has come to depend on transaction ids: see selectMessages.
func TestPinForeignTransactionDoesNotStallDelivery(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	elsewhere := dbtest.New(t) // another database on the same server
	on := b.bus(bus.Options{Signals: b.signals(), Poll: time.Hour}, consumer("g", effect("g")))
	for _, d := range []*db.DB{b.DB, elsewhere} {
		foreign, err := d.SQL.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := foreign.Rollback(); err != nil {
				t.Error(err)
			}
		}()
		if _, err := foreign.ExecContext(t.Context(), "INSERT INTO bus_messages (consumer, fact_id) VALUES ('foreign', 'evt_1')"); err != nil {
			t.Fatal(err)
		}
	}
	facts := factsOf(10)
	b.publish(on, facts...)
	b.awaitDrained() // while they are open
	b.once("g", facts)
}

// Watermill's offsets contain transaction ids, which start again in a restored cluster, so that no newer
// message is ever found. Ours move with the tables.
//
// If this test fails, a restored backup delivers nothing: see selectMessages.
func TestPinCopiedTablesContinue(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	source := bus.New(b.DB, discard(), bus.Options{})
	source.Register(consumer("g", effect("g")))
	waiting := factsOf(20)
	b.publish(source, waiting...)
	b.exec("UPDATE bus_messages SET \"offset\" = \"offset\" + $1", int64(1)<<40) // after long use; more than 32 bits

	restored := newBench(t)
	copyTable(t, b, restored, "facts", "id, account_id, type, subject_id, data, created_at")
	copyTable(t, b, restored, "bus_messages", `consumer, "offset", fact_id, failures, last_error, due_at, created_at`)
	on := restored.bus(bus.Options{Signals: restored.signals()}, consumer("g", effect("g")))
	fresh := factsOf(20)
	restored.publish(on, fresh...)
	restored.awaitDrained()
	restored.once("g", append(waiting, fresh...))
}

func copyTable(t *testing.T, from, to bench, table, columns string) {
	t.Helper()
	var rows string
	query := "SELECT coalesce(json_agg(r), '[]') FROM (SELECT " + columns + " FROM " + table + ") r"
	if err := from.SQL.QueryRowContext(t.Context(), query).Scan(&rows); err != nil {
		t.Fatal(err)
	}
	to.exec("INSERT INTO "+table+" ("+columns+") SELECT "+columns+" FROM json_populate_recordset(null::"+table+", $1)", rows)
}

// Watermill's readers of one group wait for each other, because it does not use SKIP LOCKED.
//
// If this test fails, look at selectMessages.
func TestPinReplicasShareMessages(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	facts := factsOf(600)
	publisher := bus.New(b.DB, discard(), bus.Options{})
	publisher.Register(consumer("g", effect("g")))
	b.publish(publisher, facts...)
	var share [2]atomic.Int32
	both := make(chan struct{}) // each must hold a batch before either continues
	var arrived atomic.Int32
	for i := range share {
		first := true
		b.bus(bus.Options{}, consumer("g", func(ctx context.Context, tx db.Execer, f event.Fact) error {
			if first {
				first = false
				if arrived.Add(1) == 2 {
					close(both)
				}
				select {
				case <-both:
				case <-ctx.Done():
					t.Error("one replica gets no messages while the other holds a batch")
					return ctx.Err()
				}
			}
			share[i].Add(1)
			return effect("g")(ctx, tx, f)
		}))
	}
	b.awaitDrained()
	b.once("g", facts)
	for i := range share {
		if share[i].Load() < 50 {
			t.Errorf("replica %d handled %d of %d messages", i, share[i].Load(), len(facts))
		}
	}
}

// Polling once a second delays messages by up to a second; fast polling costs transactions.
//
// If this test fails, groups are no longer woken: see group.wait and db.Signals.
func TestPinDeliveryIsSignaled(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	publisher := bus.New(b.DB, discard(), bus.Options{Signals: b.signals()}) // in effect another process
	publisher.Register(consumer("g", effect("g")))
	handled := make(chan struct{}, 1)
	b.bus(bus.Options{Signals: b.signals(), Poll: 24 * time.Hour},
		consumer("g", func(context.Context, db.Execer, event.Fact) error {
			handled <- struct{}{}
			return nil
		}))
	warm := time.After(patience)
	b.publish(publisher, factsOf(1)...)
	select { // the first may be found when listening begins
	case <-handled:
	case <-warm:
		t.Fatal("no message was delivered")
	}
	for range 10 {
		b.awaitDrained()
		b.publish(publisher, factsOf(1)...)
		select {
		case <-handled:
		case <-time.After(patience):
			t.Fatal("the group was not woken")
		}
	}
}
