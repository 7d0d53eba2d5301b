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
	margin  time.Duration
	process Process

	mu    sync.Mutex
	since time.Time // the statement that took or prolonged it was sent
	end   time.Time // nothing irreversible begins from here on
	alarm *time.Timer
}

// newLease starts at the moment before the claim was sent. The database counts
// from a later one, so our end is never after its end.
func newLease(sent time.Time, cfg Config) *Lease {
	return &Lease{margin: cfg.Margin, process: cfg.Process, since: sent, end: sent.Add(cfg.Lease - cfg.Margin)}
}

// Valid tells whether an irreversible step may begin now: the lease lasts, and nobody
// can have taken the job before its end.
func (l *Lease) Valid() bool {
	l.mu.Lock()
	since, left := l.since, l.remaining()
	l.mu.Unlock()
	return left > 0 && l.process.Holds(since)
}

// before tells whether the lease was taken or prolonged by a statement from before a time.
func (l *Lease) before(t time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.since.Before(t)
}

// Remaining is the time left of the lease; zero or less when the job must be taken for
// somebody else's.
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
	l.moveEnd(sent, sent.Add(length-l.margin))
}

// revoke ends the lease at once: the database says that the job is not ours.
func (l *Lease) revoke() { l.moveEnd(time.Time{}, time.Now()) }

func (l *Lease) moveEnd(since, end time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.since, l.end = since, end
	if l.alarm != nil {
		l.alarm.Reset(max(0, l.remaining()))
	}
}
