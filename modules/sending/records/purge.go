package records

import (
	"context"
	"fmt"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/attempt"
	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Sent mail is kept for as long as its account wants; bodies and records have separate limits. Unsent mail is
// never deleted: only emails in a final status are considered, and their age counts from the sending.

// done are the final statuses.
const done = `('delivered', 'bounced', 'failed', 'cancelled')`

// ended is the time from which the age of an email counts.
const ended = `coalesce(sent_at, cancelled_at, scheduled_at, created_at)`

// DetailLevel is the part of an email that an age limit applies to.
type DetailLevel int

// Parts with separate age limits.
const (
	Records DetailLevel = iota // the whole email
	Bodies                     // html, text, the relayed message, custom headers and attachments
)

const expiredSQL = `
SELECT id, status IN ` + done + ` AND ` + ended + ` < $4 AND (body_purged_at IS NULL OR NOT $6::bool)
FROM (SELECT id, status, sent_at, cancelled_at, scheduled_at, created_at, body_purged_at FROM emails
	WHERE account_id = $1 AND id > $2 AND id < $3 ORDER BY id LIMIT $5) e ORDER BY id`

// ListExpired examines up to limit emails of the account after the id `after` that were created before the
// cutoff, and returns those that ended before it. last is where the next call continues; it is empty when
// there are no more.
func (s *Service) ListExpired(ctx context.Context, accountID string, keep DetailLevel, after string, cutoff time.Time,
	limit int) (ids []string, last string, err error) {
	type row struct {
		id  string
		old bool
	}
	rows, err := db.All(ctx, s.db.SQL, func(r *row) []any { return []any{&r.id, &r.old} }, expiredSQL, accountID, after,
		id.Since(id.Email, cutoff), cutoff.UTC(), limit, keep == Bodies)
	if err != nil {
		return nil, "", fmt.Errorf("find expired emails: %w", err)
	}
	for _, r := range rows {
		if r.old {
			ids = append(ids, r.id)
		}
	}
	if len(rows) == limit {
		last = rows[len(rows)-1].id
	}
	return ids, last, nil
}

const expiredLateSQL = `
(SELECT id FROM emails WHERE scheduled_at IS NOT NULL AND sent_at < $2 AND account_id = $1
	AND status IN ` + done + ` AND (body_purged_at IS NULL OR NOT $4::bool) LIMIT $3)
UNION
(SELECT id FROM emails WHERE account_id = $1 AND uncommon IN ('cancelled', 'failed') AND scheduled_at IS NOT NULL
	AND ` + ended + ` < $2 AND (body_purged_at IS NULL OR NOT $4::bool) LIMIT $3)`

// ExpiredLate returns up to limit scheduled emails of the account that ended before the cutoff. They may have
// been created so long before that Expired has already passed them.
func (s *Service) ExpiredLate(ctx context.Context, accountID string, keep DetailLevel, cutoff time.Time,
	limit int) ([]string, error) {
	ids, err := db.All(ctx, s.db.SQL, db.Value[string], expiredLateSQL, accountID, cutoff.UTC(), limit, keep == Bodies)
	if err != nil {
		return nil, fmt.Errorf("find expired scheduled emails: %w", err)
	}
	return ids, nil
}

const (
	lockBodiesSQL  = `SELECT id FROM emails WHERE account_id = $1 AND id = ANY($2) AND status IN ` + done + ` AND body_purged_at IS NULL ORDER BY id FOR UPDATE`
	purgeBodiesSQL = `
WITH files AS (DELETE FROM attachments WHERE email_id = ANY($1))
UPDATE emails SET html = NULL, text = NULL, mime = NULL, body_key = NULL, body_size = NULL, body_snippet = NULL, headers = '[]', body_purged_at = now() WHERE id = ANY($1)`
)

// PurgeBodies deletes html, text, custom headers and attachments of emails. Unsent emails keep theirs.
func (s *Service) PurgeBodies(ctx context.Context, accountID string, emailIDs []string) (purged int, err error) {
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		ids, err := db.All(ctx, tx, db.Value[string], lockBodiesSQL, accountID, db.Array(emailIDs))
		if err != nil || len(ids) == 0 {
			return err
		}
		if err := s.forgetObjects(ctx, tx, accountID, ids...); err != nil {
			return err
		}
		purged = len(ids)
		_, err = tx.ExecContext(ctx, purgeBodiesSQL, db.Array(ids))
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("purge bodies: %w", err)
	}
	return purged, nil
}

// Delete deletes emails of the account with their recipients, attempts, attachments and facts. Unsent emails
// stay.
func (s *Service) Delete(ctx context.Context, accountID string, emailIDs []string) (deleted int, err error) {
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		ids, err := tx.Email.Query().Where(email.AccountID(accountID), email.IDIn(emailIDs...),
			email.StatusIn(email.StatusDelivered, email.StatusBounced, email.StatusFailed, email.StatusCancelled)).
			Order(email.ByID()).ForUpdate().IDs(ctx)
		if err != nil || len(ids) == 0 {
			return err
		}
		deleted = len(ids)
		return s.deleteLocked(ctx, tx, accountID, ids)
	})
	if err != nil {
		return 0, fmt.Errorf("delete emails: %w", err)
	}
	return deleted, nil
}

// deleteLocked deletes emails whose rows are locked; recipients and attachments are deleted with them.
func (s *Service) deleteLocked(ctx context.Context, tx *ent.Tx, accountID string, ids []string) error {
	if s.counts != nil {
		if err := s.counts.Keep(ctx, tx, accountID, ids...); err != nil {
			return err
		}
	}
	if err := s.forgetObjects(ctx, tx, accountID, ids...); err != nil {
		return err
	}
	if _, err := tx.Attempt.Delete().Where(attempt.AccountID(accountID), attempt.EmailIDIn(ids...)).
		Exec(ctx); err != nil {
		return err
	}
	if _, err := tx.Email.Delete().Where(email.AccountID(accountID), email.IDIn(ids...)).Exec(ctx); err != nil {
		return err
	}
	if err := s.usage.KeepUsage(ctx, tx, accountID, ids...); err != nil {
		return err
	}
	_, err := s.bus.Forget(ctx, tx, accountID, ids...)
	return err
}
