package bus

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/ThreeDotsLabs/watermill"
	wsql "github.com/ThreeDotsLabs/watermill-sql/v4/pkg/sql"
	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/storage/db"
)

// group delivers the messages of one consumer to its handler: those of a batch in one savepoint
// (handle_all.go), and after a failure one at a time.
type group struct {
	name     string
	consumer Consumer
	options  Options
	db       *db.DB
	log      *slog.Logger
	metrics  groupMetrics
	stopping <-chan struct{}

	subscriber  *wsql.Subscriber
	messages    <-chan *message.Message
	woken       <-chan struct{}
	polled      chan struct{} // polling has found messages
	unsubscribe func()
	idle        chan struct{} // closed when stopping and no message is being handled
	idleOnce    sync.Once

	// Owned by Watermill's goroutine, which reads, commits and decides what to do next.
	batch     *batch
	commitErr error
	limit     int // size of the next batch
	errors    int // consecutive
	since     time.Time
	wokenAt   time.Time

	// Owned by the catch-up's goroutine.
	addedLeast time.Time // when a scan last added aheadLeast although there was no room

	retryMu sync.Mutex
	retries []time.Time // when failed messages of this process are due again
}

func newGroup(b *Bus, c Consumer) *group {
	return &group{name: c.Group, consumer: c, options: b.options, db: b.db,
		log:     b.log.With(telemetry.KeyGroup, c.Group),
		metrics: b.metrics.groupMetricsOf(c.Group), stopping: b.stopping, polled: make(chan struct{}, 1),
		idle: make(chan struct{}), limit: cmp.Or(c.Batch, b.options.Batch)}
}

// subscribe starts the Watermill subscription. ctx is the lifetime of the bus.
func (g *group) subscribe(ctx context.Context) error {
	noDeadline := time.Duration(0) // with a deadline, Watermill would start a handler again while it still runs
	subscriber, err := wsql.NewSubscriber(source{wsql.StdSQLBeginner{SQLBeginner: g.db.SQL}, g}, wsql.SubscriberConfig{
		ConsumerGroup:  g.name,
		AckDeadline:    &noDeadline,
		BackoffManager: g,
		SchemaAdapter:  schema{group: g},
		OffsetsAdapter: offsets{group: g},
	}, watermill.NopLogger{})
	if err != nil {
		return err
	}
	g.woken, g.unsubscribe = g.options.Signals.Subscribe(Channel)
	g.subscriber = subscriber
	if g.messages, err = subscriber.Subscribe(ctx, topic); err != nil {
		g.unsubscribe()
	}
	return err
}

// deliverMessages delivers messages until the bus stops. Every message is acknowledged: the batch decides what is
// deleted.
func (g *group) deliverMessages() {
	defer g.unsubscribe()
	for {
		select {
		case m, more := <-g.messages:
			if !more { // Stop ran out of time
				return
			}
			if !g.isStopping() {
				g.handleMessage(m)
			}
			m.Ack()
		case <-g.idle:
			if err := g.subscriber.Close(); err != nil {
				g.log.Error("bus: subscriber not closed", telemetry.KeyError, err)
			}
			return
		}
	}
}

func (g *group) isStopping() bool {
	select {
	case <-g.stopping:
		return true
	default:
		return false
	}
}

// handleMessage calls the handler with all messages of the batch, or with a single remaining message, inside a
// savepoint.
func (g *group) handleMessage(m *message.Message) {
	tx, _ := wsql.TxFromContext(m.Context())
	current := tx.(batchTx).batch // source returns no other type
	g.handleAll(m.Context(), current)
	d, ok := current.takeDelivery(m)
	if !ok {
		return
	}
	fact, err := factOf(m)
	switch {
	case d.gone:
		g.log.Warn("bus: dropped a message without its fact", telemetry.KeyFactID, m.UUID)
		current.returnDelivery(d, true, nil)
		return
	case err == nil && !slices.Contains(g.consumer.Types, fact.Type):
		g.skipUnknown(m.Context(), current, d)
		return
	}
	if err := current.setSavepoint(m.Context()); err != nil {
		current.markBroken(err, nil)
		return
	}
	if err == nil {
		err = g.callHandler(m.Context(),
			func(ctx context.Context) error { return g.consumer.Handle(ctx, handlerTx{current.tx}, fact) }, fact.ID)
	}
	if err != nil {
		g.postponeFailed(m.Context(), current, failure{delivery: d, fact: fact, err: err})
		return
	}
	current.returnDelivery(d, true, g.metrics.handled.Inc)
}

// callHandler runs a handler with a timeout and turns its panic into an error. factID is the id of its first
// fact.
func (g *group) callHandler(ctx context.Context, handle func(context.Context) error, factID string) (err error) {
	ctx, cancel := context.WithTimeout(ctx, g.options.HandlerTimeout)
	defer cancel()
	defer func() {
		if cause := recover(); cause != nil {
			g.log.Error("bus: a handler panicked", "panic", cause, telemetry.KeyFactID, factID, telemetry.KeyStack,
				string(debug.Stack()))
			err = fmt.Errorf("panic: %v", cause)
		}
	}()
	return handle(ctx)
}

// setSavepoint sets the savepoint to which a failing handler is rolled back. The previous one is released in the
// same round trip.
func (b *batch) setSavepoint(ctx context.Context) error {
	query := "SAVEPOINT handler"
	if b.marked {
		query = "RELEASE SAVEPOINT handler; SAVEPOINT handler"
	}
	_, err := b.tx.ExecContext(ctx, query)
	b.marked = true
	b.savepoints++
	return err
}

// maxBatch returns the maximum size of a batch.
func (g *group) maxBatch() int { return cmp.Or(g.consumer.Batch, g.options.Batch) }
