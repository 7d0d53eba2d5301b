package deliverability

import (
	"context"
	"fmt"
	"time"

	"github.com/postrider/postrider/runtime/storage/db"
)

// A periodic check has a row, so that one of several processes does each part of it. A process that fails in the
// middle delays the check by turnWithin.
const turnWithin = 10 * time.Minute

const (
	takeTurnSQL = `
INSERT INTO deliverability_turns AS t (name, due_at) VALUES ($1, now() + $2 * interval '1 second')
ON CONFLICT (name) DO UPDATE SET due_at = EXCLUDED.due_at WHERE t.due_at <= now() RETURNING after`

	endTurnSQL = `UPDATE deliverability_turns SET due_at = now() + $2 * interval '1 second', after = $3 WHERE name = $1`
)

// takeTurn returns where the check continues, and false if another process does it or it is not due.
func takeTurn(ctx context.Context, on *db.DB, name string) (after string, ours bool, err error) {
	found, err := db.All(ctx, on.SQL, db.Value[string], takeTurnSQL, name, turnWithin.Seconds())
	if err != nil || len(found) == 0 {
		return "", false, err
	}
	return found[0], true, nil
}

// endTurn schedules the next part of the check.
func endTurn(ctx context.Context, on *db.DB, name string, wait time.Duration, after string) error {
	if _, err := on.SQL.ExecContext(ctx, endTurnSQL, name, wait.Seconds(), after); err != nil {
		return fmt.Errorf("end of the check %s: %w", name, err)
	}
	return nil
}
