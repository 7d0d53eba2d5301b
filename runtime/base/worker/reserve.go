package worker

import (
	"sync"
	"time"
)

// Reservation holds places for jobs that its owner claims itself, for example in the transaction that creates them.
// Begin ends it.
type Reservation[J, R any] struct {
	worker *Worker[J, R]
	sent   time.Time // before the statement that claims the jobs
	places int
	end    sync.Once
}

// Reserve reserves up to n places for jobs that the caller is about to claim. It returns nil if the worker is not
// running, nothing may be claimed now, or too many jobs wait. It never blocks. Call it before the statement that claims
// the jobs, because their leases count from here.
//
// Reservations leave room for a claim, so that jobs that are due in the database do not wait for them. They take at
// most half as many places as there are runners, because places are idle until Begin.
func (w *Worker[J, R]) Reserve(n int) *Reservation[J, R] {
	sent := time.Now()
	if !w.storing.isOpen() || !w.claiming.isOpen() || !w.cfg.Process.AwaitClaim(noWait) {
		return nil
	}
	w.reserving.Lock()
	defer w.reserving.Unlock()
	if !w.running || w.isStopping() {
		return nil
	}
	places := w.room.reservePlaces(n, w.minRoom(), max(1, w.cfg.Concurrency/2))
	if places == 0 {
		return nil
	}
	w.producers.Add(1)
	return &Reservation[J, R]{worker: w, sent: sent, places: places}
}

// noWait makes AwaitClaim return immediately.
var noWait = func() <-chan struct{} {
	closed := make(chan struct{})
	close(closed)
	return closed
}()

// Places returns how many jobs the reservation holds places for.
func (r *Reservation[J, R]) Places() int {
	if r == nil {
		return 0
	}
	return r.places
}

// Begin queues the claimed jobs, at most Places, and frees the places of the rest. Only the first call has an effect.
func (r *Reservation[J, R]) Begin(jobs []J) {
	if r == nil {
		return
	}
	r.end.Do(func() {
		w := r.worker
		defer w.producers.Done()
		w.room.endReservation(r.places, len(jobs))
		w.enqueueJobs(jobs, r.sent)
	})
}
