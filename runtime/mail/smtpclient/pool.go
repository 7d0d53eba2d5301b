package smtpclient

import (
	"context"
	"sync"
	"time"
)

// routeKey names a route: messages with the same key may share a connection. What
// makes connections differ (a source address, a stricter TLS policy) belongs in here.
type routeKey struct {
	hosts string // sorted host:port set
	tls   string
}

// pool keeps idle connections per route and bounds all of a route's connections.
type pool struct {
	perRoute int
	idleAge  time.Duration
	quit     func(*session)

	mu      sync.Mutex
	lanes   map[routeKey]*lane
	closed  bool
	closers sync.WaitGroup // of connections saying goodbye
}

// lane is the connections of one route. A slot is held while a connection is used,
// and a new connection is made only when none is idle, so used and idle together
// never exceed the slots.
type lane struct {
	key   routeKey
	slots chan struct{}
	users int // holding or waiting for a slot
	idle  []*session
}

func newPool(perRoute int, idleAge time.Duration, quit func(*session)) *pool {
	return &pool{perRoute: perRoute, idleAge: idleAge, quit: quit, lanes: map[routeKey]*lane{}}
}

// acquire waits for a slot of the route. Every success is followed by a release.
func (p *pool) acquire(ctx context.Context, key routeKey) (*lane, error) {
	p.mu.Lock()
	l := p.lanes[key]
	if l == nil {
		l = &lane{key: key, slots: make(chan struct{}, p.perRoute)}
		p.lanes[key] = l
	}
	l.users++
	p.mu.Unlock()
	select {
	case l.slots <- struct{}{}:
		return l, nil
	case <-ctx.Done():
		p.mu.Lock()
		defer p.mu.Unlock()
		l.users--
		p.forget(l)
		return nil, context.Cause(ctx)
	}
}

func (p *pool) release(l *lane) {
	p.mu.Lock()
	defer p.mu.Unlock()
	<-l.slots
	l.users--
	p.forget(l)
}

// forget drops a lane that nobody uses: routes are as many as domains in the world.
func (p *pool) forget(l *lane) {
	if l.users == 0 && len(l.idle) == 0 {
		delete(p.lanes, l.key)
	}
}

// take gives the most recently used idle connection, if there is one.
func (p *pool) take(l *lane) *session {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(l.idle) == 0 {
		return nil
	}
	s := l.idle[len(l.idle)-1]
	l.idle = l.idle[:len(l.idle)-1]
	s.expiry.Stop() // if it is too late for that, expire will not find the session
	return s
}

// park keeps a connection for the next message.
func (p *pool) park(l *lane, s *session) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		s.cut()
		return
	}
	s.kept = true
	l.idle = append(l.idle, s)
	s.expiry = time.AfterFunc(p.idleAge, func() { p.expire(l, s) })
	p.mu.Unlock()
}

func (p *pool) expire(l *lane, s *session) {
	p.mu.Lock()
	found := false
	for i, other := range l.idle {
		if other == s {
			l.idle = append(l.idle[:i], l.idle[i+1:]...)
			found = true
			break
		}
	}
	p.forget(l)
	p.mu.Unlock()
	if found {
		p.retire(s)
	}
}

// retire says goodbye without making anybody wait.
func (p *pool) retire(s *session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		s.cut()
		return
	}
	p.closers.Go(func() { p.quit(s) })
}

// close ends all idle connections and waits for their goodbyes.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	for _, l := range p.lanes {
		for _, s := range l.idle {
			s.expiry.Stop()
			p.closers.Go(func() { p.quit(s) })
		}
		l.idle = nil
		p.forget(l)
	}
	p.mu.Unlock()
	p.closers.Wait()
}
