package bodies

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/postrider/postrider/modules/sending/lifecycle"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/batch"
)

// result is the outcome of one move.
type result = worker.Result[move, movedBody]

// Emails are locked before moves, in id order, like deletions do.
const lockEmailsSQL = `SELECT id FROM emails WHERE id = ANY($1) ORDER BY id FOR UPDATE`

// settleSQL stores the results of moves, each under its fencing number. It raises the fence, so that a batch
// whose commit was not confirmed can be repeated. It schedules the deletion of objects that are no longer
// wanted, or that an earlier attempt may have written.
var settleSQL = db.Compile(`
WITH v AS (
	SELECT * FROM ` + resultRows.Source() + `
), held AS MATERIALIZED (
	SELECT m.id, m.remove, m.attempts, m.position FROM body_moves m JOIN v ON v.id = m.id AND v.fence = m.fence ORDER BY m.id FOR UPDATE OF m
), kept AS (
	UPDATE emails e SET body_key = v.key, body_size = v.size, body_snippet = NULLIF(v.snippet, ''), html = NULL, text = NULL, mime = NULL
	FROM v JOIN held h ON h.id = v.id
	WHERE e.id = v.email_id AND v.outcome = 'stored' AND NOT h.remove AND h.position IS NULL
		AND e.status = ANY(@finished::text[]) AND e.body_purged_at IS NULL AND e.body_key IS NULL
	RETURNING v.id
), files AS (
	UPDATE attachments a SET object_key = v.key, data = ''
	FROM v JOIN held h ON h.id = v.id JOIN emails e ON e.id = v.email_id
	WHERE a.email_id = v.email_id AND a.position = h.position AND v.outcome = 'stored' AND NOT h.remove
		AND e.status = ANY(@finished::text[]) AND e.body_purged_at IS NULL AND a.object_key IS NULL
	RETURNING v.id
), gone AS (
	DELETE FROM body_moves m USING v JOIN held h ON h.id = v.id
	WHERE m.id = h.id AND (v.outcome = 'removed' OR v.outcome = 'nothing' AND h.attempts <= 1 OR v.outcome = 'stored' AND v.id IN (SELECT id FROM kept UNION ALL SELECT id FROM files))
	RETURNING m.id
)
UPDATE body_moves m SET fence = m.fence + 1,
	remove = m.remove OR v.outcome IN ('stored', 'nothing'),
	attempts = CASE WHEN v.outcome = 'failed' THEN m.attempts ELSE 0 END,
	due_at = CASE v.outcome WHEN 'failed' THEN now() + v.wait * interval '1 microsecond'
		WHEN 'unfinished' THEN greatest(now(), (SELECT e.scheduled_at FROM emails e WHERE e.id = m.email_id)) + ` + unfinishedSQL("m") + `
		ELSE now() + interval '1 minute' END
FROM v JOIN held h ON h.id = v.id WHERE m.id = h.id AND m.id NOT IN (SELECT id FROM gone)`)

var resultRows = batch.New("v",
	batch.Int("id", func(r result) int64 { return r.Job.id }),
	batch.Int("fence", func(r result) int64 { return r.Job.fence }),
	batch.Text("email_id", func(r result) string { return r.Job.emailID }),
	batch.Text("key", func(r result) string { return r.Job.key }),
	batch.Text("outcome", func(r result) outcome { return r.Value.outcome }),
	batch.Int("wait", func(r result) int64 { return moveWait.Delay(r.Job.attempts).Microseconds() }),
	batch.Int("size", func(r result) int64 { return r.Value.size }),
	batch.Text("snippet", func(r result) string { return r.Value.snippet }),
)

// moveWait returns the backoff of a single move. Outages of the store have a separate one.
var moveWait = worker.Backoff{Min: 5 * time.Second, Max: 10 * time.Minute}

func (s *Service) settleMoves(ctx context.Context, results []result) error {
	var written []string
	for _, r := range results {
		if r.Value.outcome == stored {
			written = append(written, r.Job.emailID)
		}
	}
	err := s.db.InHotTx(ctx, func(tx *sql.Tx) error {
		if len(written) > 0 {
			if _, err := tx.ExecContext(ctx, lockEmailsSQL, db.Array(written)); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, settleSQL.Text,
			settleSQL.Args(resultRows.Rows(results), db.Arg("finished", db.Array(lifecycle.FinishedStatuses())))...)
		return err
	})
	if err != nil {
		return fmt.Errorf("store the results of body moves: %w", err)
	}
	return nil
}
