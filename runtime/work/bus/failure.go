package bus

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/event"
)

// failure is a failed call of a handler.
type failure struct {
	delivery
	fact event.Fact
	err  error
}

const (
	delayMessage = `
UPDATE bus_messages SET failures = failures + 1, last_error = $3, due_at = now() + $4::bigint * interval '1 microsecond'
WHERE consumer = $1 AND "offset" = $2`

	leaveMessage = `
UPDATE bus_messages SET due_at = now() + interval '5 seconds' WHERE consumer = $1 AND "offset" = $2`

	poisonMessage = `
WITH message AS (DELETE FROM bus_messages WHERE consumer = $1 AND "offset" = $2 RETURNING consumer, fact_id, failures, created_at),
before AS (DELETE FROM bus_poison p USING message m WHERE p.consumer = m.consumer AND p.fact_id = m.fact_id)
INSERT INTO bus_poison (consumer, fact_id, failures, error, published_at)
SELECT consumer, fact_id, failures + 1, $3, created_at FROM message`
)

// postponeFailed undoes the handler's writes and postpones its message within the batch. If that fails too,
// the batch is lost, and the message is postponed after the rollback.
func (g *group) postponeFailed(ctx context.Context, current *batch, f failure) {
	// The handler's context may have ended, which must not affect the rest of the batch.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), g.options.HandlerTimeout)
	defer cancel()
	if _, err := current.tx.ExecContext(ctx, "ROLLBACK TO SAVEPOINT handler"); err != nil {
		current.markBroken(fmt.Errorf("undo handler: %w", err), &f)
		return
	}
	report, err := g.postponeMessage(ctx, current.tx, f)
	if err != nil {
		current.markBroken(fmt.Errorf("postpone message: %w", err), &f)
		return
	}
	current.returnDelivery(f.delivery, false, report)
}

// postponeMessage makes the message due later or, if it has failed too often, sets it aside. It returns a function
// that reports this after the commit.
func (g *group) postponeMessage(ctx context.Context, tx db.Execer, f failure) (report func(), err error) {
	reason := toStorableText(f.err.Error())
	failures := f.failures + 1
	if failures >= g.options.PoisonAfter {
		_, err = tx.ExecContext(ctx, poisonMessage, g.name, f.offset, reason)
	} else {
		wait := g.options.Retry.Delay(failures)
		_, err = tx.ExecContext(ctx, delayMessage, g.name, f.offset, reason, wait.Microseconds())
		g.scheduleRetry(wait)
	}
	if err != nil {
		return nil, err
	}
	return func() { g.reportFailure(f, failures) }, nil
}

func (g *group) reportFailure(f failure, failures int) {
	g.metrics.failed.Inc()
	log := g.log.With(telemetry.KeyFactID, f.fact.ID, telemetry.KeyEvent, f.fact.Type, telemetry.KeyAccountID,
		f.fact.AccountID,
		"failures", failures, telemetry.KeyError, f.err)
	if failures < g.options.PoisonAfter {
		log.Warn("bus: handler failed, message postponed")
		return
	}
	g.metrics.poisoned.Inc()
	log.Error("bus: handler failed too often, message moved to bus_poison")
}

// skipUnknown skips a message of a type that this version does not know: during an upgrade it is for a newer
// replica.
func (g *group) skipUnknown(ctx context.Context, current *batch, d delivery) {
	if _, err := current.tx.ExecContext(ctx, leaveMessage, g.name, d.offset); err != nil {
		current.markBroken(err, nil)
		return
	}
	current.returnDelivery(d, false, nil)
}

// scheduleRetry makes the group read again when its own failed message is due. Replicas that did not see the
// failure find it by polling, and so does this one if there are too many.
func (g *group) scheduleRetry(wait time.Duration) {
	const enough = 256
	g.retryMu.Lock()
	defer g.retryMu.Unlock()
	if len(g.retries) < enough {
		g.retries = append(g.retries, time.Now().Add(wait))
	}
}

// timeUntilRetry returns the time until the first of them, and forgets it along with all that are due at the
// same time.
func (g *group) timeUntilRetry() (time.Duration, bool) {
	g.retryMu.Lock()
	defer g.retryMu.Unlock()
	if len(g.retries) == 0 {
		return 0, false
	}
	first := slices.MinFunc(g.retries, time.Time.Compare)
	wait := time.Until(first)
	if wait <= 0 {
		now := time.Now()
		g.retries = slices.DeleteFunc(g.retries, func(at time.Time) bool { return !at.After(now) })
	}
	return max(0, wait), true
}

// toStorableText returns an error text that PostgreSQL can store.
func toStorableText(text string) string {
	const longest = 2000
	text = strings.ReplaceAll(text, "\x00", "\ufffd")
	if len(text) > longest {
		text = text[:longest] + "…"
	}
	return strings.ToValidUTF8(text, "\ufffd")
}

const requeue = `
WITH again AS (UPDATE bus_poison SET requeued_at = now() WHERE consumer = $1 AND requeued_at IS NULL RETURNING consumer, fact_id, error)
INSERT INTO bus_messages (consumer, fact_id, last_error) SELECT consumer, fact_id, error FROM again`

// Requeue returns all messages that were set aside to a group, after its handler is fixed, and returns their
// number. Their rows of bus_poison are deleted when they are handled; until then the catch-up recreates a
// lost message.
func (b *Bus) Requeue(ctx context.Context, group string) (int64, error) {
	result, err := b.db.SQL.ExecContext(ctx, requeue, group)
	if err != nil {
		return 0, fmt.Errorf("requeue poison of %s: %w", group, err)
	}
	b.Wake()
	n, err := result.RowsAffected()
	if err != nil {
		return 0, fmt.Errorf("requeue poison of %s: %w", group, err)
	}
	return n, nil
}
