package webhooks

import (
	"context"
	"fmt"
	"strings"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/id"
)

// sweepBatch keeps a sweep's transactions short beside the traffic.
const sweepBatch = 500

// Work that a process holds stays, and its delivery with it.
const (
	sweepWorkSQL = `
DELETE FROM webhook_works WHERE id IN (SELECT id FROM webhook_works WHERE id < $1 ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED) RETURNING id`
	sweepSQL = `
DELETE FROM webhook_deliveries WHERE id = ANY($3) OR id IN (
	SELECT id FROM webhook_deliveries WHERE id < $1 AND state <> 'pending' ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED) RETURNING id`
)

// Sweep deletes deliveries that are older than 30 days, by the database's clock, with
// their attempts. Those that still wait, for an endpoint that is switched off, go too.
func (s *Service) Sweep(ctx context.Context) (swept int64, err error) {
	now, err := db.Now(ctx, s.db.SQL)
	if err != nil {
		return 0, fmt.Errorf("sweep webhook deliveries: %w", err)
	}
	before := id.Since(id.WebhookDelivery, now.Add(-Kept))
	for {
		n := 0
		err := s.db.InTx(ctx, func(tx *ent.Tx) error {
			waiting, err := db.All(ctx, tx, db.Value[string], sweepWorkSQL, before, sweepBatch)
			if err != nil {
				return err
			}
			ids, err := db.All(ctx, tx, db.Value[string], sweepSQL, before, sweepBatch, db.Array(waiting))
			if err != nil {
				return err
			}
			n = len(ids)
			_, err = tx.ExecContext(ctx, `DELETE FROM webhook_attempts WHERE delivery_id = ANY($1)`, db.Array(ids))
			return err
		})
		if err != nil {
			return swept, fmt.Errorf("sweep webhook deliveries: %w", err)
		}
		if swept += int64(n); n < sweepBatch {
			return swept, nil
		}
	}
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
