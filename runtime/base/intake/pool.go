package intake

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// The errors of holding something. The edges translate them.
var (
	// ErrFull means that there was no room within the time to wait for it.
	ErrFull = errors.New("no room left in the budget")
	// ErrCut means that a holder was ended to make room for others.
	ErrCut = errors.New("ended to make room for others")
)

// Pool is a number of equal units (bytes, places) of which no share has more than a quarter. It is safe for
// concurrent use.
//
// A holder that finds no room waits. A full share delays no other share. Among the waiters whose shares
// have room, the one whose share holds least is next, and within a share the first one; no waiter overtakes
// the next one.
type Pool struct {
	size, each int64
	grace      time.Duration // wait of a newcomer to a full pool before a holder is ended

	mu      sync.Mutex
	used    int64
	count   uint64 // number of holds so far
	largest int64  // largest claim so far
	shares  map[label]*share
	queue   []*waiter
	tight   bool // a waiter in queue lacks only room in the pool
	refused uint64
	cut     uint64
}

// parts is the number of full shares that fit into a pool.
const parts = 4

// NewPool returns a pool of the given size.
func NewPool(size int64) *Pool {
	return &Pool{size: size, each: size / parts, grace: time.Second, shares: map[label]*share{}}
}

// share is what is held under one label.
type share struct {
	held  int64
	holds []*hold
}

func (s *share) addHold(h *hold) { s.holds = append(s.holds, h) }

// removeHold replaces the hold with the last one.
func (s *share) removeHold(h *hold) {
	last := len(s.holds) - 1
	s.holds[slices.Index(s.holds, h)] = s.holds[last]
	s.holds[last] = nil
	s.holds = s.holds[:last]
}

// hold is what one holder has of a pool. Its fields are guarded by the pool's mutex.
type hold struct {
	pool   *Pool
	labels [maxShares]label
	shares [maxShares]*share
	n      int // number of shares

	held  int64
	most  int64 // upper bound of the hold
	born  uint64
	waits *waiter

	// While the process waits for a client: how to end that, since when it waits, and how much has moved
	// since.
	end   func()
	since time.Time
	moved int64
	ended bool
}

// waiter is a hold that waits for n more.
type waiter struct {
	hold *hold
	n    int64
	done chan error
}

// Take waits for n units of the pool. The error is ErrFull after maxWait, or that of ctx. More than a
// share counts as a whole share. Call release once at most.
func (p *Pool) Take(ctx context.Context, o Tenant, n int64, maxWait time.Duration) (release func(), err error) {
	h := new(hold)
	n = min(n, p.each)
	p.addHold(h, o, n)
	if err := h.takeUnits(ctx, n, maxWait); err != nil {
		h.leave()
		return nil, err
	}
	return h.leave, nil
}

// TryTake is Take without waiting.
func (p *Pool) TryTake(o Tenant, n int64) (release func(), ok bool) {
	h := new(hold)
	n = min(n, p.each)
	p.addHold(h, o, n)
	if !h.tryTake(n) {
		h.leave()
		return nil, false
	}
	return h.leave, true
}

// addHold adds an empty hold to the pool.
func (p *Pool) addHold(h *hold, o Tenant, most int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h.pool, h.most = p, min(most, p.each)
	h.labels, h.n = o.shareLabels()
	p.count++
	h.born = p.count
	p.largest = max(p.largest, h.most)
	for i, l := range h.labels[:h.n] {
		s := p.shares[l]
		if s == nil {
			s = new(share)
			p.shares[l] = s
		}
		s.addHold(h)
		h.shares[i] = s
	}
}

// leave releases everything. It may be called on a hold that has left, or never entered.
func (h *hold) leave() {
	p := h.pool
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if h.n == 0 {
		return
	}
	p.addUnits(h, -h.held)
	for i, s := range h.shares[:h.n] {
		s.removeHold(h)
		if len(s.holds) == 0 && p.shares[h.labels[i]] == s {
			delete(p.shares, h.labels[i])
		}
	}
	h.n, h.end = 0, nil
	p.serveWaiters()
}

// releaseUnits releases n units.
func (h *hold) releaseUnits(n int64) {
	p := h.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	p.addUnits(h, -n)
	p.serveWaiters()
}

// stopGrowing records that the hold grows no further.
func (h *hold) stopGrowing() {
	p := h.pool
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	h.most = h.held
	p.serveWaiters()
}

func (p *Pool) addUnits(h *hold, n int64) {
	h.held += n
	p.used += n
	for _, s := range h.shares[:h.n] {
		s.held += n
	}
}

// tryTake takes n more if no waiter is affected.
func (h *hold) tryTake(n int64) bool {
	p := h.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if h.ended || p.tight || !p.sharesHaveRoom(h, n) || p.used+n > p.size {
		return false
	}
	p.addUnits(h, n)
	return true
}

// takeUnits waits for n more.
func (h *hold) takeUnits(ctx context.Context, n int64, maxWait time.Duration) error {
	if h.tryTake(n) {
		return nil
	}
	p := h.pool
	w := &waiter{hold: h, n: n, done: make(chan error, 1)}
	p.mu.Lock()
	if h.ended {
		p.mu.Unlock()
		return ErrCut
	}
	h.waits = w
	p.queue = append(p.queue, w)
	p.serveWaiters()
	p.mu.Unlock()
	late, room := time.NewTimer(maxWait), time.NewTicker(p.grace)
	defer late.Stop()
	defer room.Stop()
	for {
		select {
		case err := <-w.done:
			return err
		case <-ctx.Done():
			return p.withdrawWaiter(w, ctx.Err())
		case <-late.C:
			return p.withdrawWaiter(w, ErrFull)
		case <-room.C:
			p.makeRoom(w)
		}
	}
}

// withdrawWaiter removes a waiter from the queue. A waiter that was served in the meantime keeps its n.
func (p *Pool) withdrawWaiter(w *waiter, reason error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w.hold.waits != w {
		return <-w.done
	}
	if errors.Is(reason, ErrFull) {
		p.refused++
	}
	p.removeWaiter(w)
	p.serveWaiters()
	return reason
}

func (p *Pool) removeWaiter(w *waiter) {
	w.hold.waits = nil
	p.queue = slices.DeleteFunc(p.queue, func(other *waiter) bool { return other == w })
}

// serveWaiters distributes free units to waiters.
func (p *Pool) serveWaiters() {
	p.tight = false
	if len(p.queue) == 0 {
		return
	}
	slices.SortFunc(p.queue, func(a, b *waiter) int {
		return cmp.Or(cmp.Compare(a.hold.fullestShare(), b.hold.fullestShare()), cmp.Compare(a.hold.born, b.hold.born))
	})
	var full []*share // shares in which an older waiter waits
	for _, w := range slices.Clone(p.queue) {
		h := w.hold
		behind := slices.ContainsFunc(h.shares[:h.n], func(s *share) bool { return slices.Contains(full, s) })
		if behind || !p.sharesHaveRoom(h, w.n) {
			full = append(full, h.shares[:h.n]...)
			continue
		}
		if p.used+w.n > p.size {
			p.tight = true
			return
		}
		p.addUnits(h, w.n)
		p.removeWaiter(w)
		w.done <- nil
	}
}

// fullestShare returns the units in the fullest share of the hold.
func (h *hold) fullestShare() (most int64) {
	for _, s := range h.shares[:h.n] {
		most = max(most, s.held)
	}
	return most
}
