package release

import (
	"context"
	"time"

	"github.com/postrider/postrider/runtime/base/worker"
)

// releasePoll is the maximum time between two checks of the scheduled emails. It bounds the delay of an email
// that was scheduled since the last check and is due before all others.
const releasePoll = 2 * time.Second

// releaseSpacing is the minimum time between checks. Rows that another process is releasing are due, but not
// available.
const releaseSpacing = 10 * time.Millisecond

// releaseRetry is the pause while the database is unavailable.
var releaseRetry = worker.Backoff{Min: 100 * time.Millisecond, Max: 2 * time.Second}

// releaseTask returns the task that releases due emails. On stop, a release in progress may finish within the
// stop timeout.
func (s *Service) releaseTask() worker.Task {
	limit := releaseBatch
	return worker.Task{Name: "release of scheduled emails", Retry: releaseRetry, Drain: true,
		Step: func(ctx context.Context) (wait time.Duration, err error) {
			wait, err = s.releasePass(ctx, limit)
			limit = nextLimit(limit, err)
			return wait, err
		}}
}

// nextLimit shrinks batches while they fail. A batch that exceeds the statement timeout would otherwise fail
// forever.
func nextLimit(limit int, err error) int {
	if err != nil {
		return max(limit/4, 1)
	}
	return min(limit*2, releaseBatch)
}

// releasePass releases due emails and returns how long until the next ones are due. It releases nothing while
// the whole installation is held.
func (s *Service) releasePass(ctx context.Context, limit int) (wait time.Duration, err error) {
	if s.holder != nil && s.holder.CurrentHold() != nil {
		return releasePoll, nil
	}
	var next *int64
	if err := s.db.Hot.QueryRowContext(ctx, nextDueSQL).Scan(&next); err != nil {
		return 0, err
	}
	if next == nil {
		return releasePoll, nil
	}
	if *next > 0 {
		return min(max(time.Duration(*next)*time.Microsecond, releaseSpacing), releasePoll), nil
	}
	more, err := s.Release(ctx, limit)
	if err != nil || more {
		return 0, err
	}
	return releaseSpacing, nil
}
