package delivery

import (
	"context"
	"time"

	"github.com/postrider/postrider/modules/sending/lifecycle"
	"github.com/postrider/postrider/runtime/storage/db"
)

// undoSQL returns claimed recipients to the queue as if they had not been claimed: the attempt row is deleted
// and its number is free again. Recipients become due after the wait $4, or without a wait at the time $6
// from before the claim, so that they keep their place. They go to the lane that $5 names for each ("": the
// common queue), or stay held if they are held. The fence increases, so that a repeated undo changes nothing.
const undoSQL = `
WITH back AS (
	UPDATE recipients r SET due_at = CASE WHEN $4 > 0 THEN now() + $4 * interval '1 microsecond' ELSE least(now(), timestamptz 'epoch' + v.due * interval '1 microsecond') END,
		attempts = r.attempts - 1, fence = r.fence + 1, lane = CASE WHEN r.held_by IS NULL THEN NULLIF(v.lane, '') END
	FROM unnest($1::text[], $2::bigint[], $3::bigint[], $5::text[], $6::bigint[]) AS v (email_id, id, fence, lane, due)
	WHERE ` + lifecycle.RecipientSQL + ` AND r.fence = v.fence AND r.due_at IS NOT NULL
	RETURNING r.email_id, r.id, v.fence
)
DELETE FROM attempts a USING back WHERE a.email_id BETWEEN back.email_id AND back.email_id AND a.recipient_id = back.id AND a.fence = back.fence`

// undoClaims undoes claims whose attempts were not made. Lanes names the lane of each job; nil means the common
// queue. Jobs whose claim is over stay as they are.
func undoClaims(ctx context.Context, tx db.Execer, jobs []Job, wait time.Duration, lanes []string) error {
	if len(jobs) == 0 {
		return nil
	}
	if lanes == nil {
		lanes = make([]string, len(jobs))
	}
	due := make([]int64, len(jobs))
	for i, j := range jobs {
		due[i] = j.due
	}
	emails, ids, fences := fencingArgs(jobs)
	_, err := tx.ExecContext(ctx, undoSQL, emails, ids, fences, wait.Microseconds(), db.Array(lanes), db.Array(due))
	return err
}
