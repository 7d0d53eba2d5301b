package bus

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
)

const (
	// takeOver is how long a process leaves a group to one that knows more types. During an upgrade the newer
	// version scans; after a rollback the older one resumes.
	takeOver = 30 * time.Second
	// clockError is how far a mark may be ahead of the server's clock. A mark further ahead was written
	// while the clock was wrong.
	clockError = time.Minute
	// restMost is how long the mark of an idle group stays unchanged. It is less than takeOver.
	restMost = 20 * time.Second
)

const (
	createMark = `
INSERT INTO bus_marks (consumer, until_id, types) VALUES ($1, $2, $3) ON CONFLICT (consumer) DO NOTHING`

	// Not while another process scans or has just scanned, and not instead of a process that knows more types.
	mayScan = `(types <@ $2::text[] OR looked_at <= now() - $4::bigint * interval '1 microsecond')
  AND (NOT types @> $2::text[] OR looked_at <= now() - $3::bigint * interval '1 microsecond')`

	// A group is idle if there are no facts after its mark, nothing was requeued, and a process that knows the
	// same types has scanned within the time $5.
	readMark = `
SELECT until_id, now(), ` + mayScan + `, types @> $2::text[] AND types <@ $2::text[] AND looked_at > now() - $5::bigint * interval '1 microsecond'
  AND coalesce((SELECT max(id) FROM facts), '') < until_id
  AND NOT EXISTS (SELECT FROM bus_poison p WHERE p.consumer = $1 AND p.requeued_at IS NOT NULL)
FROM bus_marks WHERE consumer = $1`

	// The lock ends with the transaction, so a dead process releases it. Joins of the transaction use hash or
	// merge: the planner's row estimates are wrong for tables whose rows live for milliseconds.
	claimMark = `
SELECT until_id, now(), (SELECT count(*) FROM (SELECT FROM bus_messages WHERE consumer = $1 AND due_at <= now() LIMIT (SELECT $5::bigint)) due),
  set_config('enable_nestloop', 'off', true)
FROM bus_marks WHERE consumer = $1 AND ` + mayScan + ` FOR UPDATE SKIP LOCKED`

	moveMark = `
WITH moved AS (UPDATE bus_marks SET until_id = greatest(until_id, $2), types = $3, looked_at = now() WHERE consumer = $1)
DELETE FROM bus_handled WHERE consumer = $1 AND last_id < $2`

	resetMark = `UPDATE bus_marks SET until_id = $2 WHERE consumer = $1`
)

// lockedMark is a row of bus_marks that a transaction has locked.
type lockedMark struct {
	until string    // every fact with a smaller id is handled
	now   time.Time // by the server's clock
	queue int       // due messages of the group, counted up to aheadMost
}

// createMarks creates the marks of groups that never ran, at the horizon, so that they get only new facts.
func (b *Bus) createMarks(ctx context.Context) error {
	if len(b.consumers) == 0 {
		return nil
	}
	horizon, err := b.Log().Horizon(ctx)
	if err != nil {
		return err
	}
	for _, c := range b.consumers {
		if _, err := b.db.SQL.ExecContext(ctx, createMark, c.Group, id.Since(id.Fact, horizon),
			typeNames(c)); err != nil {
			return fmt.Errorf("create mark of %s: %w", c.Group, err)
		}
	}
	return nil
}

func typeNames(c Consumer) any {
	names := make([]string, len(c.Types))
	for i, t := range c.Types {
		names[i] = string(t)
	}
	return db.Array(names)
}

// markState is the state of a group's mark.
type markState struct {
	behind time.Duration // age of the facts at the mark
	may    bool          // this process may scan
	rests  bool          // a scan would find nothing
}

// readMarkState reads the state of the group's mark. This process may scan if no other process has scanned
// within the given time.
func (g *group) readMarkState(ctx context.Context, notWithin time.Duration) (s markState, err error) {
	var until string
	var now time.Time
	err = g.db.SQL.QueryRowContext(ctx, readMark, g.name, typeNames(g.consumer), notWithin.Microseconds(),
		takeOver.Microseconds(), restMost.Microseconds()).
		Scan(&until, &now, &s.may, &s.rests)
	if err != nil {
		return markState{}, fmt.Errorf("read mark: %w", err)
	}
	s.behind = now.Sub(id.Time(until))
	s.rests = s.rests && s.behind >= 0 // a mark ahead of the clock must be set back
	return s, nil
}

// lockMark locks the group's mark for a transaction. It returns false if this process may not scan now.
func (g *group) lockMark(ctx context.Context, tx *sql.Tx, notWithin time.Duration) (m lockedMark, ok bool, err error) {
	var setting string
	err = tx.QueryRowContext(ctx, claimMark, g.name, typeNames(g.consumer), notWithin.Microseconds(),
		takeOver.Microseconds(), aheadMost).
		Scan(&m.until, &m.now, &m.queue, &setting)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return lockedMark{}, false, nil
	case err != nil:
		return lockedMark{}, false, fmt.Errorf("claim mark: %w", err)
	}
	return m, true, nil
}
