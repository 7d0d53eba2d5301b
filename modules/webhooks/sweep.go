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

// sweepBatch keeps the transactions of a sweep short.
const sweepBatch = 500

// monthWaits is how long after the end of a month its deliveries are deleted row by row, for example because
// the processes may not drop the partition.
const monthWaits = deleteAfter + 9*24*time.Hour

// Sweep deletes deliveries with their attempts once their events are more than 31 days old by the database
// clock. This includes deliveries that are still pending because their endpoint is disabled. If the table is
// split by month, the rows remain until their month is dropped (unneededMonths).
func (s *Service) Sweep(ctx context.Context) (swept int64, err error) {
	// Rows locked by a claim are skipped, and so are their deliveries.
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
	before := id.Since(id.WebhookDelivery, now.Add(-deleteAfter))
	rows := before
	if split {
		rows = id.Since(id.WebhookDelivery, months.Begin(now.Add(-monthWaits)))
	}
	for _, old := range []struct{ statement, before string }{{workSQL, before}, {deliveriesSQL, rows},
		{attemptsSQL, before}} {
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

// unneededMonths reports whether a month of deliveries can be dropped. All accounts have the same retention,
// and rows that refer to a delivery are deleted separately.
func unneededMonths() months.DropRule {
	return months.DropRule{Table: deliveriesTable,
		Ask: func(ctx context.Context, on db.Execer, below string, now time.Time) (bool, error) {
			if below > id.Since(id.WebhookDelivery, now.Add(-deleteAfter)) {
				return false, nil
			}
			waits, err := db.One(ctx, on, db.Value[bool], `SELECT EXISTS (SELECT FROM webhook_works WHERE id < $1)`, below)
			return err == nil && !waits, err
		}}
}

// eraseSQL erases a person. A response may quote the event in any form. Therefore the responses to all events
// that contain the address, concern one of the emails, or no longer exist are deleted.
const eraseSQL = `
WITH tests AS (
	UPDATE webhook_deliveries SET data = NULL WHERE account_id = $1 AND data IS NOT NULL AND strpos(lower(data::text), $2) > 0 RETURNING id
)
UPDATE webhook_attempts a SET response = '', response_headers = NULL FROM webhook_deliveries d
WHERE a.account_id = $1 AND (a.response <> '' OR a.response_headers IS NOT NULL) AND d.id = a.delivery_id AND (
	strpos(lower(a.response), $2) > 0
	OR strpos(lower(a.response_headers), $2) > 0
	OR d.id IN (SELECT id FROM tests)
	OR (d.data IS NULL AND NOT EXISTS (SELECT 1 FROM facts f WHERE f.id = d.event_id))
	OR EXISTS (SELECT 1 FROM facts f WHERE f.id = d.event_id AND (f.subject_id = ANY($3) OR strpos(lower(f.data::text), $2) > 0))
)`

// Erase erases an address from the account's test events and from the responses of endpoints. emailIDs are
// the emails of the recipient, which facts may no longer name.
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
