package failover

import (
	"context"
	"database/sql/driver"
	"errors"
	"os"
	"sync"
	"time"
)

// Dial connects to a host, by index. ctx limits the whole call.
type Dial func(ctx context.Context, host int) (driver.Conn, error)

// Survey queries the identities of hosts. It is safe for concurrent use.
type Survey struct {
	dial    Dial
	timeout time.Duration
	peers   []*peer
	asking  sync.WaitGroup
	ctx     context.Context
	cancel  context.CancelFunc
}

// peer is one host.
type peer struct {
	mutex   sync.Mutex
	seen    Sighting
	asked   time.Time     // when the query for seen began; zero means never
	silent  bool          // the host did not respond in time
	running chan struct{} // closed at the end of the current query; nil if there is none
	conn    driver.Conn   // to a standby, used by one query at a time; may be nil
}

// NewSurvey returns a survey of hosts, named host:port. It does not query them yet. A host that takes
// longer than timeout counts as silent.
func NewSurvey(hosts []string, timeout time.Duration, dial Dial) *Survey {
	s := &Survey{dial: dial, timeout: timeout}
	s.ctx, s.cancel = context.WithCancel(context.Background()) // queries outlive their callers
	for _, host := range hosts {
		s.peers = append(s.peers, &peer{seen: Sighting{Host: host, Err: errors.New("not queried yet")}})
	}
	return s
}

// Close ends queries and connections.
func (s *Survey) Close() {
	s.cancel()
	s.asking.Wait()
	for _, p := range s.peers {
		p.mutex.Lock()
		if p.conn != nil {
			_ = p.conn.Close() // it was idle
			p.conn = nil
		}
		p.mutex.Unlock()
	}
}

// Begin queries all hosts without waiting, so that silent ones are known when a connection is opened.
func (s *Survey) Begin() {
	now := time.Now()
	for i, p := range s.peers {
		s.askHost(p, i, now)
	}
}

// Record records what a host reported at a time.
func (s *Survey) Record(host int, who Identity, at time.Time) {
	p := s.peers[host]
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if at.After(p.asked) {
		p.seen.Identity, p.seen.Err, p.asked, p.silent = who, nil, at, false
	}
}

// Refresh returns the results of all hosts. Hosts whose last query is older than since are queried again,
// concurrently, except for one (-1: none). Hosts that were silent before are queried as well, but Refresh
// does not wait for them.
func (s *Survey) Refresh(ctx context.Context, since time.Time, but int) []Sighting {
	limit := time.NewTimer(s.timeout)
	defer limit.Stop()
	for i, p := range s.peers {
		if i == but {
			continue
		}
		s.askHost(p, i, since) // concurrently
	}
	for i, p := range s.peers {
		for i != but && s.awaitAnswer(ctx, p, i, since, limit.C) {
		}
	}
	all := make([]Sighting, len(s.peers))
	for i, p := range s.peers {
		p.mutex.Lock()
		all[i] = p.seen
		p.mutex.Unlock()
	}
	return all
}

// awaitAnswer waits for the end of a query, and reports whether another one is needed.
func (s *Survey) awaitAnswer(ctx context.Context, p *peer, host int, since time.Time,
	limit <-chan time.Time) (again bool) {
	running := s.askHost(p, host, since)
	if running == nil {
		return false
	}
	select {
	case <-running:
		return true
	case <-limit:
	case <-ctx.Done():
	case <-s.ctx.Done():
	}
	return false
}

// askHost queries a host, unless it was queried since, or a query is running. It returns a channel that is
// closed at the end of the query, or nil if there is nothing to wait for.
func (s *Survey) askHost(p *peer, host int, since time.Time) (running <-chan struct{}) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if s.ctx.Err() != nil || !p.asked.Before(since) {
		return nil
	}
	if p.running == nil {
		p.running = make(chan struct{})
		s.asking.Go(func() { s.runQuery(p, host, time.Now()) })
	}
	if p.silent {
		return nil
	}
	return p.running
}

func (s *Survey) runQuery(p *peer, host int, began time.Time) {
	ctx, cancel := context.WithTimeout(s.ctx, s.timeout)
	defer cancel()
	p.mutex.Lock()
	conn := p.conn
	p.mutex.Unlock()
	who, conn, err := s.identifyHost(ctx, host, conn)
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.conn = conn
	if !began.Before(p.asked) { // otherwise a new connection has reported since
		p.seen.Identity, p.seen.Err, p.asked = who, err, began
	}
	p.silent = errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded)
	close(p.running)
	p.running = nil
}

// identifyHost queries a host on a kept connection if there is one, else on a new one. It returns the
// connection to keep: only for a standby, because the primary has none to spare.
func (s *Survey) identifyHost(ctx context.Context, host int, kept driver.Conn) (Identity, driver.Conn, error) {
	if kept != nil {
		who, err := ReadIdentity(ctx, kept)
		if err == nil && who.Standby {
			return who, kept, nil
		}
		_ = kept.Close() // the connection may have been closed long ago
	}
	conn, err := s.dial(ctx, host)
	if err != nil {
		return Identity{}, nil, err
	}
	who, err := ReadIdentity(ctx, conn)
	if err != nil {
		return Identity{}, nil, errors.Join(err, conn.Close())
	}
	if !who.Standby {
		_ = conn.Close() // the connection is no longer needed
		return who, nil, nil
	}
	return who, conn, nil
}
