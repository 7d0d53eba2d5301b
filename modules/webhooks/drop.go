package webhooks

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/postrider/postrider/runtime/storage/db"
)

// dueOrStartedSQL matches work q that was due before $1, or whose attempt started before $1 and had no stored
// outcome by then. A database restored to a point in time contains the claims of that time. They become due
// when their leases end or when they are released.
const dueOrStartedSQL = `(q.due_at < $1 OR EXISTS (SELECT FROM webhook_attempts a WHERE a.delivery_id = q.id
	AND a.started_at < $1 AND (a.outcome IS NULL OR a.outcome = 'unknown' AND a.finished_at >= $1)))`

const countDueSQL = `SELECT (SELECT count(*) FROM webhook_works q WHERE ` + dueOrStartedSQL + `)
	+ (SELECT count(*) FROM ` + firstAttemptsSQL + ` WHERE f.started_at < $1)`

// CountDue counts the deliveries of all accounts that are due before a time.
func (s *Service) CountDue(ctx context.Context, before time.Time) (int, error) {
	n, err := db.One(ctx, s.db.SQL, db.Value[int], countDueSQL, before)
	if err != nil {
		return 0, fmt.Errorf("count webhook deliveries: %w", err)
	}
	return n, nil
}

// dropDueSQL fails at most $3 deliveries that are due before $1. It marks their endpoints as changed, so that
// these failures disable none of them.
const dropDueSQL = `
WITH due AS (
	SELECT id FROM webhook_works q WHERE ` + dueOrStartedSQL + ` ORDER BY id LIMIT $3 FOR UPDATE SKIP LOCKED
), over AS (
	DELETE FROM webhook_works q USING due WHERE q.id = due.id
), ended AS (
	UPDATE webhook_deliveries d SET state = 'failed', failed = true, due_at = NULL, settled_at = now(), error = $2
	FROM due WHERE d.id = due.id RETURNING d.webhook_id
), spared AS (
	UPDATE webhooks w SET updated_at = clock_timestamp() WHERE w.id IN (SELECT webhook_id FROM ended)
)
SELECT count(*) FROM ended`

const dropStep = 1000

// DropDue fails the deliveries of all accounts that are due before a time and stores the reason in their log.
// They can be replayed.
func (s *Service) DropDue(ctx context.Context, before time.Time, reason string) (dropped int, err error) {
	err = s.db.InHotTx(ctx, func(tx *sql.Tx) error {
		_, err := interruptClaims(ctx, tx, claimsBeforeSQL, before)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("drop webhook deliveries: %w", err)
	}
	for {
		n, err := db.One(ctx, s.db.SQL, db.Value[int], dropDueSQL, before, reason, dropStep)
		if err != nil {
			return dropped, fmt.Errorf("drop webhook deliveries: %w", err)
		}
		dropped += n
		if n < dropStep {
			return dropped, nil
		}
	}
}
