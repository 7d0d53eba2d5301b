package worker_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/base/worker"
)

func TestRunIsCanceledAtTheEndOfItsLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBoard(1)
		began := time.Now()
		b.work = func(ctx context.Context, _ int, lease *worker.Lease) string {
			if !lease.IsValid() {
				t.Error("the lease is not valid at the start")
			}
			<-ctx.Done()
			if took := time.Since(began); took != 9*time.Second {
				t.Errorf("canceled after %v, want 9s: the lease less its margin", took)
			}
			if !errors.Is(context.Cause(ctx), worker.ErrLeaseOver) {
				t.Errorf("cause %v", context.Cause(ctx))
			}
			if lease.IsValid() {
				t.Error("the lease is still valid after the context ended")
			}
			return "late"
		}
		_, stop := start(t, b.queue(), worker.Config{Lease: 10 * time.Second})
		<-time.After(time.Minute)
		stop()
		if b.results[0] != "late" { // the fence decides whether it counts
			t.Errorf("the late result was not passed to Settle: %v", b.results)
		}
	})
}

func TestALongRunKeepsItsLeaseByExtending(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBoard(1)
		b.work = func(ctx context.Context, _ int, lease *worker.Lease) string {
			select {
			case <-time.After(5 * time.Minute):
			case <-ctx.Done():
				t.Errorf("canceled: %v", context.Cause(ctx))
			}
			if !lease.IsValid() {
				t.Error("the lease ended during the run")
			}
			return "done"
		}
		q := b.queue()
		q.Extend = b.extend
		_, stop := start(t, q, worker.Config{Lease: 10 * time.Second})
		<-time.After(6 * time.Minute)
		stop()
		if diff := cmp.Diff(upTo(1), b.settled); diff != "" {
			t.Errorf("settled (-want +got):\n%s", diff)
		}
		if b.extended < 30 || b.extended > 120 {
			t.Errorf("extended %d times in 5 minutes of 10 s leases", b.extended)
		}
	})
}

func TestRunIsCanceledWhenItsJobIsTaken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBoard(1)
		b.lost = true
		b.work = func(ctx context.Context, _ int, lease *worker.Lease) string {
			<-ctx.Done()
			if lease.IsValid() {
				t.Error("the lease is valid although it was lost")
			}
			return "lost"
		}
		q := b.queue()
		q.Extend = b.extend
		began := time.Now()
		_, stop := start(t, q, worker.Config{Lease: 30 * time.Second})
		<-time.After(16 * time.Second)
		b.update(func() {
			if b.results[0] != "lost" {
				t.Errorf("not canceled %v after the start, although Extend reported that the job is lost",
					time.Since(began))
			}
		})
		stop()
	})
}

// A job that waited too long for slow jobs goes back to the table for another worker.
func TestAJobThatWaitedTooLongIsHandedBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBoard(2)
		b.work = func(context.Context, int, *worker.Lease) string {
			<-time.After(31 * time.Second)
			return "done"
		}
		_, stop := start(t, b.queue(), worker.Config{Concurrency: 1, Lease: time.Minute})
		<-time.After(2 * time.Minute)
		stop()
		if diff := cmp.Diff([]int{0}, b.begun); diff != "" {
			t.Errorf("started (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]int{1}, b.released); diff != "" {
			t.Errorf("handed back (-want +got):\n%s", diff)
		}
	})
}

// If every connection hangs, a claim that returns late has used up its lease: the database counts from its
// execution, and we count from before we sent it.
func TestAClaimThatTookLongerThanItsLeaseStartsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBoard(1)
		q := b.queue()
		q.Claim = func(ctx context.Context, limit int, lease time.Duration) ([]int, error) {
			<-time.After(6 * time.Second)
			return b.claim(ctx, limit, lease)
		}
		_, stop := start(t, q, worker.Config{Lease: 10 * time.Second})
		<-time.After(30 * time.Second)
		stop()
		if len(b.begun) != 0 || len(b.released) != 1 {
			t.Errorf("started %v, handed back %v", b.begun, b.released)
		}
	})
}
