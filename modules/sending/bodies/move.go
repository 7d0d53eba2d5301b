package bodies

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/postrider/postrider/modules/sending/lifecycle"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/storage/blob"
	"github.com/postrider/postrider/runtime/storage/db"
)

// move is one claimed row.
type move struct {
	id, fence          int64
	accountID, emailID string
	key                string
	file               *int // position of the attachment; nil for html and text, or the message
	remove             bool // delete the object
	used               bool // an email uses the key, so nothing is deleted
	attempts           int
}

// outcome is the result of a move.
type outcome string

const (
	stored     outcome = "stored"     // the object was written
	removed    outcome = "removed"    // the object was deleted
	nothing    outcome = "nothing"    // the email no longer has a body
	unfinished outcome = "unfinished" // the email has not been sent yet
	failed     outcome = "failed"
)

type movedBody struct {
	outcome outcome
	err     error // set if the move failed
	size    int64 // size of the body in bytes, if stored
	snippet string
}

var claimSQL = db.Compile(`
UPDATE body_moves m SET due_at = now() + @lease * interval '1 microsecond', fence = m.fence + 1, attempts = m.attempts + 1
FROM (SELECT id FROM body_moves WHERE remove = ANY(@kinds::boolean[]) AND due_at <= now() ORDER BY due_at LIMIT @limit FOR UPDATE SKIP LOCKED) due
WHERE m.id = due.id
RETURNING m.id, m.fence, m.account_id, m.email_id, m.object_key, m.position, m.remove, m.attempts,
	m.remove AND (EXISTS (SELECT FROM emails e WHERE e.id = m.email_id AND e.body_key = m.object_key)
		OR EXISTS (SELECT FROM attachments a WHERE a.email_id = m.email_id AND a.object_key = m.object_key))`)

func (s *Service) claimMoves(ctx context.Context, limit int, lease time.Duration) ([]move, error) {
	if limit = s.outage.limitClaim(limit); limit == 0 {
		return nil, nil
	}
	kinds := []bool{true}
	if s.movesBodies() {
		kinds = append(kinds, false)
	}
	claimed, err := db.All(ctx, s.db.SQL, func(m *move) []any {
		return []any{&m.id, &m.fence, &m.accountID, &m.emailID, &m.key, &m.file, &m.remove, &m.attempts, &m.used}
	}, claimSQL.Text, claimSQL.Args(db.Arg("lease", lease.Microseconds()), db.Arg("kinds", db.Array(kinds)),
		db.Arg("limit", limit))...)
	if err != nil {
		return nil, fmt.Errorf("claim body moves: %w", err)
	}
	return claimed, nil
}

const releaseSQL = `
UPDATE body_moves m SET due_at = now(), fence = m.fence + 1, attempts = m.attempts - 1
FROM unnest($1::bigint[], $2::bigint[]) AS v (id, fence) WHERE m.id = v.id AND m.fence = v.fence`

// releaseMoves returns claimed moves that were not started.
func (s *Service) releaseMoves(ctx context.Context, moves []move) error {
	ids, fences := make([]int64, len(moves)), make([]int64, len(moves))
	for i, m := range moves {
		ids[i], fences[i] = m.id, m.fence
	}
	if _, err := s.db.SQL.ExecContext(ctx, releaseSQL, db.Array(ids), db.Array(fences)); err != nil {
		return fmt.Errorf("release body moves: %w", err)
	}
	return nil
}

var errLater = errors.New("object store unavailable, not tried")

func (s *Service) runMove(ctx context.Context, m move, l *worker.Lease) movedBody {
	var out movedBody
	var err error
	switch {
	case !l.IsValid():
		err = errors.New("lease expired")
	case m.used:
		out.outcome = removed
	case s.outage.isOngoing():
		err = errLater
	case m.remove:
		out.outcome = removed
		err = s.callStore(ctx, m, func() error { return s.objects.Delete(ctx, m.key) })
	default:
		out, err = s.upload(ctx, m)
	}
	if err != nil {
		return movedBody{outcome: failed, err: err}
	}
	return out
}

// callStore calls the store and logs when an outage begins and ends.
func (s *Service) callStore(ctx context.Context, m move, what func() error) error {
	err := what()
	if err != nil && ctx.Err() != nil {
		return err // cancelled by the caller
	}
	switch began, ended := s.outage.record(err); {
	case began:
		s.log.WarnContext(ctx, "object store failed; bodies of sent mail stay in the database until it recovers",
			"object", m.key, "delete", m.remove,
			telemetry.KeyAttempt, m.attempts, telemetry.KeyError, err)
	case ended:
		s.log.InfoContext(ctx, "object store recovered")
	case err != nil:
		s.log.DebugContext(ctx, "object store failed, will retry", "object", m.key, telemetry.KeyAttempt, m.attempts,
			telemetry.KeyError, err)
	}
	return err
}

// Statements that read which parts of an email, or of one of its attachments, must move.
const (
	lookSQL = `
SELECT ` + isFinishedSQL + `,
	body_purged_at IS NULL AND body_key IS NULL AND (html IS NOT NULL OR text IS NOT NULL OR mime IS NOT NULL),
	coalesce(octet_length(html), 0) + coalesce(octet_length(text), 0), coalesce(octet_length(mime), 0)
FROM emails e WHERE id = $1 AND account_id = $2`
	lookAtFileSQL = `
SELECT ` + isFinishedSQL + `, body_purged_at IS NULL AND a.object_key IS NULL, a.size, 0
FROM emails e JOIN attachments a ON a.email_id = e.id WHERE e.id = $1 AND e.account_id = $2 AND a.position = $4`
	isFinishedSQL = `e.status = ANY($3) AND NOT EXISTS (SELECT FROM recipients r WHERE r.email_id = e.id AND r.due_at IS NOT NULL)`
)

// body is a result row of those statements.
type body struct {
	finished, there bool
	texts, mime     int64 // sizes in bytes; texts is also the size of an attachment
}

const (
	// smallBody is the maximum size of a body that is read by one statement, outside the memory budget.
	smallBody = 256 << 10
	// partMIME is the maximum number of bytes of a larger message that are in memory at a time.
	partMIME = 1 << 20
)

// owner is the tenant name of the process's own background work in the budget.
var owner = intake.Tenant{Account: "bodies being moved to the object store"}

// upload writes the object of an email if the email is finished and has a body.
func (s *Service) upload(ctx context.Context, m move) (out movedBody, err error) {
	query, args := lookSQL, []any{m.emailID, m.accountID, db.Array(lifecycle.FinishedStatuses())}
	if m.file != nil {
		query, args = lookAtFileSQL, append(args, *m.file)
	}
	b, err := db.One(ctx, s.db.SQL, func(b *body) []any { return []any{&b.finished, &b.there, &b.texts, &b.mime} },
		query, args...)
	switch {
	case errors.Is(err, sql.ErrNoRows), err == nil && !b.there:
		return movedBody{outcome: nothing}, nil
	case err != nil:
		return out, fmt.Errorf("check email %s: %w", m.emailID, err)
	case !b.finished:
		return movedBody{outcome: unfinished}, nil
	}
	out = movedBody{outcome: stored, size: b.texts + b.mime}
	packed := s.budget.NewContent(intake.Terms{Tenant: owner, MaxMemory: smallBody, MaxSize: 2*out.size + smallBody,
		Patience: moveLease})
	defer packed.Close()
	switch {
	case m.file != nil:
		err = s.packFile(ctx, m, b, packed.Writer(ctx))
	case b.mime > 0:
		out.snippet, err = s.packRelayed(ctx, m, b, packed.Writer(ctx))
	default:
		out.snippet, err = s.packTexts(ctx, m, b, packed.Writer(ctx))
	}
	if err != nil {
		return out, fmt.Errorf("read the body of email %s: %w", m.emailID, err)
	}
	packed.Finish()
	return out, s.callStore(ctx, m,
		func() error { return blob.PutVerified(ctx, s.objects, m.key, packed, packed.Size()) })
}
