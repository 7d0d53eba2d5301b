package bus

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/work/event"
)

// handleAll passes the messages of the batch to the consumer inside one savepoint: to its HandleAll in one
// call, else to its Handle one after the other. It is called with the batch's first message, when all
// messages are known; further calls do nothing. Messages marked as handled need no individual call of Handle.
//
// A savepoint per message would cost an additional round trip for each.
func (g *group) handleAll(ctx context.Context, current *batch) {
	taken, facts := current.takeDeliveries(g.consumer.Types)
	if len(taken) == 0 {
		return
	}
	if err := current.setSavepoint(ctx); err != nil {
		current.markBroken(err, nil)
		return
	}
	err := g.callHandler(ctx, func(ctx context.Context) (err error) {
		if g.consumer.HandleAll != nil {
			return g.consumer.HandleAll(ctx, handlerTx{current.tx}, facts)
		}
		n, err := g.handleOneByOne(ctx, current, facts)
		taken = taken[:n]
		return err
	}, facts[0].ID)
	if err != nil {
		g.undoHandleAll(ctx, current, len(facts), err)
		return
	}
	current.returnDeliveries(taken, func() { g.metrics.handled.Add(float64(len(taken))) })
}

// handleOneByOne calls Handle for each of the facts, and returns the number of calls. When the time of the batch is
// over, or at the stop, the remaining facts are left to the next batch.
func (g *group) handleOneByOne(ctx context.Context, current *batch, facts []event.Fact) (handled int, err error) {
	for i, f := range facts {
		if i > 0 && (g.isStopping() || time.Since(current.began) > g.options.BatchTime) {
			return i, nil
		}
		if err := g.consumer.Handle(ctx, handlerTx{current.tx}, f); err != nil {
			return i, err
		}
	}
	return len(facts), nil
}

// undoHandleAll undoes the writes of HandleAll. The messages are then handled one by one, in the same
// transaction. If the writes cannot be undone, the batch is lost, and the next batches have one message each.
func (g *group) undoHandleAll(ctx context.Context, current *batch, facts int, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), g.options.HandlerTimeout)
	defer cancel()
	level := slog.LevelDebug // if handled in turn, the failing fact has its own log line
	if g.consumer.HandleAll != nil {
		level = slog.LevelWarn
	}
	g.log.Log(ctx, level, "bus: handling facts together failed, handling them one by one", telemetry.KeyCount,
		facts, telemetry.KeyError, err)
	if _, failed := current.tx.ExecContext(ctx, "ROLLBACK TO SAVEPOINT handler"); failed != nil {
		current.markHandleAllBroken(fmt.Errorf("undo handler of %d facts: %w", facts, failed))
		return
	}
	current.returnDeliveries(nil, nil)
}

// takeDeliveries returns the messages that one call of HandleAll may handle, in the order of publication, with their
// facts: those of the group's types that never failed. It returns none if there are fewer than two, and none
// when called again.
func (b *batch) takeDeliveries(types []event.Type) (taken []*message.Message, facts []event.Fact) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.together || b.alone || b.broken != nil || b.closed {
		return nil, nil
	}
	b.together = true
	for m, d := range b.expected {
		if !d.gone && !d.troubled && d.failures == 0 && slices.Contains(types, event.Type(m.Metadata[metaType])) {
			taken = append(taken, m)
		}
	}
	if len(taken) < 2 {
		return nil, nil
	}
	slices.SortFunc(taken, func(x, y *message.Message) int {
		return cmp.Compare(b.expected[x].offset,
			b.expected[y].offset)
	})
	facts = make([]event.Fact, len(taken))
	for i, m := range taken {
		fact, err := factOf(m)
		if err != nil { // left to Handle, so that the failure counts for this message only
			return nil, nil
		}
		facts[i] = fact
	}
	b.inHandler = true
	return taken, facts
}

// returnDeliveries ends what takeDeliveries began. The given messages were handled.
func (b *batch) returnDeliveries(handled []*message.Message, then func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.inHandler = false
	for _, m := range handled {
		d := b.expected[m]
		b.handled = append(b.handled, d)
		d.done = true
		b.expected[m] = d
	}
	b.touched += len(handled)
	if then != nil {
		b.after = append(b.after, then)
	}
}

// markHandleAllBroken records that HandleAll has made the transaction unusable.
func (b *batch) markHandleAllBroken(err error) {
	b.markBroken(err, nil)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.apart = true
}

// isHandleAllBroken reports whether HandleAll has made the transaction unusable.
func (b *batch) isHandleAllBroken() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.apart
}
