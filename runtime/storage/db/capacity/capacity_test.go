package capacity_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lib/pq"

	"github.com/postrider/postrider/runtime/storage/db/capacity"
)

func TestConnectionShares(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ room, processes, configured, want int }{
		"one process on an ordinary server":         {97, 1, 40, 40},
		"two processes on it":                       {97, 2, 40, 40},
		"four processes on it":                      {97, 4, 40, 22},
		"four processes under a role limit":         {40, 4, 40, 8},
		"ten processes on a large server":           {497, 10, 40, 40},
		"a process with few configured connections": {97, 4, 10, 10},
		"more processes than connections":           {20, 30, 40, 2},
	} {
		if got := capacity.PerProcess(c.room, c.processes, c.configured); got != c.want {
			t.Errorf("%s: each process has %d connections, want %d", name, got, c.want)
		}
		if all := c.processes * (c.want + 1); c.want > 2 && all > c.room {
			t.Errorf("%s: all processes have %d connections, but the server has %d", name, all, c.room)
		}
	}
	needed := capacity.NeededRoom(4, 40)
	if capacity.PerProcess(needed, 4, 40) != 40 || capacity.PerProcess(needed-1, 4, 40) == 40 {
		t.Errorf("four processes with 40 connections each need %d, want the minimum", needed)
	}
}

// server accepts a limited number of connections.
type server struct {
	mutex           sync.Mutex
	room, open, top int
	refused         int
}

func (s *server) connect(context.Context) (driver.Conn, error) {
	time.Sleep(5 * time.Millisecond) // fake time: a handshake
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.open >= s.room {
		s.refused++
		return nil, &pq.Error{Severity: "FATAL", Code: "53300", Message: "sorry, too many clients already"}
	}
	s.open++
	s.top = max(s.top, s.open)
	return &connection{s}, nil
}

func (s *server) setRoom(n int) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.room = n
}

func (s *server) refusals() int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.refused
}

type connection struct{ server *server }

func (c *connection) Prepare(string) (driver.Stmt, error) { return nil, driver.ErrSkip }
func (c *connection) Begin() (driver.Tx, error)           { return nil, driver.ErrSkip }
func (c *connection) Close() error {
	c.server.mutex.Lock()
	defer c.server.mutex.Unlock()
	c.server.open--
	return nil
}

// bounded is a connector like those of package db.
type bounded struct {
	*server
	pool *capacity.Pool
}

func (b bounded) Connect(ctx context.Context) (driver.Conn, error) {
	return b.pool.Open(ctx, b.server.connect)
}
func (b bounded) Driver() driver.Driver { return nil }

// process is two pools with a share.
type process struct {
	share *capacity.Share
	pools []*sql.DB
}

func newProcess(t *testing.T, s *server, configured int) *process {
	t.Helper()
	p := &process{share: capacity.NewShare(configured)}
	for range 2 {
		pool := p.share.NewPool(4 * time.Second)
		handle := sql.OpenDB(bounded{s, pool})
		pool.Bound(handle)
		p.pools = append(p.pools, handle)
		t.Cleanup(func() {
			pool.Close()
			if err := handle.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	return p
}

// use holds a connection for a while.
func use(t *testing.T, handle *sql.DB, while time.Duration) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 6*time.Second)
	defer cancel()
	conn, err := handle.Conn(ctx)
	if err != nil {
		return err
	}
	time.Sleep(while) // fake time: a statement
	return conn.Close()
}

// Four processes want 160 connections of a server that allows 40, without knowing each other.
func TestWaitsForRefusedConnections(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &server{room: 40}
		var all sync.WaitGroup
		for range 4 {
			p := newProcess(t, s, 40)
			for client := range 64 {
				all.Go(func() {
					for range 20 {
						if err := use(t, p.pools[client%2], 3*time.Millisecond); err != nil {
							t.Errorf("a caller was rejected: %v", err)
						}
					}
				})
			}
		}
		all.Wait()
		if s.refusals() == 0 || s.top > s.room {
			t.Errorf("the server refused %d connections and had %d, want some refused and at most %d", s.refused,
				s.top, s.room)
		}
	})
}

// Processes that know their shares are not rejected.
func TestSharesAvoidRefusedConnections(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &server{room: 97}
		var all sync.WaitGroup
		for range 4 {
			p := newProcess(t, s, 40)
			p.share.SetRoom(97)
			p.share.SetProcesses(4)
			for client := range 64 {
				all.Go(func() {
					for range 20 {
						if err := use(t, p.pools[client%2], 3*time.Millisecond); err != nil {
							t.Errorf("a caller was rejected: %v", err)
						}
					}
				})
			}
		}
		all.Wait()
		if s.refusals() != 0 {
			t.Errorf("the server refused %d connections, want none", s.refused)
		}
	})
}

// The ceiling falls to the current size of a pool, and rises to its share once the server has room, but not
// with every attempt.
func TestCeilingRisesAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &server{room: 6}
		p := newProcess(t, s, 40)
		handle := p.pools[0]
		crowd := func() {
			var all sync.WaitGroup
			for range 30 {
				all.Go(func() {
					if err := use(t, handle, time.Second); err != nil {
						t.Errorf("a caller was rejected: %v", err)
					}
				})
			}
			all.Wait()
		}
		crowd()
		if got := handle.Stats().MaxOpenConnections; got > 8 {
			t.Errorf("the ceiling is %d with a server that allows 6", got)
		}
		time.Sleep(time.Minute) // no requests
		before := s.refusals()
		crowd()
		if again := s.refusals() - before; again > 8 {
			t.Errorf("%d more connections were refused in five seconds, want a few", again)
		}
		s.setRoom(100)
		for range 60 { // a minute under load
			crowd()
		}
		if stats := handle.Stats(); stats.MaxOpenConnections != 20 || stats.OpenConnections != 20 {
			t.Errorf("a server with room has %d connections of at most %d, want 20 of 20", stats.OpenConnections,
				stats.MaxOpenConnections)
		}
	})
}

// A pool without a connection retries for a moment, and then takes one from the other pool of its process.
func TestPoolWithoutConnectionsGetsOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &server{room: 4}
		p := newProcess(t, s, 40)
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if err := use(t, p.pools[0], time.Second); err != nil {
					t.Errorf("a caller of the first pool was refused: %v", err)
				}
			})
		}
		synctest.Wait()
		time.Sleep(100 * time.Millisecond) // fake time: the first pool has all connections
		if err := use(t, p.pools[1], time.Second); err != nil {
			t.Errorf("a caller of the second pool was refused: %v", err)
		}
		all.Wait()

		s.setRoom(0)
		for _, handle := range p.pools {
			handle.SetMaxIdleConns(0)
		}
		began := time.Now()
		err := use(t, p.pools[0], 0)
		var refused *pq.Error
		if took := time.Since(began); !errors.As(err, &refused) || took < time.Second || took > 6*time.Second {
			t.Errorf("a server that accepts nothing: %v after %s, want its error within 6 s, and not immediately", err,
				took)
		}
	})
}
