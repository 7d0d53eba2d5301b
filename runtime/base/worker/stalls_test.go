package worker_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// countStalls counts, from now on, how often the machine or the server takes longer than the given time for a
// statement and a short wait. During a stall, leases of about that length end, whatever the worker does.
func (d table) countStalls(t *testing.T, while time.Duration) (soFar func() int) {
	t.Helper()
	var count atomic.Int32
	ctx, cancel := context.WithCancel(t.Context())
	var watching sync.WaitGroup
	watching.Go(func() {
		for before := time.Now(); ctx.Err() == nil; {
			if _, err := d.SQL.ExecContext(ctx, "SELECT 1"); err != nil && ctx.Err() == nil {
				t.Errorf("check whether the server is stalled: %v", err)
				return
			}
			<-time.After(10 * time.Millisecond)
			now := time.Now()
			if now.Sub(before) > while {
				count.Add(1)
			}
			before = now
		}
	})
	t.Cleanup(func() {
		cancel()
		watching.Wait()
	})
	return func() int { return int(count.Load()) }
}
