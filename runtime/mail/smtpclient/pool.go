package smtpclient

import (
	"slices"
	"sync"
	"time"
)

// routeKey identifies a route: messages with the same key may share a connection. Everything that makes
// connections different (a source address, a stricter TLS policy) must be part of it.
type routeKey struct {
	hosts     string // sorted host:port set
	tls       string
	way       string
	smarthost Smarthost // with its credentials
}

// pool keeps idle connections by lane. The lane limits their number.
type pool struct {
	idleAge time.Duration
	quit    func(*session)

	mu      sync.Mutex
	idle    map[laneKey][]*session // the longest unused first
	closed  bool
	closers sync.WaitGroup // connections that are sending QUIT
}

func newPool(idleAge time.Duration, quit func(*session)) *pool {
	return &pool{idleAge: idleAge, quit: quit, idle: map[laneKey][]*session{}}
}

// takeIdle returns the most recently used idle connection that fits, if any.
func (p *pool) takeIdle(l laneKey, fits func(*session) bool) *session {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.takeLocked(l, fits)
}

// takeIdleOrTrim is takeIdle. If no connection fits, it closes those above a number.
func (p *pool) takeIdleOrTrim(l laneKey, most int, fits func(*session) bool) *session {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.takeLocked(l, fits)
	if s == nil {
		p.trimLocked(l, most)
	}
	return s
}

func (p *pool) takeLocked(l laneKey, fits func(*session) bool) *session {
	for i, s := range slices.Backward(p.idle[l]) {
		if fits(s) {
			p.removeIdle(l, i)
			return s
		}
	}
	return nil
}

// removeIdle removes a connection. If its timer can no longer be stopped, expire will not find it.
func (p *pool) removeIdle(l laneKey, i int) {
	p.idle[l][i].expiry.Stop()
	p.idle[l] = slices.Delete(p.idle[l], i, i+1)
	if len(p.idle[l]) == 0 {
		delete(p.idle, l) // there can be as many lanes as receiving domains
	}
}

// parkSession keeps a connection for the next message, at most a given number per lane.
func (p *pool) parkSession(l laneKey, s *session, most int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		s.cut()
		return
	}
	s.kept = true
	p.idle[l] = append(p.idle[l], s)
	s.expiry = time.AfterFunc(p.idleAge, func() { p.expireSession(l, s) })
	p.trimLocked(l, most)
}

// trimIdle closes idle connections above a number.
func (p *pool) trimIdle(l laneKey, most int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.trimLocked(l, most)
}

func (p *pool) trimLocked(l laneKey, most int) {
	for len(p.idle[l]) > max(0, most) {
		s := p.idle[l][0]
		p.removeIdle(l, 0)
		p.retireLocked(s)
	}
}

func (p *pool) expireSession(l laneKey, s *session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.idle[l], s); i >= 0 {
		p.removeIdle(l, i)
		p.retireLocked(s)
	}
}

// retireSession closes a connection in the background.
func (p *pool) retireSession(s *session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.retireLocked(s)
}

func (p *pool) retireLocked(s *session) {
	if p.closed {
		s.cut()
		return
	}
	p.closers.Go(func() { p.quit(s) })
}

// close closes all idle connections and waits.
func (p *pool) close() {
	p.mu.Lock()
	for l := range p.idle {
		p.trimLocked(l, 0)
	}
	p.closed = true
	p.mu.Unlock()
	p.closers.Wait()
}
