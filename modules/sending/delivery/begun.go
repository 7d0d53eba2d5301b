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

// Some deliveries are claimed before there is a connection for them. Should this process
// die, it matters whether they had come as far as the final dot: then the recipient may
// have the message, and the attempt ends as unknown; else it had not started for all that
// matters. So the process writes down, before the dot, which of them come to it. One
// statement tells of all that wait for it, on an unlogged table, which needs no flush of
// the disk. Deliveries that found a connection free, which is all of them unless a lane
// is full, count as begun from their claim on and need nothing.

// begunPace is the time between two such statements.
const begunPace = 10 * time.Millisecond

// begun knows the deliveries of this process that were claimed ahead, came to their final
// dot, and are not settled.
type begun struct {
	node Node
	db   *db.DB
	// store writes all of them. Rounds are numbered from 1, so that one that comes late
	// does not undo another.
	store func(ctx context.Context, round int64, recipients []int64) error

	mutex   sync.Mutex
	held    map[int64]struct{} // by recipient
	next    *round             // gathers; nil: nobody waits
	number  int64              // of the latest round
	running bool
}

// round is one statement and those who wait for it.
type round struct {
	over chan struct{}
	err  error
}

// note has a recipient written down and waits until that is so.
func (b *begun) note(ctx context.Context, recipientID int64) error {
	b.mutex.Lock()
	if b.held == nil {
		b.held = map[int64]struct{}{}
	}
	b.held[recipientID] = struct{}{}
	r := b.join()
	b.mutex.Unlock()
	select {
	case <-r.over:
		return r.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// show has the present state written down, if it has never been: until it is, all
// deliveries of the process count as begun.
func (b *begun) show() {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.number == 0 && b.next == nil {
		b.join()
	}
}

// shown tells whether anything was ever written down.
func (b *begun) shown() bool {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.number > 0
}

// forget is called once outcomes are stored, or claims undone.
func (b *begun) forget(jobs ...Job) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	for _, d := range jobs {
		delete(b.held, d.recipientID)
	}
}

// join gives the round that gathers now. The lock is held.
func (b *begun) join() *round {
	if b.next == nil {
		b.next = &round{over: make(chan struct{})}
	}
	if !b.running {
		b.running = true
		go b.run()
	}
	return b.next
}

// run stores rounds until nobody waits for one.
func (b *begun) run() {
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
		// The time limits of the database end it; the callers have contexts of their own.
		r.err = b.store(context.Background(), number, recipients)
		close(r.over)
		<-time.After(begunPace)
	}
}

const begunSQL = `
INSERT INTO begun_attempts AS b (node, round, recipients) VALUES ($1, $2, $3)
ON CONFLICT (node) DO UPDATE SET round = excluded.round, recipients = excluded.recipients WHERE b.round < excluded.round`

func newBegun(d *db.DB, n Node) *begun {
	b := &begun{node: n, db: d}
	b.store = b.write
	return b
}

func (b *begun) write(ctx context.Context, round int64, recipients []int64) error {
	if _, err := b.db.Prepared.ExecContext(ctx, begunSQL, b.node.ID(), round, db.Array(recipients)); err != nil {
		return fmt.Errorf("note deliveries that begin: %w", err)
	}
	return nil
}

// forgetNode removes what a node has written down.
func (b *begun) forgetNode(ctx context.Context, nodeID int32) error {
	if _, err := b.db.Hot.ExecContext(ctx, `DELETE FROM begun_attempts WHERE node = $1`, nodeID); err != nil {
		return fmt.Errorf("forget deliveries that have begun: %w", err)
	}
	return nil
}

// notStartedSQL is the outcome of an attempt a without an outcome that was cut off.
const notStartedSQL = `CASE WHEN a.ahead AND EXISTS (SELECT FROM begun_attempts b WHERE b.node = a.node AND a.recipient_id <> ALL (b.recipients)) THEN 'not_started' ELSE 'unknown' END`
