package worker_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postrider/postrider/runtime/base/worker"
)

// After an outage that was longer than the leases, what ran before it is due in the
// table. It is stored first, all of it, and only then is anything claimed: else the
// claim takes what has been done, and does it again.
func TestNothingIsClaimedUntilTheLastResultOfAnOutageIsStored(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const jobs = 8
		b := newBoard(jobs)
		b.work = func(_ context.Context, job int, _ *worker.Lease) string {
			<-time.After(time.Duration(job+1) * 10 * time.Millisecond) // results come one by one
			return "done"
		}
		q := b.queue()
		claim, early := q.Claim, 0
		q.Claim = func(ctx context.Context, limit int, lease time.Duration) ([]int, error) {
			b.with(func() {
				if len(b.begun) == jobs && len(b.settled) < jobs {
					early++
				}
			})
			return claim(ctx, limit, lease)
		}
		b.settleErr = errAway
		_, stop := start(t, q, worker.Config{Concurrency: jobs, Batch: jobs, Poll: time.Millisecond, Lease: time.Hour})
		defer stop()
		<-time.After(time.Minute)
		b.with(func() { early, b.settleErr, b.settleTime = 0, nil, 50*time.Millisecond })
		<-time.After(time.Minute)
		b.with(func() {
			if len(b.settled) != jobs {
				t.Errorf("%d of %d are stored", len(b.settled), jobs)
			}
			if early > 0 {
				t.Errorf("%d claims while results of the outage were not stored", early)
			}
		})
	})
}
