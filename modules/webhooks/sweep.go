package webhooks

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/months"
)

// sweepBatch keeps a sweep's transactions short beside the traffic.
const sweepBatch = 500

// monthWaits is how long a month has been over whose deliveries are deleted one by one after all: where the
// processes may not drop it, say.
const monthWaits = gone + 9*24*time.Hour

// Sweep deletes deliveries whose events are 31 days old, by the database's clock, with their
// attempts. Those that still wait, for an endpoint that is switched off, go too. In a table that is split by month
// the rows of deliveries lie until their month goes (unneeded).
func (s *Service) Sweep(ctx context.Context) (swept int64, err error) {
	// Work that a process holds stays, and its delivery with it.
	const (
		workSQL = `
DELETE FROM webhook_works WHERE id IN (SELECT id FROM webhook_works WHERE id < $1 ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED)`
		deliveriesSQL = `
DELETE FROM webhook_deliveries WHERE id IN (
	SELECT id FROM webhook_deliveries d WHERE id < $1 AND NOT EXISTS (SELECT FROM webhook_works q WHERE q.id = d.id) ORDER BY id LIMIT $2 FOR UPDATE OF d SKIP LOCKED)`
		attemptsSQL = `
DELETE FROM webhook_attempts WHERE id IN (SELECT id FROM webhook_attempts WHERE delivery_id < $1 ORDER BY delivery_id LIMIT $2 FOR UPDATE SKIP LOCKED)`
	)
	now, err := db.Now(ctx, s.db.SQL)
	if err != nil {
		return 0, fmt.Errorf("sweep webhook deliveries: %w", err)
	}
	split, err := months.Split(ctx, s.db.SQL, deliveriesTable)
	if err != nil {
		return 0, fmt.Errorf("sweep webhook deliveries: %w", err)
	}
	before := id.Since(id.WebhookDelivery, now.Add(-gone))
	rows := before
	if split {
		rows = id.Since(id.WebhookDelivery, months.Begin(now.Add(-monthWaits)))
	}
	for _, old := range []struct{ statement, before string }{{workSQL, before}, {deliveriesSQL, rows}, {attemptsSQL, before}} {
		n, err := s.sweep(ctx, old.statement, old.before)
		if err != nil {
			return swept, fmt.Errorf("sweep webhook deliveries: %w", err)
		}
		if old.statement == deliveriesSQL {
			swept = n
		}
	}
	return swept, nil
}

func (s *Service) sweep(ctx context.Context, statement, before string) (swept int64, err error) {
	for {
		n, err := db.Exec(ctx, s.db.SQL, statement, before, sweepBatch)
		if err != nil {
			return swept, err
		}
		if swept += int64(n); n < sweepBatch {
			return swept, nil
		}
	}
}

const deliveriesTable = "webhook_deliveries"

// unneeded says of a month of deliveries that nobody reads it any more: all accounts keep them for the same time, and
// nothing hangs on a row that is not deleted by itself.
func unneeded() months.Unneeded {
	return months.Unneeded{Table: deliveriesTable, Ask: func(ctx context.Context, on db.Execer, below string, now time.Time) (bool, error) {
		if below > id.Since(id.WebhookDelivery, now.Add(-gone)) {
			return false, nil
		}
		waits, err := db.One(ctx, on, db.Value[bool], `SELECT EXISTS (SELECT FROM webhook_works WHERE id < $1)`, below)
		return err == nil && !waits, err
	}}
}

// eraseSQL forgets a person. An answer may repeat what it was told, in whatever
// spelling, so the answers to all events that name the address, or are about one of
// the emails, or are gone, are dropped.
const eraseSQL = `
WITH tests AS (
	UPDATE webhook_deliveries SET data = NULL WHERE account_id = $1 AND data IS NOT NULL AND strpos(lower(data::text), $2) > 0 RETURNING id
)
UPDATE webhook_attempts a SET response = '' FROM webhook_deliveries d
WHERE a.account_id = $1 AND a.response <> '' AND d.id = a.delivery_id AND (
	strpos(lower(a.response), $2) > 0
	OR d.id IN (SELECT id FROM tests)
	OR (d.data IS NULL AND NOT EXISTS (SELECT 1 FROM facts f WHERE f.id = d.event_id))
	OR EXISTS (SELECT 1 FROM facts f WHERE f.id = d.event_id AND (f.subject_id = ANY($3) OR strpos(lower(f.data::text), $2) > 0))
)`

// Erase forgets an address of the account as a recipient, in test events and in the
// answers of endpoints. emailIDs are its emails, which facts may not name any more.
func (s *Service) Erase(ctx context.Context, accountID, address string, emailIDs []string) error {
	err := s.db.InTx(ctx, func(tx *ent.Tx) error {
		_, err := tx.ExecContext(ctx, eraseSQL, accountID, strings.ToLower(address), db.Array(emailIDs))
		return err
	})
	if err != nil {
		return fmt.Errorf("erase from webhook deliveries: %w", err)
	}
	return nil
}
