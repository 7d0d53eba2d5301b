package smtpclient

import (
	"slices"
	"sync"
	"time"
)

// routeKey names a route: messages with the same key may share a connection. What
// makes connections differ (a source address, a stricter TLS policy) belongs in here.
type routeKey struct {
	hosts     string // sorted host:port set
	tls       string
	way       string
	smarthost Smarthost // with its credentials
}

// pool keeps idle connections by lane. How many there may be is the lane's affair.
type pool struct {
	idleAge time.Duration
	quit    func(*session)

	mu      sync.Mutex
	idle    map[laneKey][]*session // the longest unused first
	closed  bool
	closers sync.WaitGroup // of connections saying goodbye
}

func newPool(idleAge time.Duration, quit func(*session)) *pool {
	return &pool{idleAge: idleAge, quit: quit, idle: map[laneKey][]*session{}}
}

// take gives the most recently used idle connection of a route, if there is one.
func (p *pool) take(l laneKey, key routeKey) *session {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, s := range slices.Backward(p.idle[l]) {
		if s.key == key {
			p.remove(l, i)
			return s
		}
	}
	return nil
}

// remove takes a connection out. If it is too late to stop its timer, expire will not
// find it.
func (p *pool) remove(l laneKey, i int) {
	p.idle[l][i].expiry.Stop()
	p.idle[l] = slices.Delete(p.idle[l], i, i+1)
	if len(p.idle[l]) == 0 {
		delete(p.idle, l) // lanes are as many as domains in the world
	}
}

// park keeps a connection for the next message, and of all of the lane only so many.
func (p *pool) park(l laneKey, s *session, most int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		s.cut()
		return
	}
	s.kept = true
	p.idle[l] = append(p.idle[l], s)
	s.expiry = time.AfterFunc(p.idleAge, func() { p.expire(l, s) })
	p.trimLocked(l, most)
}

// trim says goodbye to idle connections beyond a number.
func (p *pool) trim(l laneKey, most int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.trimLocked(l, most)
}

func (p *pool) trimLocked(l laneKey, most int) {
	for len(p.idle[l]) > max(0, most) {
		s := p.idle[l][0]
		p.remove(l, 0)
		p.retireLocked(s)
	}
}

func (p *pool) expire(l laneKey, s *session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.idle[l], s); i >= 0 {
		p.remove(l, i)
		p.retireLocked(s)
	}
}

// retire says goodbye without making anybody wait.
func (p *pool) retire(s *session) {
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

// close ends all idle connections and waits for their goodbyes.
func (p *pool) close() {
	p.mu.Lock()
	for l := range p.idle {
		p.trimLocked(l, 0)
	}
	p.closed = true
	p.mu.Unlock()
	p.closers.Wait()
}
