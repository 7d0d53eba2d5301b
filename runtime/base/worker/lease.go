package worker

import (
	"context"
	"errors"
	"sync"
	"time"
)

// The causes with which the context of a Run is cancelled.
var (
	ErrLeaseOver = errors.New("worker: the lease of the job is over")
	ErrStopping  = errors.New("worker: the worker is stopping")
)

// Lease is the time during which this process owns a job.
type Lease struct {
	margin  time.Duration
	process Process

	mu    sync.Mutex
	since time.Time // when the statement that took or extended it was sent
	end   time.Time // no irreversible step may start after this
	alarm *time.Timer
}

// newLease starts at the time before the claim was sent. The database counts from later, so this lease
// never ends after the database's.
func newLease(sent time.Time, cfg Config) *Lease {
	return &Lease{margin: cfg.Margin, process: cfg.Process, since: sent, end: sent.Add(cfg.Lease - cfg.Margin)}
}

// IsValid reports whether an irreversible step may start now: the lease has not ended, and no other process
// can have taken the job early.
func (l *Lease) IsValid() bool {
	l.mu.Lock()
	since, left := l.since, l.timeLeft()
	l.mu.Unlock()
	return left > 0 && l.process.Holds(since)
}

// isRenewedBefore reports whether the lease was taken or extended by a statement sent before t.
func (l *Lease) isRenewedBefore(t time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.since.Before(t)
}

// Remaining returns the time left of the lease; zero or less if another process may own the job.
func (l *Lease) Remaining() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.timeLeft()
}

// timeLeft uses the stricter of the two clocks: CLOCK_MONOTONIC does not advance while the machine is
// suspended, and the wall clock may be set back.
func (l *Lease) timeLeft() time.Duration {
	now := time.Now()
	return min(l.end.Sub(now), l.end.Round(0).Sub(now.Round(0)))
}

// bindContext returns the context of a Run, which is cancelled with ErrLeaseOver at the end of the lease, even if
// that end moves.
func (l *Lease) bindContext(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.alarm = time.AfterFunc(l.timeLeft(), func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if left := l.timeLeft(); left > 0 { // extended while the timer fired
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

func (l *Lease) extendFrom(sent time.Time, length time.Duration) {
	l.moveEnd(sent, sent.Add(length-l.margin))
}

// revoke ends the lease immediately: the database says that another process owns the job.
func (l *Lease) revoke() { l.moveEnd(time.Time{}, time.Now()) }

func (l *Lease) moveEnd(since, end time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.since, l.end = since, end
	if l.alarm != nil {
		l.alarm.Reset(max(0, l.timeLeft()))
	}
}
