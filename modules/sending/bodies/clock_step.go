package bodies

import (
	"context"
	"fmt"

	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/clockstep"
	"github.com/postrider/postrider/runtime/storage/db"
)

const rewindWalkSQL = `UPDATE body_walks SET position = $2 WHERE name = $1 AND position > $2`

// rewindWalk moves the walk over sent emails back after the database clock stepped back, because the ids of new
// emails are then lower than its position.
func (s *Service) rewindWalk(ctx context.Context, step clockstep.Step) (int64, error) {
	n, err := db.Exec(ctx, s.db.SQL, rewindWalkSQL, walkName, id.Since(id.Email, step.At.Add(-clockstep.MinStep)))
	if err != nil {
		return 0, fmt.Errorf("rewind the walk over sent emails: %w", err)
	}
	return int64(n), nil
}
