package eventexport

import (
	"context"
	"fmt"
	"time"

	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/storage/db"
)

// target is the name of the only row so far.
const target = "nats"

// cursor is the claimed row.
type cursor struct {
	position string
	fence    int64
	open     bool // a page after the position was already started
	again    bool // Rewind has moved it back
	failures int  // failed pages in a row
	horizon  time.Time
}

// page is the result of publishing a page.
type page struct {
	position string // the stream has every fact up to it
	sent     int
	more     bool // facts are waiting before the horizon
	err      error
	cut      bool // interrupted by the end of the lease or of this process, which is not a failure
}

const createSQL = `
INSERT INTO event_exports (name, position, due_at, moved_at) VALUES ($1, $2, now(), now()) ON CONFLICT (name) DO NOTHING`

// create inserts the row at the horizon if it does not exist, so that only later facts are exported.
func (s *Service) create(ctx context.Context) error {
	horizon, err := s.facts.Horizon(ctx)
	if err == nil {
		_, err = db.Exec(ctx, s.db.SQL, createSQL, target, id.Since(id.Fact, horizon))
	}
	if err != nil {
		return fmt.Errorf("begin the export of events: %w", err)
	}
	return nil
}

// claimSQL claims the row if a fact is waiting. The fact is selected in id order, so that the index is used
// regardless of the planner's estimate of the range.
var claimSQL = db.Compile(`
UPDATE event_exports e SET due_at = now() + @lease * interval '1 microsecond', fence = e.fence + 1, node = NULLIF(@node::int, 0), open = true
FROM (
	SELECT name, open FROM event_exports
	WHERE name = @name AND due_at <= now() AND (@until::timestamptz IS NULL OR now() < @until)
		AND (SELECT id FROM facts WHERE id > position AND id < @horizon ORDER BY id LIMIT 1) IS NOT NULL
	FOR UPDATE SKIP LOCKED
) was WHERE e.name = was.name
RETURNING e.position, e.fence, was.open, e.again, e.failures`)

func (s *Service) claim(ctx context.Context, _ int, lease time.Duration) ([]cursor, error) {
	horizon, err := s.facts.Horizon(ctx)
	if err != nil {
		return nil, err
	}
	var until *time.Time
	if at := s.node.ClaimsUntil(); !at.IsZero() {
		until = &at
	}
	claimed, err := db.All(ctx, s.db.Hot,
		func(c *cursor) []any { return []any{&c.position, &c.fence, &c.open, &c.again, &c.failures} }, claimSQL.Text,
		claimSQL.Args(db.Arg("name", target), db.Arg("lease", lease.Microseconds()), db.Arg("node", s.node.ID()),
			db.Arg("until", until), db.Arg("horizon", id.Since(id.Fact, horizon)))...)
	if err != nil {
		return nil, fmt.Errorf("claim the export of events: %w", err)
	}
	for i := range claimed {
		claimed[i].horizon = horizon
	}
	return claimed, nil
}

const extendSQL = `UPDATE event_exports SET due_at = now() + $3 * interval '1 microsecond' WHERE name = $1 AND fence = $2`

func (s *Service) extend(ctx context.Context, cursors []cursor, lease time.Duration) (held []bool, err error) {
	held = make([]bool, len(cursors))
	for i, c := range cursors {
		n, err := db.Exec(ctx, s.db.Hot, extendSQL, target, c.fence, lease.Microseconds())
		if err != nil {
			return nil, fmt.Errorf("extend the export of events: %w", err)
		}
		held[i] = n == 1
	}
	return held, nil
}

const releaseSQL = `UPDATE event_exports SET due_at = now(), fence = fence + 1, node = NULL, open = $3 WHERE name = $1 AND fence = $2`

func (s *Service) release(ctx context.Context, cursors []cursor) error {
	for _, c := range cursors {
		if _, err := db.Exec(ctx, s.db.Hot, releaseSQL, target, c.fence, c.open); err != nil {
			return fmt.Errorf("release the export of events: %w", err)
		}
	}
	return nil
}

const handBackSQL = `UPDATE event_exports SET due_at = now(), fence = fence + 1, node = NULL WHERE node = $1`

// handBackOf releases the claim of a dead node. Its page stays open.
func (s *Service) handBackOf(ctx context.Context, gone int32) (int64, error) {
	n, err := db.Exec(ctx, s.db.Hot, handBackSQL, gone)
	if err != nil {
		return 0, fmt.Errorf("release the export of events of node %d: %w", gone, err)
	}
	if n > 0 {
		s.worker.Nudge()
	}
	return int64(n), nil
}

var settleSQL = db.Compile(`
UPDATE event_exports SET position = @position::text, fence = fence + 1, node = NULL, due_at = now() + @wait * interval '1 microsecond',
	open = @open::boolean, again = again AND @open_or_more::boolean, failures = @failures,
	error = CASE WHEN @error::text = '' THEN error ELSE @error::text END, failed_at = CASE WHEN @error::text = '' THEN failed_at ELSE now() END,
	moved_at = CASE WHEN position = @position::text THEN moved_at ELSE now() END
WHERE name = @name AND fence = @fence`)

// settle moves the position, under the fencing number of the claim.
func (s *Service) settle(ctx context.Context, pages []worker.Result[cursor, page]) error {
	for _, r := range pages {
		c, p := r.Job, r.Value
		open, failures, reason, wait := p.err != nil, 0, "", time.Duration(0)
		switch {
		case p.cut:
			failures = c.failures
		case p.err != nil:
			failures, reason = c.failures+1, p.err.Error()
			wait = s.config.Retry.Delay(failures)
		}
		n, err := db.Exec(ctx, s.db.Hot, settleSQL.Text,
			settleSQL.Args(db.Arg("name", target), db.Arg("fence", c.fence), db.Arg("position", p.position),
				db.Arg("wait", wait.Microseconds()), db.Arg("open", open), db.Arg("open_or_more", open || p.more),
				db.Arg("failures", failures), db.Arg("error", reason))...)
		if err != nil {
			return fmt.Errorf("move the position of the event export: %w", err)
		}
		if n == 1 {
			s.logChanges(c, p)
		}
	}
	return nil
}

// logChanges logs when the export starts failing and when it recovers, and counts the sent facts.
func (s *Service) logChanges(c cursor, p page) {
	s.sent.Add(float64(p.sent))
	switch {
	case p.cut:
	case p.err != nil && c.failures == 0:
		s.log.Warn("event export: publishing failed, retrying until it succeeds", telemetry.KeyError, p.err)
	case p.err == nil && c.failures > 0:
		s.log.Info("event export: recovered", "failures", c.failures)
	}
	if p.more && p.err == nil {
		s.worker.Nudge()
	}
}
