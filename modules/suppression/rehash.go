package suppression

import (
	"context"
	"fmt"
	"time"

	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Rows are stored under the hash of the first key. After a key rotation, older rows are rehashed when their
// address is used again, even if it was erased, and otherwise by a pass at startup.

// tables are the tables with hashes, and the columns that are unique together with the hash and the account.
var tables = []struct{ move, drop, pass string }{
	{
		move: `
UPDATE suppressions s SET address_hash = v.fresh FROM unnest($2::bytea[], $3::bytea[]) AS v (older, fresh)
WHERE s.account_id = $1 AND s.address_hash = v.older
  AND NOT EXISTS (SELECT 1 FROM suppressions held WHERE held.account_id = $1 AND held.address_hash = v.fresh)`,
		drop: `
DELETE FROM suppressions s USING unnest($2::bytea[], $3::bytea[]) AS v (older, fresh)
WHERE s.account_id = $1 AND s.address_hash = v.older
  AND EXISTS (SELECT 1 FROM suppressions held WHERE held.account_id = $1 AND held.address_hash = v.fresh)`,
		pass: `SELECT id, account_id, email FROM suppressions WHERE id > $1 AND email IS NOT NULL ORDER BY id LIMIT $2`,
	},
	{
		move: `
UPDATE category_opt_outs o SET address_hash = v.fresh FROM unnest($2::bytea[], $3::bytea[]) AS v (older, fresh)
WHERE o.account_id = $1 AND o.address_hash = v.older
  AND NOT EXISTS (SELECT 1 FROM category_opt_outs held
                  WHERE held.account_id = $1 AND held.address_hash = v.fresh AND held.category = o.category)`,
		drop: `
DELETE FROM category_opt_outs o USING unnest($2::bytea[], $3::bytea[]) AS v (older, fresh)
WHERE o.account_id = $1 AND o.address_hash = v.older
  AND EXISTS (SELECT 1 FROM category_opt_outs held
              WHERE held.account_id = $1 AND held.address_hash = v.fresh AND held.category = o.category)`,
		pass: `SELECT id, account_id, email FROM category_opt_outs WHERE id > $1 AND email IS NOT NULL ORDER BY id LIMIT $2`,
	},
}

// renew rehashes the rows of addresses under the first key. If two processes with different keys stored the same
// row twice, one of them is deleted.
func (s *Service) renew(ctx context.Context, tx db.Execer, accountID string, entries []entry) error {
	for _, key := range s.hashes.keys[1:] {
		var older, fresh [][]byte
		for _, e := range entries {
			older, fresh = append(older, s.hashes.hashWith(key, e.email)), append(fresh, s.hashes.newHash(e.email))
		}
		for _, t := range tables {
			for _, query := range []string{t.move, t.drop} {
				if _, err := tx.ExecContext(ctx, query, accountID, db.Array(older), db.Array(fresh)); err != nil {
					return fmt.Errorf("rehash addresses: %w", err)
				}
			}
		}
	}
	return nil
}

// passBatch keeps the statements of the pass short while traffic continues.
const passBatch = 500

// passRetry is the pause after a failed pass. Each pass starts at the first row.
var passRetry = worker.Backoff{Min: time.Minute, Max: time.Hour}

// renewAll rehashes all rows. It reads both tables completely, and runs only while several keys are configured.
func (s *Service) renewAll(ctx context.Context) error {
	for _, t := range tables {
		for after := ""; ; {
			last, n, err := s.renewBatch(ctx, t.pass, after)
			if err != nil {
				return fmt.Errorf("rehash addresses: %w", err)
			}
			if after = last; n < passBatch {
				break
			}
		}
	}
	return nil
}

func (s *Service) renewBatch(ctx context.Context, pass, after string) (last string, n int, err error) {
	type row struct{ id, accountID, email string }
	found, err := db.All(ctx, s.db.SQL, func(r *row) []any { return []any{&r.id, &r.accountID, &r.email} }, pass,
		after, passBatch)
	if err != nil || len(found) == 0 {
		return "", 0, err
	}
	byAccount := map[string][]entry{}
	for _, r := range found {
		byAccount[r.accountID] = append(byAccount[r.accountID], entry{email: r.email})
	}
	for accountID, entries := range byAccount {
		if err := s.renew(ctx, s.db.SQL, accountID, entries); err != nil {
			return "", 0, err
		}
	}
	return found[len(found)-1].id, len(found), nil
}

// Start starts the pass if several keys are configured.
func (s *Service) Start(context.Context) error {
	if len(s.hashes.keys) > 1 {
		s.tasks.Start(worker.Task{Name: "rehash of addresses", Retry: passRetry,
			Step: func(ctx context.Context) (time.Duration, error) {
				if err := s.renewAll(ctx); err != nil {
					return passRetry.Max, err
				}
				s.log.Info("all known suppressed addresses are hashed under the first master key")
				return worker.UntilWoken, nil
			}})
	}
	return nil
}

// Stop stops the pass.
func (s *Service) Stop(ctx context.Context) error {
	s.tasks.Stop(ctx)
	return nil
}
