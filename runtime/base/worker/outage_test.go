package worker_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postrider/postrider/runtime/base/worker"
)

// After an outage longer than the leases, the jobs that ran before it are due in the table. All their results
// are stored before anything is claimed. Otherwise, a claim would run finished jobs again.
func TestNothingIsClaimedUntilTheLastResultOfAnOutageIsStored(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const jobs = 8
		b := newBoard(jobs)
		b.work = func(_ context.Context, job int, _ *worker.Lease) string {
			<-time.After(time.Duration(job+1) * 10 * time.Millisecond) // results arrive one by one
			return "done"
		}
		q := b.queue()
		claim, early := q.Claim, 0
		q.Claim = func(ctx context.Context, limit int, lease time.Duration) ([]int, error) {
			b.update(func() {
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
		b.update(func() { early, b.settleErr, b.settleTime = 0, nil, 50*time.Millisecond })
		<-time.After(time.Minute)
		b.update(func() {
			if len(b.settled) != jobs {
				t.Errorf("%d of %d are stored", len(b.settled), jobs)
			}
			if early > 0 {
				t.Errorf("%d claims while results of the outage were not stored", early)
			}
		})
	})
}
