package bus

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"

	wsql "github.com/ThreeDotsLabs/watermill-sql/v4/pkg/sql"
	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/postrider/postrider/runtime/storage/db"
)

// errUnsettled prevents a commit that would separate effects from their messages.
var errUnsettled = errors.New("bus: batch not settled")

// maxSavepoints limits the savepoints of a batch. Each is a subtransaction, and above 64 in one transaction
// (PGPROC_MAX_CACHED_SUBXIDS), every snapshot on the server becomes slower.
const maxSavepoints = 60

// delivery is one message being handled.
type delivery struct {
	offset   int64
	factID   string
	failures int  // earlier failures
	troubled bool // it failed before, or Requeue returned it
	gone     bool // its fact no longer exists
	done     bool // HandleAll has handled it
}

// batch is the transaction in which a group handles some messages. Watermill reads and commits in its own
// goroutine; handlers run in ours.
type batch struct {
	tx      *sql.Tx
	began   time.Time
	longest time.Duration // Options.BatchTime
	// alone means that a message broke an earlier batch, so the messages of this batch are handled one by
	// one: a joint call would be wasted if the same message breaks it again.
	alone bool

	mu         sync.Mutex
	expected   map[*message.Message]delivery
	inHandler  bool
	marked     bool // a savepoint exists
	savepoints int
	together   bool       // takeDeliveries was called
	apart      bool       // HandleAll broke the transaction
	handled    []delivery // the commit deletes these and records their facts as handled
	touched    int        // messages with any outcome
	closed     bool       // the deletion is part of the transaction
	broken     error      // why the transaction cannot continue
	culprit    *failure   // the message whose handler broke it
	after      []func()   // log lines and counts that become valid with the commit
}

func (b *batch) addExpected(m *message.Message, d delivery) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.expected[m] = d
}

// takeDelivery returns the delivery of a message, or false if the batch is over and the message is left to the next
// one.
func (b *batch) takeDelivery(m *message.Message) (delivery, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	d, known := b.expected[m]
	if !known || d.done || b.broken != nil || b.closed || b.savepoints >= maxSavepoints || (b.touched > 0 && time.Since(b.began) > b.longest) {
		return delivery{}, false
	}
	b.touched++
	b.inHandler = true
	return d, true
}

// returnDelivery ends what takeDelivery began.
func (b *batch) returnDelivery(d delivery, handled bool, then func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.inHandler = false
	if handled {
		b.handled = append(b.handled, d)
	}
	if then != nil {
		b.after = append(b.after, then)
	}
}

// markBroken marks the transaction as unusable.
func (b *batch) markBroken(err error, culprit *failure) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.inHandler = false
	b.broken, b.culprit = err, culprit
}

func (b *batch) close() ([]delivery, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.broken != nil {
		return nil, b.broken
	}
	b.closed = true
	return b.handled, nil
}

func (b *batch) hasHandled() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.handled) > 0
}

// checkCommit returns an error if a handler is still writing, or if the deletion of handled messages is
// missing: Watermill commits in both cases when it is closed at an unlucky moment, and on a nack.
func (b *batch) checkCommit() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.broken != nil || b.inHandler || (len(b.handled) > 0 && !b.closed) {
		return errors.Join(errUnsettled, b.tx.Rollback())
	}
	if err := b.tx.Commit(); err != nil {
		return err
	}
	for _, then := range b.after {
		then()
	}
	return nil
}

// source begins the batches of a group. It replaces a plain *sql.DB.
type source struct {
	wsql.StdSQLBeginner
	group *group
}

// BeginTx begins a batch.
func (s source) BeginTx(ctx context.Context, o *sql.TxOptions) (wsql.Tx, error) {
	s.group.batch, s.group.commitErr = nil, nil
	if begun := s.group.consumer.Begun; begun != nil {
		begun()
	}
	tx, err := s.SQLBeginner.BeginTx(ctx, o)
	if err != nil {
		return nil, err
	}
	g := s.group
	g.batch = &batch{tx: tx, began: time.Now(), longest: g.options.BatchTime, alone: g.consumer.HandleAll == nil &&
		g.limit < g.maxBatch(), expected: map[*message.Message]delivery{}}
	return batchTx{StdSQLTx: wsql.StdSQLTx{Tx: tx}, batch: g.batch, group: g}, nil
}

// batchTx is the batch's transaction as Watermill sees it.
type batchTx struct {
	wsql.StdSQLTx
	batch *batch
	group *group
}

// Commit records the error, which Watermill only logs.
func (t batchTx) Commit() error {
	t.group.commitErr = t.batch.checkCommit()
	if then := t.group.consumer.Committed; then != nil && t.group.commitErr == nil && t.batch.hasHandled() {
		then()
	}
	return t.group.commitErr
}

// handlerTx is the transaction as passed to a handler: without Commit.
type handlerTx struct{ tx *sql.Tx }

var _ db.Execer = handlerTx{}

func (h handlerTx) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	return h.tx.ExecContext(ctx, query, args...)
}

func (h handlerTx) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return h.tx.QueryContext(ctx, query, args...)
}
