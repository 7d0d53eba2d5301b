package failover

import (
	"context"
	"database/sql/driver"
	"errors"
	"os"
	"sync"
	"time"
)

// Dial connects to a host, by its position. ctx bounds the whole of it.
type Dial func(ctx context.Context, host int) (driver.Conn, error)

// Survey asks hosts who they are. Safe for concurrent use.
type Survey struct {
	dial     Dial
	patience time.Duration
	peers    []*peer
	asking   sync.WaitGroup
	ctx      context.Context
	cancel   context.CancelFunc
}

// peer is one host.
type peer struct {
	mutex   sync.Mutex
	seen    Sighting
	asked   time.Time     // when the question of seen began; zero: never
	silent  bool          // it had no answer in time
	running chan struct{} // of the question that is asked now; nil: none is
	conn    driver.Conn   // to a standby, of the one question at a time; nil: none is kept
}

// NewSurvey returns a survey of hosts, which are named host:port. None is asked yet. A host that takes longer than
// patience is silent.
func NewSurvey(hosts []string, patience time.Duration, dial Dial) *Survey {
	s := &Survey{dial: dial, patience: patience}
	s.ctx, s.cancel = context.WithCancel(context.Background()) // no caller is behind a question
	for _, host := range hosts {
		s.peers = append(s.peers, &peer{seen: Sighting{Host: host, Err: errors.New("it was not asked yet")}})
	}
	return s
}

// Close ends questions and connections.
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

// Begin asks all hosts and waits for none, so that a silent one is known to be so when a connection is made.
func (s *Survey) Begin() {
	now := time.Now()
	for i, p := range s.peers {
		s.ask(p, i, now)
	}
}

// Note adds what a host has said at a time.
func (s *Survey) Note(host int, who Identity, at time.Time) {
	p := s.peers[host]
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if at.After(p.asked) {
		p.seen.Identity, p.seen.Err, p.asked, p.silent = who, nil, at, false
	}
}

// Look returns what all hosts say. Those that were asked before since are asked again, at the same time, but for one
// (-1: none) and those that were silent before: these are asked as well, and their answers are in a later look.
func (s *Survey) Look(ctx context.Context, since time.Time, but int) []Sighting {
	limit := time.NewTimer(s.patience)
	defer limit.Stop()
	for i, p := range s.peers {
		if i == but {
			continue
		}
		s.ask(p, i, since) // all at once
	}
	for i, p := range s.peers {
		for i != but && s.await(ctx, p, i, since, limit.C) {
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

// await waits for the end of a question, and reports whether another one is needed.
func (s *Survey) await(ctx context.Context, p *peer, host int, since time.Time, limit <-chan time.Time) (again bool) {
	running := s.ask(p, host, since)
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

// ask asks a host, unless it was asked since, or is asked now. It returns what is closed at the end of the question,
// or nil where there is nothing to wait for.
func (s *Survey) ask(p *peer, host int, since time.Time) (running <-chan struct{}) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if s.ctx.Err() != nil || !p.asked.Before(since) {
		return nil
	}
	if p.running == nil {
		p.running = make(chan struct{})
		s.asking.Go(func() { s.question(p, host, time.Now()) })
	}
	if p.silent {
		return nil
	}
	return p.running
}

func (s *Survey) question(p *peer, host int, began time.Time) {
	ctx, cancel := context.WithTimeout(s.ctx, s.patience)
	defer cancel()
	p.mutex.Lock()
	conn := p.conn
	p.mutex.Unlock()
	who, conn, err := s.identify(ctx, host, conn)
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.conn = conn
	if !began.Before(p.asked) { // else a new connection has said something since
		p.seen.Identity, p.seen.Err, p.asked = who, err, began
	}
	p.silent = errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded)
	close(p.running)
	p.running = nil
}

// identify asks on a connection that was kept, if there is one, else on a new one. It returns the connection to keep:
// that of a standby, because the primary has none to spare.
func (s *Survey) identify(ctx context.Context, host int, kept driver.Conn) (Identity, driver.Conn, error) {
	if kept != nil {
		who, err := Ask(ctx, kept)
		if err == nil && who.Standby {
			return who, kept, nil
		}
		_ = kept.Close() // it may have been cut off long ago
	}
	conn, err := s.dial(ctx, host)
	if err != nil {
		return Identity{}, nil, err
	}
	who, err := Ask(ctx, conn)
	if err != nil {
		return Identity{}, nil, errors.Join(err, conn.Close())
	}
	if !who.Standby {
		_ = conn.Close() // it has said what was asked
		return who, nil, nil
	}
	return who, conn, nil
}
