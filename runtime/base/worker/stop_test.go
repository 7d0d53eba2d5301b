package worker_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/base/worker"
)

func TestStopDrainsRunningJobsAndHandsBackTheRest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBoard(100)
		b.work = func(context.Context, int, *worker.Lease) string {
			<-time.After(10 * time.Second)
			return "done"
		}
		_, stop := start(t, b.queue(), worker.Config{Concurrency: 3, Batch: 3})
		<-time.After(time.Second)
		stop()
		if len(b.begun) != 3 || len(b.settled) != 3 {
			t.Errorf("started %v, settled %v: want the three that ran, settled", b.begun, b.settled)
		}
		if len(b.released) == 0 || len(b.begun)+len(b.released)+len(b.due) != 100 {
			t.Errorf("started %v, handed back %v, never claimed %d: want all accounted for", b.begun, b.released,
				len(b.due))
		}
		for _, job := range b.begun {
			if slices.Contains(b.released, job) {
				t.Errorf("job %d was handed back and ran", job)
			}
		}
	})
}

func TestStopCancelsRunsWhenItsTimeIsOverAndStoresTheirResults(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBoard(2)
		b.work = func(ctx context.Context, _ int, _ *worker.Lease) string {
			<-ctx.Done()
			return context.Cause(ctx).Error()
		}
		w := worker.New(b.queue(), worker.Config{Lease: time.Hour}, logger(t), nil)
		if err := w.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if err := w.Stop(ctx); err != nil || ctx.Err() != nil {
			t.Errorf("Stop() = %v; is its time over? %v", err, ctx.Err())
		}
		want := map[int]string{0: worker.ErrStopping.Error(), 1: worker.ErrStopping.Error()}
		if diff := cmp.Diff(want, b.results); diff != "" {
			t.Errorf("results (-want +got):\n%s", diff)
		}
	})
}

func TestStopDoesNotWaitForAnUnavailableDatabase(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBoard(2)
		b.settleErr = errAway
		w := worker.New(b.queue(), worker.Config{}, logger(t), nil)
		if err := w.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		began := time.Now()
		if err := w.Stop(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Stop() = %v, want an error about the jobs that are left", err)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("Stop took %v", took)
		}
	})
}

func TestStopWithoutStart(t *testing.T) {
	t.Parallel()
	w := worker.New(newBoard(1).queue(), worker.Config{}, logger(t), nil)
	for range 2 {
		if err := w.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if err := w.Start(t.Context()); err == nil {
		t.Error("a stopped worker was started")
	}
}
