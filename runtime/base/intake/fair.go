package intake

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// inShares tells whether the shares of the hold let it have n more: none has more than
// its part then, and the others in it can still come to their end.
func (p *Pool) inShares(h *hold, n int64) bool {
	for _, s := range h.shares[:h.n] {
		if s.held+n > p.each || !p.ends(s, h, n) {
			return false
		}
	}
	return true
}

// ends tells whether all holders of a share can have what they may come to need, one
// after the other and the oldest first, when h has n more. Where they take their part in
// steps each could otherwise have a piece and wait for ever for what the others have.
func (p *Pool) ends(s *share, h *hold, n int64) bool {
	free := p.each - s.held - n
	if free >= p.largest {
		return true
	}
	holds := slices.SortedFunc(slices.Values(s.holds), func(a, b *hold) int { return cmp.Compare(a.born, b.born) })
	for _, other := range holds {
		held := other.held
		if other == h {
			held += n
		}
		if other.most-held > free {
			return false
		}
		free += held
	}
	return true
}

// moving says that a client brings or takes what is held, and how that is ended. end is
// called under the pool's mutex, once at most and never after still has returned; it
// must not wait.
func (h *hold) moving(end func()) {
	p := h.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	h.end, h.since, h.moved = end, time.Now(), 0
}

// moves counts octets that the client has brought or taken.
func (h *hold) moves(n int) {
	p := h.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	h.moved += int64(n)
}

// still says that it is ours to go on. The result tells whether the client was ended.
func (h *hold) still() (ended bool) {
	p := h.pool
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	h.end = nil
	return h.ended
}

func (h *hold) wasEnded() bool {
	p := h.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	return h.ended
}

// makeRoom ends a holder for one that has waited for a while and lacks nothing but room
// in the pool: of the share that holds most, if that has more than the waiter's, the one
// whose client is slowest. So the more want a part the smaller the parts become.
func (p *Pool) makeRoom(w *waiter) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w.hold.waits != w || !p.inShares(w.hold, w.n) {
		return
	}
	lacking := p.used + w.n - p.size
	for _, s := range p.shares { // who was ended already gives its part back in a moment
		for _, h := range s.holds {
			if h.ended && h.shares[0] == s {
				lacking -= h.held
			}
		}
	}
	for lacking > 0 {
		victim := p.slowest(w.hold.fullest() + w.n)
		if victim == nil {
			return
		}
		lacking -= victim.held
		p.endHold(victim)
	}
}

// slowest finds whom to end, among the shares that hold more than others.
func (p *Pool) slowest(than int64) *hold {
	var found *hold
	var most int64
	least := math.Inf(1)
	for _, s := range p.shares {
		left := s.held
		for _, h := range s.holds {
			if h.ended {
				left -= h.held
			}
		}
		if left <= than || left < most {
			continue
		}
		for _, h := range s.holds {
			if h.ended || h.held == 0 || h.end == nil && h.waits == nil {
				continue
			}
			if rate := h.rate(); left > most || rate < least {
				found, most, least = h, left, rate
			}
		}
	}
	return found
}

// rate is in octets per second. Who waits for us is not slow, and so comes last.
func (h *hold) rate() float64 {
	if h.end == nil {
		return math.MaxFloat64
	}
	return float64(h.moved) / max(time.Since(h.since), time.Millisecond).Seconds()
}

func (p *Pool) endHold(h *hold) {
	h.ended = true
	p.cut++
	if h.end != nil {
		h.end()
		h.end = nil
	}
	if w := h.waits; w != nil {
		p.remove(w)
		w.done <- ErrCut
	}
}
