package intake

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// sharesHaveRoom reports whether the shares of the hold have room for n more: no share exceeds its part then, and
// its other holders can still finish.
func (p *Pool) sharesHaveRoom(h *hold, n int64) bool {
	for _, s := range h.shares[:h.n] {
		if s.held+n > p.each || !p.canAllFinish(s, h, n) {
			return false
		}
	}
	return true
}

// canAllFinish reports whether all holders of a share can get what they may still need, one after the other and the
// oldest first, if h gets n more. Without this check, holders that reserve in steps could deadlock.
func (p *Pool) canAllFinish(s *share, h *hold, n int64) bool {
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

// startTransfer records that the process waits for a client to send or receive, and how to end that. end is
// called with the pool's mutex held, at most once and never after endTransfer has returned; it must not block.
func (h *hold) startTransfer(end func()) {
	p := h.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	h.end, h.since, h.moved = end, time.Now(), 0
}

// countTransfer counts bytes that the client has sent or received.
func (h *hold) countTransfer(n int) {
	p := h.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	h.moved += int64(n)
}

// endTransfer records that the process no longer waits for the client. It reports whether the client was ended.
func (h *hold) endTransfer() (ended bool) {
	p := h.pool
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	h.end = nil
	return h.ended
}

func (h *hold) isEnded() bool {
	p := h.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	return h.ended
}

// makeRoom ends a holder in favor of a waiter that has waited for a while and lacks only room in the pool.
// It ends the slowest client of the share that holds most, if that share holds more than the waiter's. So
// shares shrink as more owners compete for a part.
func (p *Pool) makeRoom(w *waiter) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w.hold.waits != w || !p.sharesHaveRoom(w.hold, w.n) {
		return
	}
	lacking := p.used + w.n - p.size
	for _, s := range p.shares { // a client that was already ended releases its part shortly
		for _, h := range s.holds {
			if h.ended && h.shares[0] == s {
				lacking -= h.held
			}
		}
	}
	for lacking > 0 {
		victim := p.findSlowest(w.hold.fullestShare() + w.n)
		if victim == nil {
			return
		}
		lacking -= victim.held
		p.endHold(victim)
	}
}

// findSlowest returns the holder to end, among the shares that hold more than others.
func (p *Pool) findSlowest(than int64) *hold {
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
			if rate := h.transferRate(); left > most || rate < least {
				found, most, least = h, left, rate
			}
		}
	}
	return found
}

// transferRate returns the speed in bytes per second. A holder that waits for this process is not slow, and so
// comes last.
func (h *hold) transferRate() float64 {
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
		p.removeWaiter(w)
		w.done <- ErrCut
	}
}
