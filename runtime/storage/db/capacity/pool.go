package capacity

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"sync"
	"time"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
)

const (
	settle   = 10 * time.Millisecond // after a refusal, so that concurrent refusals see the same pool
	retryMin = 50 * time.Millisecond // between two attempts of a pool without connections
	retryMax = 500 * time.Millisecond
	riseMin  = time.Second // between two rises of a ceiling, and after the first refusal
	riseMax  = 16 * time.Second
)

// Pool limits the connections of one database/sql pool. It is safe for concurrent use.
type Pool struct {
	share   *Share
	maxWait time.Duration

	mutex   sync.Mutex
	handle  *sql.DB
	most    int           // its part of the share
	ceiling int           // the current limit
	opening int           // connections being opened
	step    int           // size of the next rise
	wait    time.Duration // until the next rise after a refusal
	rise    *time.Timer   // nil if the ceiling equals most
	closed  bool
}

// NewPool adds a pool to the share. A pool without connections that is refused one retries for as long as
// maxWait.
func (s *Share) NewPool(maxWait time.Duration) *Pool {
	pool := &Pool{share: s, maxWait: maxWait, step: 1, wait: riseMin}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.pools = append(s.pools, pool)
	return pool
}

// Bound applies the limit to a database/sql pool whose connections are opened with Open.
func (p *Pool) Bound(handle *sql.DB) {
	p.mutex.Lock()
	p.handle = handle
	p.mutex.Unlock()
	p.share.mutex.Lock()
	defer p.share.mutex.Unlock()
	p.share.dividePools()
}

// Close stops raising the ceiling.
func (p *Pool) Close() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.closed = true
	if p.rise != nil {
		p.rise.Stop()
	}
}

// Open opens a connection. If the server has no room, it returns driver.ErrBadConn. database/sql then tries
// again and waits for one of the open connections, because the limit is reached.
func (p *Pool) Open(ctx context.Context, open func(context.Context) (driver.Conn, error)) (driver.Conn, error) {
	p.countOpening(1)
	defer p.countOpening(-1)
	limit := time.Now().Add(p.maxWait)
	for retry := retryMin; ; retry = min(2*retry, retryMax) {
		conn, err := open(ctx)
		if err == nil || !IsRefusal(err) {
			return conn, err
		}
		others := p.lowerCeiling()
		pause := settle
		if !others {
			p.share.giveUp(p)
			pause = retry
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(err, ctx.Err())
		case <-time.After(pause):
		}
		switch {
		case others:
			return nil, driver.ErrBadConn
		case time.Now().After(limit):
			return nil, errors.Join(err, context.DeadlineExceeded)
		}
	}
}

// IsRefusal reports whether a server refused a connection because its limit is reached, or because it
// currently accepts none.
func IsRefusal(err error) bool {
	var server *pq.Error
	return errors.As(err, &server) &&
		(server.Code == pqerror.TooManyConnections || server.Code == pqerror.CannotConnectNow)
}

func (p *Pool) countOpening(opening int) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.opening += opening
}

// openConnections returns the number of open connections. The caller holds mutex.
func (p *Pool) openConnections() int { return p.handle.Stats().OpenConnections - p.opening }

// lowerCeiling limits the pool to its current connections, and reports whether it has any. The limit rises again
// later.
func (p *Pool) lowerCeiling() (others bool) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.handle == nil {
		return false
	}
	open := p.openConnections()
	p.step = 1
	if ceiling := max(open, 1); ceiling < p.ceiling {
		p.setCeiling(ceiling)
		if p.rise != nil && p.rise.Stop() { // the ceiling was rising: the server is still full
			p.wait = min(2*p.wait, riseMax)
		}
		p.riseAfter(p.wait)
	}
	return open > 0
}

// giveUp makes the pool close a connection, unless it is its last one.
func (p *Pool) giveUp() bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.handle == nil || p.openConnections() < 2 {
		return false
	}
	p.setCeiling(min(p.ceiling, p.openConnections()-1))
	p.riseAfter(p.wait)
	return true
}

// setMost sets the pool's part of the share.
func (p *Pool) setMost(most int) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	before := p.most
	p.most = most
	switch {
	case p.handle == nil:
	case p.ceiling == 0 || p.ceiling > most: // initially; or because other processes need the rest
		p.setCeiling(most)
	case before < most:
		p.riseAfter(riseMin)
	}
}

// setCeiling sets the current limit. The caller holds mutex.
func (p *Pool) setCeiling(n int) {
	p.ceiling = n
	p.handle.SetMaxOpenConns(n)
	p.handle.SetMaxIdleConns(n) // the default of 2 would cause constant reconnecting
}

// riseAfter raises the ceiling after a wait. The caller holds mutex.
func (p *Pool) riseAfter(wait time.Duration) {
	if p.rise != nil {
		p.rise.Stop()
	}
	p.rise = nil
	if !p.closed && p.ceiling < p.most {
		p.rise = time.AfterFunc(wait, p.raiseCeiling)
	}
}

func (p *Pool) raiseCeiling() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.closed || p.ceiling >= p.most {
		p.rise = nil
		return
	}
	// otherwise the pool does not need more connections, and it is unknown whether the server has more
	if p.openConnections() >= p.ceiling {
		p.setCeiling(min(p.ceiling+p.step, p.most))
		p.step *= 2
	}
	if p.ceiling == p.most {
		p.wait = riseMin
	}
	p.riseAfter(riseMin)
}
