package webhooks

import (
	"context"
	"database/sql"
	"fmt"
)

// handBackNodeSQL makes deliveries claimed by a dead node due again. A claimed row is due when its lease ends,
// so all of them are among the rows due within the next minute. Whether the endpoint received an attempt is
// unknown. The fencing number rises, so that the node cannot store an outcome if it is alive after all.
const handBackNodeSQL = waitingSQL + `, held AS (
	SELECT q.id, a.id AS attempt FROM waiting w JOIN webhook_works q ON q.webhook_id = w.webhook_id
	JOIN webhook_attempts a ON a.delivery_id = q.id AND a.fence = q.fence
	WHERE q.due_at > now() AND q.due_at <= now() + interval '1 minute' AND a.outcome IS NULL AND a.node = $1
	ORDER BY q.id FOR UPDATE OF q SKIP LOCKED
), closed AS (
	UPDATE webhook_attempts a SET outcome = 'unknown', finished_at = now() FROM held WHERE a.id = held.attempt
), back AS (
	UPDATE webhook_works q SET due_at = now(), fence = q.fence + 1 FROM held WHERE q.id = held.id RETURNING 1
)
SELECT count(*) FROM back`

// handBackNode makes the deliveries of a dead node due again and returns their number.
func (s *deliverer) handBackNode(ctx context.Context, gone int32) (count int64, err error) {
	err = s.db.InHotTx(ctx, func(tx *sql.Tx) error {
		first, err := interruptClaims(ctx, tx, claimsOfNodeSQL, gone)
		if err != nil {
			return err
		}
		err = tx.QueryRowContext(ctx, handBackNodeSQL, gone).Scan(&count)
		count += first
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("release webhook deliveries of node %d: %w", gone, err)
	}
	if count > 0 {
		s.signals.Wake(deliveryChannel)
	}
	return count, nil
}
