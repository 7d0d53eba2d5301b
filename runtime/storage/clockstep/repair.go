package clockstep

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/postrider/postrider/runtime/storage/db"
)

// Repair corrects the times that a module stored while the database clock was ahead.
type Repair struct {
	What    string       // for example "webhook deliveries"
	Columns []TimeColumn // repaired before Run is called

	// Run repairs what columns cannot express, and returns the number of changed rows. It must be repeatable
	// and may run in several processes concurrently. Optional.
	Run func(ctx context.Context, step Step) (rows int64, err error)
}

// TimeColumn is a column that determines when its row is due, unlocked or expired.
type TimeColumn struct {
	Table, Name string
	Where       string // a condition on the rows; empty means all
	Key         string // the primary key; defaults to "id"

	Limit time.Duration // how far ahead of now a correct time can be
	Reset time.Duration // repaired rows are set to this far ahead of now; at most Limit
}

const repairBatch = 5000

// resetStatement returns the SQL that resets times beyond the limit, except those that were beyond it even by
// the clock that was ahead, because a user chose them.
func (c TimeColumn) resetStatement() string {
	key := cmp.Or(c.Key, "id")
	return fmt.Sprintf(`UPDATE %[1]s SET %[2]s = now() + $1 * interval '1 microsecond' WHERE (%[3]s) IN (
	SELECT %[3]s FROM %[1]s WHERE %[2]s > now() + $2 * interval '1 microsecond' AND %[2]s <= $3::timestamptz + $2 * interval '1 microsecond' AND (%[4]s)
	LIMIT %[5]d FOR UPDATE SKIP LOCKED)`, c.Table, c.Name, key, cmp.Or(c.Where, "true"), repairBatch)
}

// applyRepair runs the repair and returns the number of changed rows.
func (r Repair) applyRepair(ctx context.Context, on db.Execer, step Step) (rows int64, err error) {
	for _, c := range r.Columns {
		n, err := db.ExecAll(ctx, on, c.resetStatement(), c.Reset.Microseconds(), c.Limit.Microseconds(), step.Peak())
		if rows += n; err != nil {
			return rows, fmt.Errorf("repair %s.%s: %w", c.Table, c.Name, err)
		}
	}
	if r.Run == nil {
		return rows, nil
	}
	n, err := r.Run(ctx, step)
	return rows + n, err
}

// Apply runs all registered repairs and returns the errors of those that failed.
func (w *Watch) Apply(ctx context.Context, step Step) []error {
	var failed []error
	for _, r := range w.repairs {
		rows, err := r.applyRepair(ctx, w.db.SQL, step)
		if err != nil {
			failed = append(failed, fmt.Errorf("repair %s: %w", r.What, err))
		}
		if rows > 0 {
			w.log.InfoContext(ctx, "repaired times stored by a wrong database clock", "what", r.What, "count", rows)
		}
	}
	return failed
}
