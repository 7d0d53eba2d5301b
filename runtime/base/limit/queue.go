package limit

import (
	"context"
	"sync"
	"time"
)

// Queue bounds concurrent work of unauthenticated clients, fairly by owner. Known owners go first. Among the
// others, the owner with the least recent use is next, so that owners with many requests do not starve those
// with a single one. It is safe for concurrent use.
type Queue struct {
	limits Limits

	mu      sync.Mutex
	inside  int
	waiting []*ticket // in the order of arrival
	used    map[string]usage
}

// Limits are the limits of a Queue.
type Limits struct {
	Inside   int           // concurrent work, at least one
	Waiting  int           // waiting tickets
	PerOwner int           // waiting tickets of one owner
	Patience time.Duration // maximum wait of a ticket; 0: as long as its context
}

// Owner identifies the owner of the work.
type Owner struct {
	Name  string
	Known bool // served before all unknown callers
}

const (
	usageWindow = time.Minute
	mostUsages  = 10_000
)

// usage counts how often an owner was admitted since the beginning of a window.
type usage struct {
	count int
	since time.Time
}

type ticket struct {
	owner Owner
	done  chan struct{} // closed when the ticket is admitted or rejected
	in    bool
}

// NewQueue returns a new Queue.
func NewQueue(l Limits) *Queue {
	l.Inside = max(l.Inside, 1)
	return &Queue{limits: l, used: map[string]usage{}}
}

// Do calls run when it is the owner's turn. It returns the error of run; ErrFull if too many tickets wait or
// the wait was too long; or the error of the context that ended the wait.
func (q *Queue) Do(ctx context.Context, of Owner, run func() error) error {
	t, err := q.enterQueue(of)
	if err != nil {
		return err
	}
	if err := q.waitForTicket(ctx, t); err != nil {
		return err
	}
	defer q.leaveQueue()
	return run()
}

func (q *Queue) enterQueue(of Owner) (*ticket, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	t := &ticket{owner: of, done: make(chan struct{})}
	if q.inside < q.limits.Inside {
		q.admitTicket(t)
		return t, nil
	}
	own := 0
	for _, w := range q.waiting {
		if w.owner == of {
			own++
		}
	}
	if own >= q.limits.PerOwner || len(q.waiting) >= q.limits.Waiting && !q.displaceLast(t) {
		return nil, ErrFull
	}
	q.waiting = append(q.waiting, t)
	return t, nil
}

// waitForTicket returns nil once the ticket is admitted.
func (q *Queue) waitForTicket(ctx context.Context, t *ticket) error {
	var late <-chan time.Time
	if q.limits.Patience > 0 {
		timer := time.NewTimer(q.limits.Patience)
		defer timer.Stop()
		late = timer.C
	}
	err := error(nil)
	select {
	case <-t.done:
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-late:
		err = ErrFull
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case t.in && ctx.Err() != nil: // admitted after its caller gave up
		q.admitNext()
		return context.Cause(ctx)
	case t.in:
		return nil
	case err == nil: // displaced by another ticket
		return ErrFull
	}
	q.removeTicket(t)
	return err
}

func (q *Queue) leaveQueue() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.admitNext()
}

// admitNext passes a free slot to the best waiting ticket.
func (q *Queue) admitNext() {
	q.inside--
	if best := q.firstTicket(); best != nil {
		q.removeTicket(best)
		q.admitTicket(best)
	}
}

func (q *Queue) admitTicket(t *ticket) {
	q.inside++
	t.in = true
	close(t.done)
	now := time.Now()
	u := q.recentUsage(t.owner.Name, now)
	u.count++
	if len(q.used) >= mostUsages {
		for name, old := range q.used {
			if now.Sub(old.since) >= usageWindow {
				delete(q.used, name)
			}
		}
	}
	if len(q.used) < mostUsages {
		q.used[t.owner.Name] = u
	}
}

func (q *Queue) recentUsage(owner string, now time.Time) usage {
	u, is := q.used[owner]
	if !is || now.Sub(u.since) >= usageWindow {
		u = usage{since: now}
	}
	return u
}

// firstTicket returns the ticket to admit next, or nil if none waits.
func (q *Queue) firstTicket() (found *ticket) {
	now := time.Now()
	for _, t := range q.waiting {
		if found == nil || q.isBefore(t, found, now) {
			found = t
		}
	}
	return found
}

// lastTicket returns the ticket to admit last, or nil if none waits.
func (q *Queue) lastTicket() (found *ticket) {
	now := time.Now()
	for _, t := range q.waiting {
		if found == nil || !q.isBefore(t, found, now) {
			found = t
		}
	}
	return found
}

// isBefore reports whether a is admitted before b although b came earlier.
func (q *Queue) isBefore(a, b *ticket, now time.Time) bool {
	if a.owner.Known != b.owner.Known {
		return a.owner.Known
	}
	return q.recentUsage(a.owner.Name, now).count < q.recentUsage(b.owner.Name, now).count
}

// displaceLast rejects the ticket that would be admitted last, in favor of one that would be admitted before it.
func (q *Queue) displaceLast(t *ticket) bool {
	worst := q.lastTicket()
	if worst == nil || !q.isBefore(t, worst, time.Now()) {
		return false
	}
	q.removeTicket(worst)
	close(worst.done)
	return true
}

func (q *Queue) removeTicket(t *ticket) {
	for i, w := range q.waiting {
		if w == t {
			q.waiting = append(q.waiting[:i], q.waiting[i+1:]...)
			return
		}
	}
}
