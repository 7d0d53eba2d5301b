package inbound

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/storage/blob"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/batch"
)

// move is a claimed content to upload to the object store or delete from it. A content that is due is uploaded
// if it has data; otherwise its object is deleted. The object's key is stored before the first byte is
// uploaded, so that no object is forgotten.
type move struct {
	id       int64
	fence    int64
	size     int64
	key      string
	remove   bool // delete the object
	attempts int
}

// moveResult is the result of a move. A nil error means success.
type moveResult struct{ err error }

const (
	moveLease       = 5 * time.Minute // long enough to upload 32 MB at 4 Mbit/s and read it back
	concurrentMoves = 2
)

// mover moves contents to the object store and deletes objects.
type mover struct {
	*contentReader

	log    *slog.Logger
	worker *worker.Worker[move, moveResult]
}

func newMover(c *contentReader, log *slog.Logger, metrics *worker.Metrics) *mover {
	v := &mover{contentReader: c, log: log}
	v.worker = worker.New(worker.Queue[move, moveResult]{Name: "received contents", Claim: v.claim, Run: v.run,
		Settle: v.settle},
		worker.Config{Concurrency: concurrentMoves, Batch: 20, Lease: moveLease, Poll: time.Second}, log, metrics)
	return v
}

// claimMovesSQL adds a random part to keys, so that a copy of the database cannot overwrite objects of the
// original installation.
const claimMovesSQL = `
UPDATE received_contents c SET due_at = now() + $2 * interval '1 microsecond', fence = c.fence + 1, attempts = c.attempts + 1,
	object_key = coalesce(c.object_key, c.account_id || '/' || c.id || '-' || replace(gen_random_uuid()::text, '-', ''))
FROM (SELECT id FROM received_contents WHERE due_at <= now() ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED) due
WHERE c.id = due.id
RETURNING c.id, c.fence, c.size, c.object_key, c.data IS NULL, c.attempts`

func (v *mover) claim(ctx context.Context, limit int, lease time.Duration) ([]move, error) {
	jobs, err := db.All(ctx, v.db.Hot,
		func(m *move) []any { return []any{&m.id, &m.fence, &m.size, &m.key, &m.remove, &m.attempts} },
		claimMovesSQL, limit, lease.Microseconds())
	if err != nil {
		return nil, fmt.Errorf("claim contents: %w", err)
	}
	return jobs, nil
}

func (v *mover) run(ctx context.Context, m move, l *worker.Lease) moveResult {
	var err error
	switch {
	case !l.IsValid():
		err = errors.New("the lease has expired")
	case m.remove:
		err = v.objects.Delete(ctx, m.key)
	default:
		err = v.upload(ctx, m)
	}
	if err != nil && ctx.Err() == nil {
		v.log.WarnContext(ctx, "cannot move a received message, will retry", "object", m.key,
			telemetry.KeyBytes, m.size, "delete", m.remove,
			telemetry.KeyAttempt, m.attempts, telemetry.KeyError, err)
	}
	return moveResult{err}
}

const uploadSQL = `SELECT substring(data FROM $3::int FOR $4::int) FROM received_contents WHERE id = $1 AND fence = $2 AND data IS NOT NULL`

// moveOwner is the owner of the memory that the process uses for its own background work.
var moveOwner = intake.Tenant{Account: "uploads to the object store"}

// upload uploads the object and reads it back. Only then does it count as stored.
func (v *mover) upload(ctx context.Context, m move) error {
	data := v.budget.NewContent(intake.Terms{Tenant: moveOwner, MaxMemory: smallContent, MaxSize: m.size,
		Patience: moveLease})
	defer data.Close()
	if err := data.Reserve(ctx, m.size); err != nil {
		return err
	}
	for first := true; first || data.Size() < m.size; first = false {
		before := data.Size()
		err := v.readSlice(ctx, uploadSQL, func(row db.Row) error {
			var piece sql.RawBytes
			if err := row.Scan(&piece); err != nil {
				return err
			}
			return data.Append(ctx, piece)
		}, m.id, m.fence, before+1, sliceBytes)
		if err != nil {
			return err // deleted in the meantime, or the database is unavailable
		}
		if data.Size() == before && m.size > 0 {
			return fmt.Errorf("the content has %d bytes instead of %d", before, m.size)
		}
	}
	data.Finish()
	return blob.PutVerified(ctx, v.objects, m.key, data, data.Size())
}

// settleMovesSQL raises the fencing number, so that a batch can be repeated if the result of its commit was
// lost. A row without records only names its object, and is deleted with it.
var settleMovesSQL = db.Compile(`
WITH v AS (
	SELECT * FROM ` + movedRows.Source() + `
), gone AS (
	DELETE FROM received_contents c USING v WHERE c.id = v.id AND c.fence = v.fence AND v.outcome = 'removed'
		AND NOT EXISTS (SELECT FROM received_emails e WHERE e.content_id = c.id) RETURNING c.id
)
UPDATE received_contents c SET fence = c.fence + 1,
	data = CASE WHEN v.outcome = 'stored' THEN NULL ELSE c.data END,
	object_key = CASE WHEN v.outcome = 'removed' THEN NULL ELSE c.object_key END,
	due_at = CASE WHEN v.outcome = 'failed' THEN now() + v.wait * interval '1 microsecond' END,
	attempts = CASE WHEN v.outcome = 'failed' THEN c.attempts ELSE 0 END
FROM v WHERE c.id = v.id AND c.fence = v.fence AND v.id NOT IN (SELECT id FROM gone)`)

var movedRows = batch.New("v",
	batch.Int("id", func(r worker.Result[move, moveResult]) int64 { return r.Job.id }),
	batch.Int("fence", func(r worker.Result[move, moveResult]) int64 { return r.Job.fence }),
	batch.Text("outcome", func(r worker.Result[move, moveResult]) string {
		switch {
		case r.Value.err != nil:
			return "failed"
		case r.Job.remove:
			return "removed"
		default:
			return "stored"
		}
	}),
	batch.Int("wait", func(r worker.Result[move, moveResult]) int64 {
		return moveBackoff.Delay(r.Job.attempts).
			Microseconds()
	}),
)

var moveBackoff = worker.Backoff{Min: 5 * time.Second, Max: 30 * time.Minute}

func (v *mover) settle(ctx context.Context, results []worker.Result[move, moveResult]) error {
	if _, err := v.db.Hot.ExecContext(ctx, settleMovesSQL.Text,
		settleMovesSQL.Args(movedRows.Rows(results))...); err != nil {
		return fmt.Errorf("store results of content moves: %w", err)
	}
	return nil
}
