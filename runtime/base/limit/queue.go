package limit

import (
	"context"
	"sync"
	"time"
)

// Queue bounds concurrent work that strangers cause, fairly by owner. Owners who are known go first. Of the
// others the one that has used the least of late is next, so that those who come with many requests, or
// again and again, do not starve the ones who come once. Safe for concurrent use.
type Queue struct {
	limits Limits

	mu      sync.Mutex
	inside  int
	waiting []*ticket // in the order in which they came
	used    map[string]usage
}

// Limits are what a Queue bounds.
type Limits struct {
	Inside   int           // work at a time, one at least
	Waiting  int           // tickets that wait
	PerOwner int           // tickets of one owner that wait
	Patience time.Duration // how long a ticket waits; 0: as long as its context
}

// Owner is whose work it is.
type Owner struct {
	Name  string
	Known bool // goes before all who are not
}

const (
	usageWindow = time.Minute
	mostUsages  = 10_000
)

// usage is how often an owner was let in since the beginning of a window.
type usage struct {
	count int
	since time.Time
}

type ticket struct {
	owner Owner
	done  chan struct{} // closed when it is let in, or turned away
	in    bool
}

// NewQueue creates a Queue.
func NewQueue(l Limits) *Queue {
	l.Inside = max(l.Inside, 1)
	return &Queue{limits: l, used: map[string]usage{}}
}

// Do runs something when it is the owner's turn. Its error is that of run; ErrFull where too many wait, or
// the wait took too long; or that of the context, which ended the wait.
func (q *Queue) Do(ctx context.Context, of Owner, run func() error) error {
	t, err := q.enter(of)
	if err != nil {
		return err
	}
	if err := q.wait(ctx, t); err != nil {
		return err
	}
	defer q.leave()
	return run()
}

func (q *Queue) enter(of Owner) (*ticket, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	t := &ticket{owner: of, done: make(chan struct{})}
	if q.inside < q.limits.Inside {
		q.admit(t)
		return t, nil
	}
	own := 0
	for _, w := range q.waiting {
		if w.owner == of {
			own++
		}
	}
	if own >= q.limits.PerOwner || len(q.waiting) >= q.limits.Waiting && !q.displace(t) {
		return nil, ErrFull
	}
	q.waiting = append(q.waiting, t)
	return t, nil
}

// wait returns nil once the ticket is let in.
func (q *Queue) wait(ctx context.Context, t *ticket) error {
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
	case t.in && ctx.Err() != nil: // it was let in meanwhile, and nobody is there any more
		q.next()
		return context.Cause(ctx)
	case t.in:
		return nil
	case err == nil: // it was turned away for another
		return ErrFull
	}
	q.remove(t)
	return err
}

func (q *Queue) leave() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.next()
}

// next returns the place of one who leaves to the best ticket that waits.
func (q *Queue) next() {
	q.inside--
	if best := q.first(); best != nil {
		q.remove(best)
		q.admit(best)
	}
}

func (q *Queue) admit(t *ticket) {
	q.inside++
	t.in = true
	close(t.done)
	now := time.Now()
	u := q.usage(t.owner.Name, now)
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

func (q *Queue) usage(owner string, now time.Time) usage {
	u, is := q.used[owner]
	if !is || now.Sub(u.since) >= usageWindow {
		u = usage{since: now}
	}
	return u
}

// first returns the ticket that is let in next; nil: none waits.
func (q *Queue) first() (found *ticket) {
	now := time.Now()
	for _, t := range q.waiting {
		if found == nil || q.before(t, found, now) {
			found = t
		}
	}
	return found
}

// last returns the ticket that would be let in last; nil: none waits.
func (q *Queue) last() (found *ticket) {
	now := time.Now()
	for _, t := range q.waiting {
		if found == nil || !q.before(t, found, now) {
			found = t
		}
	}
	return found
}

// before reports whether a is let in before b although b came earlier.
func (q *Queue) before(a, b *ticket, now time.Time) bool {
	if a.owner.Known != b.owner.Known {
		return a.owner.Known
	}
	return q.usage(a.owner.Name, now).count < q.usage(b.owner.Name, now).count
}

// displace turns the ticket away that would be let in last, for one that goes before it.
func (q *Queue) displace(t *ticket) bool {
	worst := q.last()
	if worst == nil || !q.before(t, worst, time.Now()) {
		return false
	}
	q.remove(worst)
	close(worst.done)
	return true
}

func (q *Queue) remove(t *ticket) {
	for i, w := range q.waiting {
		if w == t {
			q.waiting = append(q.waiting[:i], q.waiting[i+1:]...)
			return
		}
	}
}
