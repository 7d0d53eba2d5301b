package sending

import (
	"context"
	"sync"
	"time"

	"github.com/postrider/postrider/runtime/telemetry"
	"github.com/postrider/postrider/runtime/worker"
)

// releasePoll is the longest time between two looks at the queue of scheduled
// emails: one that was put in front meanwhile is late by no more.
const releasePoll = time.Second

// releaseRetry is for a database that is away.
var releaseRetry = worker.Backoff{Min: 100 * time.Millisecond, Max: 2 * time.Second}

// releaser runs releaseDue as often as there is something due.
type releaser struct {
	stopping chan struct{}
	ended    chan struct{}
	cut      context.CancelFunc
	once     sync.Once
}

func (s *scheduler) startReleasing(ctx context.Context) *releaser {
	ctx, cut := context.WithCancel(context.WithoutCancel(ctx)) // the start's context ends with the start
	r := &releaser{stopping: make(chan struct{}), ended: make(chan struct{}), cut: cut}
	go func() {
		defer close(r.ended)
		for failures, limit := 0, releaseBatch; ; {
			wait, err := s.releasePass(ctx, limit)
			limit = nextLimit(limit, err)
			if err != nil {
				failures++
				wait = releaseRetry.Delay(failures)
				if ctx.Err() == nil {
					s.logger.WarnContext(ctx, "scheduled emails are not released", telemetry.KeyError, err)
				}
			} else {
				failures = 0
			}
			if !r.pause(wait) {
				return
			}
		}
	}()
	return r
}

// nextLimit makes batches smaller while they fail: one that is too much work for
// the time that a statement has would fail for ever.
func nextLimit(limit int, err error) int {
	if err != nil {
		return max(limit/4, 1)
	}
	return min(limit*2, releaseBatch)
}

// releasePass releases what is due and tells how long nothing more is.
func (s *scheduler) releasePass(ctx context.Context, limit int) (wait time.Duration, err error) {
	more, err := s.releaseDue(ctx, limit)
	if err != nil || more {
		return 0, err
	}
	var next *int64
	if err := s.db.Hot.QueryRowContext(ctx, nextDueSQL).Scan(&next); err != nil {
		return 0, err
	}
	if next == nil {
		return releasePoll, nil
	}
	// Rows that another process is releasing are due and not ours: no spinning.
	return min(max(time.Duration(*next)*time.Microsecond, 10*time.Millisecond), releasePoll), nil
}

// pause waits, or reports false when it is time to stop.
func (r *releaser) pause(wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-r.stopping:
		return false
	default:
	}
	select {
	case <-r.stopping:
		return false
	case <-timer.C:
		return true
	}
}

// stop lets a release that has begun end, until ctx does.
func (r *releaser) stop(ctx context.Context) {
	r.once.Do(func() { close(r.stopping) })
	select {
	case <-r.ended:
	case <-ctx.Done():
	}
	r.cut()
	<-r.ended
}
