package delivery

import (
	"context"
	"time"

	"github.com/postrider/postrider/runtime/db"
)

// undoSQL gives claimed recipients back to the queue as if nobody had claimed them: the
// attempt row goes, and so does its number. Recipients are due after the wait $3, in the
// lane that $4 names for each ("": the common queue), or held where somebody holds them.
// The fence goes up, so that an undo that is repeated changes nothing.
const undoSQL = `
WITH back AS (
	UPDATE recipients r SET due_at = now() + $3 * interval '1 microsecond', attempts = r.attempts - 1, fence = r.fence + 1,
		lane = CASE WHEN r.held_by IS NULL THEN NULLIF(v.lane, '') END
	FROM unnest($1::bigint[], $2::bigint[], $4::text[]) AS v (id, fence, lane)
	WHERE r.id = v.id AND r.fence = v.fence AND r.due_at IS NOT NULL
	RETURNING r.id, v.fence
)
DELETE FROM attempts a USING back WHERE a.recipient_id = back.id AND a.fence = back.fence`

// undo takes claims back whose attempts were not made. Lanes has the lane of each job, or
// is nil for the common queue. Jobs whose claim is over stay as they are.
func undo(ctx context.Context, tx db.Execer, jobs []Job, wait time.Duration, lanes []string) error {
	if len(jobs) == 0 {
		return nil
	}
	if lanes == nil {
		lanes = make([]string, len(jobs))
	}
	ids, fences := fencing(jobs)
	_, err := tx.ExecContext(ctx, undoSQL, ids, fences, wait.Microseconds(), db.Array(lanes))
	return err
}
