package delivery

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/postrider/postrider/runtime/storage/db"
)

// Some deliveries are claimed before a connection is free for them ("ahead"). If this process dies, it
// matters whether such a delivery had reached its final dot. If it had, the recipient may have the message,
// and the attempt ends as unknown. If not, the attempt counts as not started. The process therefore records,
// before the dot, which of these deliveries are about to send it. One statement covers all deliveries that
// wait for it. It writes to an unlogged table, which needs no disk flush. Deliveries that had a connection
// when they were claimed, which is all of them unless a lane is full, count as begun from their claim and
// need no record.

// begunInterval is the minimum time between two such statements.
const begunInterval = 10 * time.Millisecond

// begunAttempts tracks the deliveries of this process that were claimed ahead, reached their final dot, and are not
// settled yet.
type begunAttempts struct {
	node Node
	db   *db.DB
	// store writes all of them. Rounds are numbered from 1, so that a late round does not overwrite a newer
	// one.
	store func(ctx context.Context, round int64, recipients []int64) error

	mutex   sync.Mutex
	held    map[int64]struct{} // by recipient
	next    *round             // collects waiters; nil: none
	number  int64              // number of the latest round
	running bool
}

// round is one statement and the deliveries that wait for it.
type round struct {
	over chan struct{}
	err  error
}

// recordFinalDot records that a recipient reached its final dot, and returns once the record is stored.
func (b *begunAttempts) recordFinalDot(ctx context.Context, recipientID int64) error {
	b.mutex.Lock()
	if b.held == nil {
		b.held = map[int64]struct{}{}
	}
	b.held[recipientID] = struct{}{}
	r := b.joinRound()
	b.mutex.Unlock()
	select {
	case <-r.over:
		return r.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// storeInitialState stores the current state unless that has been done before. Until then, all deliveries of
// this process count as begun.
func (b *begunAttempts) storeInitialState() {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.number == 0 && b.next == nil {
		b.joinRound()
	}
}

// hasStoredState reports whether the state has ever been stored.
func (b *begunAttempts) hasStoredState() bool {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.number > 0
}

// forgetJobs drops deliveries whose outcomes are stored or whose claims were undone.
func (b *begunAttempts) forgetJobs(jobs ...Job) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	for _, d := range jobs {
		delete(b.held, d.recipientID)
	}
}

// joinRound returns the round that is collecting waiters. The lock is held.
func (b *begunAttempts) joinRound() *round {
	if b.next == nil {
		b.next = &round{over: make(chan struct{})}
	}
	if !b.running {
		b.running = true
		go b.storeRounds()
	}
	return b.next
}

// storeRounds stores rounds until no delivery waits for one.
func (b *begunAttempts) storeRounds() {
	for {
		b.mutex.Lock()
		r := b.next
		if r == nil {
			b.running = false
			b.mutex.Unlock()
			return
		}
		b.next = nil
		b.number++
		number, recipients := b.number, slices.AppendSeq(make([]int64, 0, len(b.held)), maps.Keys(b.held))
		b.mutex.Unlock()
		// The database's own timeouts end the statement; each caller waits with its own context.
		r.err = b.store(context.Background(), number, recipients)
		close(r.over)
		<-time.After(begunInterval)
	}
}

const begunSQL = `
INSERT INTO begun_attempts AS b (node, round, recipients) VALUES ($1, $2, $3)
ON CONFLICT (node) DO UPDATE SET round = excluded.round, recipients = excluded.recipients WHERE b.round < excluded.round`

func newBegunAttempts(d *db.DB, n Node) *begunAttempts {
	b := &begunAttempts{node: n, db: d}
	b.store = b.writeRound
	return b
}

func (b *begunAttempts) writeRound(ctx context.Context, round int64, recipients []int64) error {
	if _, err := b.db.Prepared.ExecContext(ctx, begunSQL, b.node.ID(), round, db.Array(recipients)); err != nil {
		return fmt.Errorf("record deliveries at their final dot: %w", err)
	}
	return nil
}

// forgetNode removes the record of a node.
func (b *begunAttempts) forgetNode(ctx context.Context, nodeID int32) error {
	if _, err := b.db.Hot.ExecContext(ctx, `DELETE FROM begun_attempts WHERE node = $1`, nodeID); err != nil {
		return fmt.Errorf("delete the record of deliveries at their final dot: %w", err)
	}
	return nil
}

// notStartedSQL is true if attempt a did not reach its final dot before it was cut off.
const notStartedSQL = `a.ahead AND EXISTS (SELECT FROM begun_attempts b WHERE b.node = a.node AND a.recipient_id <> ALL (b.recipients))`

// closeCutOffSQL sets the outcome of attempt a, which was cut off without an outcome.
const closeCutOffSQL = `finished_at = now(), outcome = CASE WHEN ` + notStartedSQL + ` THEN 'not_started' ELSE 'unknown' END, in_doubt_at = CASE WHEN ` + notStartedSQL + ` THEN NULL ELSE now() END`
