package bus

import (
	"context"
	"errors"
	"time"

	"github.com/ThreeDotsLabs/watermill"
	wsql "github.com/ThreeDotsLabs/watermill-sql/v4/pkg/sql"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/base/worker"
)

var _ wsql.BackoffManager = (*group)(nil)

// spacing separates the batches during continuous wakes: a batch takes everything that arrived in the
// meantime, instead of one commit per fact. A single wake is not delayed.
const spacing = 5 * time.Millisecond

// outage is the backoff of a group that cannot read.
var outage = worker.Backoff{Min: 100 * time.Millisecond, Max: 5 * time.Second}

// HandleError is called by Watermill after every batch, in the goroutine that reads. It may block: here a
// group waits for work.
func (g *group) HandleError(_ watermill.LoggerAdapter, empty bool, err error) time.Duration {
	if err == nil {
		err = g.commitErr
	}
	if err != nil {
		g.afterError(err)
	} else {
		g.afterSuccess()
	}
	switch {
	case g.isStopping():
		g.idleOnce.Do(func() { close(g.idle) })
		return time.Second // interrupted by Close
	case err != nil && g.errors > 0:
		g.waitUpTo(outage.Delay(g.errors))
	case err == nil && empty:
		g.waitForWork()
	}
	return 0
}

func (g *group) afterSuccess() {
	if g.errors > 0 {
		g.log.Info("bus: reading messages recovered", "failures", g.errors, "after", time.Since(g.since).
			Round(time.Millisecond))
		g.errors = 0
	}
	g.limit = g.nextLimit()
}

// nextLimit returns the size of the next batch: twice as much after a commit. HandleAll cannot stop halfway
// like a series of single calls, so after a call that took too long the next batch is half as large.
func (g *group) nextLimit() int {
	if g.consumer.HandleAll != nil && time.Since(g.batch.began) > g.options.BatchTime {
		return max(1, g.limit/2)
	}
	return min(g.maxBatch(), g.limit*2)
}

// afterError determines whether a message caused the error. The transaction is over, so the failure is
// recorded in a separate one.
func (g *group) afterError(err error) {
	if culprit := g.findCulprit(err); culprit != nil {
		ctx, cancel := context.WithTimeout(context.Background(), g.options.HandlerTimeout)
		defer cancel()
		report, failed := g.postponeMessage(ctx, g.db.SQL, *culprit)
		if failed == nil {
			report()
			return
		}
		err = errors.Join(err, failed)
	} else if g.batch != nil && g.limit > 1 && (g.batch.isHandleAllBroken() || !fault.IsDatabaseUnavailable(err) &&
		!errors.Is(err, errUnsettled)) {
		g.limit = 1 // one by one, so that the culprit will be alone in its batch
		return
	}
	g.errors++
	if g.errors == 1 {
		g.since = time.Now()
		g.metrics.outages.Inc()
		g.log.Warn("bus: cannot read messages, retrying", telemetry.KeyError, err)
	}
}

// findCulprit returns the message that broke the batch: the one whose handler failed in a way that could not
// be undone, or, for an error that only appears at the commit (a swallowed SQL error, a deferred constraint),
// the only message in the batch.
func (g *group) findCulprit(err error) *failure {
	b := g.batch
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.culprit != nil {
		return b.culprit
	}
	if fault.IsDatabaseUnavailable(err) || errors.Is(err, errUnsettled) || len(b.expected) != 1 || len(b.handled) != 1 {
		return nil
	}
	for m, d := range b.expected {
		fact, unreadable := factOf(m)
		if unreadable != nil {
			return nil
		}
		return &failure{delivery: d, fact: fact, err: err}
	}
	return nil
}

// waitForWork waits until an idle group is woken, polling has found messages, or a failed message is due
// again.
func (g *group) waitForWork() {
	var due <-chan time.Time
	if retry, any := g.timeUntilRetry(); any {
		timer := time.NewTimer(retry)
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-due:
	case <-g.polled:
	case <-g.woken:
		if early := spacing - time.Since(g.wokenAt); early > 0 {
			g.waitUpTo(early)
		}
		g.wokenAt = time.Now()
	case <-g.stopping:
		g.idleOnce.Do(func() { close(g.idle) })
	}
}

// waitUpTo waits, at most until the stop.
func (g *group) waitUpTo(longest time.Duration) {
	timer := time.NewTimer(longest)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-g.stopping:
		g.idleOnce.Do(func() { close(g.idle) })
	}
}
