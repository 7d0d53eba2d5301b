package release

import (
	"context"
	"time"

	"github.com/postrider/postrider/runtime/base/worker"
)

// releasePoll is the longest time between two looks at the queue of scheduled
// emails: one that was put in front meanwhile is late by no more.
const releasePoll = 2 * time.Second

// releaseSpacing keeps looks apart: rows that another process is releasing are due and not ours.
const releaseSpacing = 10 * time.Millisecond

// releaseRetry is for a database that is away.
var releaseRetry = worker.Backoff{Min: 100 * time.Millisecond, Max: 2 * time.Second}

// releasing is the task that releases what is due. A release that has begun may end while
// the stop has time.
func (s *Service) releasing() worker.Task {
	limit := releaseBatch
	return worker.Task{Name: "release of scheduled emails", Retry: releaseRetry, Drain: true, Step: func(ctx context.Context) (wait time.Duration, err error) {
		wait, err = s.releasePass(ctx, limit)
		limit = nextLimit(limit, err)
		return wait, err
	}}
}

// nextLimit makes batches smaller while they fail: one that is too much work for
// the time that a statement has would fail for ever.
func nextLimit(limit int, err error) int {
	if err != nil {
		return max(limit/4, 1)
	}
	return min(limit*2, releaseBatch)
}

// releasePass releases what is due and tells how long nothing more is. It releases nothing
// while the whole installation is held.
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
