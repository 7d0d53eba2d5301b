package eventexport

import (
	"context"
	"fmt"

	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/clockstep"
	"github.com/postrider/postrider/runtime/storage/db"
)

// New facts have ids before the position, so the export continues from there. Facts from before the step are
// exported a second time.
const resumeEarlierSQL = `
UPDATE event_exports SET position = least(position, $1 COLLATE "C"), again = again OR position > $1, moved_at = least(moved_at, now()), due_at = least(due_at, now() + $2 * interval '1 microsecond'),
	fence = fence + 1, node = NULL
WHERE position > $1 OR due_at > now() + $2 * interval '1 microsecond'`

// rewind moves the export back after the database clock stepped back (runtime/storage/clockstep).
func (s *Service) rewind(ctx context.Context, step clockstep.Step) (int64, error) {
	n, err := db.Exec(ctx, s.db.SQL, resumeEarlierSQL, id.Since(id.Fact, step.At.Add(-clockstep.MinStep)),
		lease.Microseconds())
	if err != nil {
		return 0, fmt.Errorf("rewind the event export: %w", err)
	}
	return int64(n), nil
}
