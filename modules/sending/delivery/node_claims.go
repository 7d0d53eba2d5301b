package delivery

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/postrider/postrider/modules/sending/lifecycle"
)

// handBackClaimsSQL makes the recipients that a dead node had claimed due again. Claimed rows are due at the end
// of their lease, so it searches the rows due within the next minute. The fence increases: if the node is alive
// after all, its outcomes change nothing.
const handBackClaimsSQL = `
WITH held AS (
	SELECT r.email_id, r.id, r.fence FROM recipients r JOIN attempts a ON a.email_id BETWEEN r.email_id AND r.email_id AND a.recipient_id = r.id AND a.fence = r.fence
	WHERE r.due_at > now() AND r.due_at <= now() + interval '1 minute' AND r.lane IS NULL AND r.held_by IS NULL AND a.outcome IS NULL AND a.node = $1
	ORDER BY r.id FOR UPDATE OF r SKIP LOCKED
), closed AS (
	UPDATE attempts a SET ` + closeCutOffSQL + ` FROM held WHERE a.email_id BETWEEN held.email_id AND held.email_id AND a.recipient_id = held.id AND a.fence = held.fence
), back AS (
	UPDATE recipients r SET due_at = now(), fence = r.fence + 1 FROM held WHERE r.email_id BETWEEN held.email_id AND held.email_id AND r.id = held.id RETURNING 1
)
SELECT count(*) FROM back`

// handBackClaimsOf releases the deliveries of a dead node.
func (c *claimer) handBackClaimsOf(ctx context.Context, gone int32) (count int64, err error) {
	err = c.db.InHotTx(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, handBackClaimsSQL, gone).Scan(&count)
	})
	if err != nil {
		return 0, fmt.Errorf("release deliveries of node %d: %w", gone, err)
	}
	c.searchSoon()  // the node may have parked recipients that this process can deliver
	if count == 0 { // all its claims are released
		return 0, c.begun.forgetNode(ctx, gone)
	}
	c.signals.Wake(lifecycle.DueChannel)
	return count, nil
}
