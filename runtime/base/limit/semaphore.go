// Package limit bounds concurrent work. A Semaphore bounds one kind of work as a whole, and a Keyed bounds
// it for each key, such as an account or a host. Both serve waiters in the order in which they arrive.
//
// A Queue is for work that clients cause before they sign in. It differs from a Keyed in the order: known
// owners go first, and among the others the one that was served least, so that password guessers who return
// repeatedly do not delay a user who signs in once. It also limits how long a ticket waits.
//
// Memory and connections are bounded elsewhere: package intake shares out bytes, and reclaims them from slow
// holders.
package limit

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
)

// ErrFull reports that too much work is already waiting.
var ErrFull = errors.New("too much work is already waiting")

// Unbounded lets any number of callers wait on a Semaphore or a Keyed.
const Unbounded = math.MaxInt64

// Semaphore bounds how much work runs at a time, and how much of it waits. It is safe for concurrent use.
type Semaphore struct {
	slots      chan struct{}
	waiting    atomic.Int64
	maxWaiting int64
}

// NewSemaphore returns a Semaphore for size holders, at least one, and maxWaiting waiters.
func NewSemaphore(size int, maxWaiting int64) *Semaphore {
	return &Semaphore{slots: make(chan struct{}, max(1, size)), maxWaiting: maxWaiting}
}

// Acquire waits for a slot; call Release to return it. It returns ErrFull if too many callers wait, or the
// cause of ctx if ctx ends first.
func (s *Semaphore) Acquire(ctx context.Context) error {
	if s.TryAcquire() {
		return nil
	}
	defer s.waiting.Add(-1)
	if s.waiting.Add(1) > s.maxWaiting {
		return ErrFull
	}
	select {
	case s.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// TryAcquire takes a slot if one is free, and reports whether it did.
func (s *Semaphore) TryAcquire() bool {
	select {
	case s.slots <- struct{}{}:
		return true
	default:
		return false
	}
}

// Release returns a slot. It panics if none is held.
func (s *Semaphore) Release() {
	select {
	case <-s.slots:
	default:
		panic("limit: released a slot that was not acquired")
	}
}

// InUse returns how many slots are held.
func (s *Semaphore) InUse() int { return len(s.slots) }

// Do acquires a slot, calls run and releases the slot. Its errors are those of Acquire and of run.
func (s *Semaphore) Do(ctx context.Context, run func() error) error {
	if err := s.Acquire(ctx); err != nil {
		return err
	}
	defer s.Release()
	return run()
}
