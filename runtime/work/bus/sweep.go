package bus

import (
	"context"
	"fmt"
	"time"

	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/telemetry"
)

// sweepBatch keeps a sweep's transactions short.
const sweepBatch = 500

const (
	sweepMessages = `
DELETE FROM bus_messages WHERE (consumer, "offset") IN (
  SELECT consumer, "offset" FROM bus_messages WHERE created_at < now() - $1::bigint * interval '1 second' LIMIT $2 FOR UPDATE SKIP LOCKED)`

	sweepPoison = `
DELETE FROM bus_poison WHERE id IN (
  SELECT id FROM bus_poison WHERE created_at < now() - $1::bigint * interval '1 second' ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED)`

	// Ids are ordered by time, so the primary key finds the oldest.
	sweepFacts = `
DELETE FROM facts WHERE id IN (
  SELECT id FROM facts WHERE id < $1
    AND NOT EXISTS (SELECT 1 FROM bus_messages m WHERE m.fact_id = facts.id)
    AND NOT EXISTS (SELECT 1 FROM bus_poison p WHERE p.fact_id = facts.id)
  ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED)`

	// The progress of active groups, at most $1. Other groups may never run again.
	selectReached = `SELECT least($1, min(until_id)) FROM bus_marks WHERE looked_at > now() - interval '1 hour'`

	selectMissed = `SELECT coalesce(string_agg(consumer, ', ' ORDER BY consumer), '') FROM bus_marks WHERE until_id < $1`
)

// Sweep deletes facts that are older than keep, and messages and poison that no consumer took in that time
// (because their module is disabled), in small transactions. It keeps facts that an active group has not
// handled. It returns the number of deleted facts.
func (b *Bus) Sweep(ctx context.Context, keep time.Duration) (facts int64, err error) {
	if keep <= 0 {
		return 0, fmt.Errorf("sweep facts: keeping them for %s would delete all", keep)
	}
	seconds := int64(keep.Seconds())
	if n, err := b.deleteInBatches(ctx, sweepMessages, seconds); err != nil {
		return 0, fmt.Errorf("sweep messages: %w", err)
	} else if n > 0 {
		b.log.Warn("bus: deleted old messages without a consumer", "messages", n, "older_than", keep)
	}
	if _, err := b.deleteInBatches(ctx, sweepPoison, seconds); err != nil {
		return 0, fmt.Errorf("sweep poison: %w", err)
	}
	if facts, err = b.sweepFacts(ctx, keep); err != nil {
		return facts, fmt.Errorf("sweep facts: %w", err)
	}
	return facts, nil
}

func (b *Bus) sweepFacts(ctx context.Context, keep time.Duration) (facts int64, err error) {
	oldest, err := b.idBefore(ctx, keep)
	if err != nil {
		return 0, err
	}
	if err := b.db.SQL.QueryRowContext(ctx, selectReached, oldest).Scan(&oldest); err != nil {
		return 0, err
	}
	if facts, err = b.deleteInBatches(ctx, sweepFacts, oldest); err != nil || facts == 0 {
		return facts, err
	}
	var missed string
	if err := b.db.SQL.QueryRowContext(ctx, selectMissed, oldest).Scan(&missed); err != nil {
		return facts, err
	}
	if missed != "" {
		b.log.Warn("bus: deleted old facts that groups of disabled modules have not handled",
			"groups", missed, telemetry.KeyCount, facts, "older_than", keep)
	}
	return facts, nil
}

func (b *Bus) deleteInBatches(ctx context.Context, query string, bound any) (total int64, err error) {
	for {
		result, err := b.db.SQL.ExecContext(ctx, query, bound, sweepBatch)
		if err != nil {
			return total, err
		}
		n, err := result.RowsAffected()
		if err != nil {
			return total, err
		}
		if total += n; n < sweepBatch {
			return total, nil
		}
	}
}

// idBefore returns the smallest possible id of a fact of that age, by the database clock.
func (b *Bus) idBefore(ctx context.Context, age time.Duration) (string, error) {
	var now time.Time
	if err := b.db.SQL.QueryRowContext(ctx, "SELECT now()").Scan(&now); err != nil {
		return "", err
	}
	return id.Since(id.Fact, now.Add(-age)), nil
}
