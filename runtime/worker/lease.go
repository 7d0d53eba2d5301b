package worker

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Why the context of a Run was cancelled.
var (
	ErrLeaseOver = errors.New("worker: the lease of the job is over")
	ErrStopping  = errors.New("worker: the worker is stopping")
)

// Lease is the time in which a job is ours.
type Lease struct {
	margin time.Duration

	mu    sync.Mutex
	end   time.Time // nothing irreversible begins from here on
	alarm *time.Timer
}

// newLease starts at the moment before the claim was sent. The database counts
// from a later one, so our end is never after its end.
func newLease(sent time.Time, length, margin time.Duration) *Lease {
	return &Lease{margin: margin, end: sent.Add(length - margin)}
}

// Valid tells whether an irreversible step may begin now.
func (l *Lease) Valid() bool { return l.Remaining() > 0 }

// Remaining is the time left for irreversible steps; zero or less when the job
// must be taken for somebody else's.
func (l *Lease) Remaining() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.remaining()
}

// remaining takes the stricter of the two clocks: CLOCK_MONOTONIC does not count
// the time that the machine was suspended, the wall clock may be set back.
func (l *Lease) remaining() time.Duration {
	now := time.Now()
	return min(l.end.Sub(now), l.end.Round(0).Sub(now.Round(0)))
}

// bind gives the context of a Run: cancelled with ErrLeaseOver at the end of the
// lease, however often that is moved.
func (l *Lease) bind(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.alarm = time.AfterFunc(l.remaining(), func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if left := l.remaining(); left > 0 { // prolonged while the alarm went off
			l.alarm.Reset(left)
			return
		}
		cancel(ErrLeaseOver)
	})
	return ctx, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.alarm.Stop()
		cancel(nil)
	}
}

func (l *Lease) prolong(sent time.Time, length time.Duration) {
	l.moveEnd(sent.Add(length - l.margin))
}

// revoke ends the lease at once: the database says that the job is not ours.
func (l *Lease) revoke() { l.moveEnd(time.Now()) }

func (l *Lease) moveEnd(end time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end = end
	if l.alarm != nil {
		l.alarm.Reset(max(0, l.remaining()))
	}
}
