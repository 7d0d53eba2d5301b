package worker_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/base/worker"
)

// Jobs of a reservation run without a claim, under a lease that counts from the reservation.
func TestReservedJobsRunWithoutAClaim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBoard(0)
		w, stop := start(t, b.queue(), worker.Config{Poll: time.Hour})
		defer stop()
		synctest.Wait()
		r := w.Reserve(3)
		if r.Places() != 3 {
			t.Fatalf("Reserve(3) has %d places", r.Places())
		}
		r.Begin([]int{0, 1})
		r.Begin([]int{2}) // has no effect
		synctest.Wait()
		b.update(func() {
			if diff := cmp.Diff(upTo(2), b.settled); diff != "" {
				t.Errorf("settled jobs differ (-want +got):\n%s", diff)
			}
		})
		late := w.Reserve(1)
		<-time.After(40 * time.Second) // more than half a lease
		late.Begin([]int{3})
		synctest.Wait()
		b.update(func() {
			if !slices.Equal(b.released, []int{3}) {
				t.Errorf("released %v, want the job whose transaction took too long", b.released)
			}
		})
	})
}

// Reservations leave room for a claim, and free places return.
func TestReservationsLeaveRoomForAClaim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBoard(0)
		release := make(chan struct{})
		b.work = func(context.Context, int, *worker.Lease) string { <-release; return "done" }
		w, stop := start(t, b.queue(), worker.Config{Concurrency: 8, Batch: 8, Poll: time.Hour})
		defer stop()
		synctest.Wait()
		// Of 12 places, 2 are left for a claim. Reservations have at most 4 before they begin.
		taken := 0
		for _, want := range []int{4, 4, 2, 0} {
			r := w.Reserve(100)
			if r.Places() != want {
				t.Fatalf("Reserve(100) after %d jobs has %d places, want %d", taken, r.Places(), want)
			}
			if want == 4 && w.Reserve(1) != nil {
				t.Error("more than half of the runners are reserved")
			}
			jobs := make([]int, want)
			for i := range jobs {
				jobs[i] = taken + i
			}
			taken += want
			r.Begin(jobs)
		}
		b.add(100, 101)
		w.Nudge()
		synctest.Wait()
		b.update(func() {
			if len(b.due) != 0 {
				t.Errorf("jobs %v wait for reserved ones, want them claimed", b.due)
			}
		})
		close(release)
		synctest.Wait()
		if r := w.Reserve(4); r.Places() != 4 {
			t.Errorf("Reserve(4) has %d places after all jobs ended", r.Places())
		} else {
			r.Begin(nil)
		}
	})
}

// Nothing is reserved before the start, after the stop, or while results cannot be stored.
func TestNothingIsReservedWhileNothingMayRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBoard(1)
		w := worker.New(b.queue(), worker.Config{}, logger(t), nil)
		if w.Reserve(1) != nil {
			t.Error("a worker that was not started has a reservation")
		}
		b.settleErr = errAway
		if err := w.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if w.Reserve(1) != nil {
			t.Error("a worker that cannot store results has a reservation")
		}
		b.update(func() { b.settleErr = nil })
		<-time.After(worker.RetryMax + time.Second)
		if r := w.Reserve(1); r == nil {
			t.Error("a worker that can store results again has no reservation")
		} else {
			r.Begin(nil)
		}
		if err := w.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if w.Reserve(1) != nil {
			t.Error("a stopped worker has a reservation")
		}
	})
}

// Stop waits for reservations, and hands their jobs back.
func TestStopHandsBackReservedJobs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBoard(0)
		w, _ := start(t, b.queue(), worker.Config{})
		synctest.Wait()
		r := w.Reserve(2)
		stopped := make(chan error, 1)
		go func() { stopped <- w.Stop(t.Context()) }()
		synctest.Wait()
		select {
		case err := <-stopped:
			t.Fatalf("Stop returned %v before the reservation ended", err)
		default:
		}
		r.Begin([]int{7, 8})
		if err := <-stopped; err != nil {
			t.Fatal(err)
		}
		slices.Sort(b.released)
		if !slices.Equal(b.released, []int{7, 8}) || len(b.begun) != 0 {
			t.Errorf("released %v, started %v; want both jobs released", b.released, b.begun)
		}
	})
}
