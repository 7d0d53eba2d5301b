// Package receivers contains the servers on loopback that the measured server sends to: Sink receives messages over
// SMTP, Webhook receives events over HTTP, and Names is a DNS server that resolves domains to them. Each implements as
// little of its protocol as possible, because it shares the processors with the measured server.
package receivers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
)

// server accepts connections and counts the messages or requests that arrive on them.
type server struct {
	listener net.Listener
	left     atomic.Int64
	arrived  atomic.Pointer[chan struct{}]
	mutex    sync.Mutex
	open     map[net.Conn]struct{}
	sessions sync.WaitGroup
}

// start listens on a free port of the loopback interface, and calls serve for each connection.
func (s *server) start(ctx context.Context, serve func(net.Conn)) (err error) {
	s.open = map[net.Conn]struct{}{}
	if s.listener, err = new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0"); err != nil {
		return err
	}
	s.sessions.Go(func() { s.accept(serve) })
	return nil
}

func (s *server) accept(serve func(net.Conn)) {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			if !errors.Is(err, net.ErrClosed) {
				logError("accept", err)
			}
			return
		}
		s.mutex.Lock()
		s.open[conn] = struct{}{}
		s.mutex.Unlock()
		s.sessions.Go(func() {
			serve(conn)
			s.mutex.Lock()
			delete(s.open, conn)
			s.mutex.Unlock()
			conn.Close() // the client may have closed it first
		})
	}
}

// Addr returns host:port.
func (s *server) Addr() string { return s.listener.Addr().String() }

// Close closes the listener and its connections.
func (s *server) Close() {
	if err := s.listener.Close(); err != nil {
		logError("close", err)
	}
	s.mutex.Lock()
	for conn := range s.open {
		conn.Close() // the client may have closed it first
	}
	s.mutex.Unlock()
	s.sessions.Wait()
}

// Expect returns a channel that is closed when n more have arrived.
func (s *server) Expect(n int) <-chan struct{} {
	arrived := make(chan struct{})
	s.arrived.Store(&arrived)
	s.left.Store(int64(n))
	return arrived
}

// Left returns how many have not arrived yet.
func (s *server) Left() int64 { return s.left.Load() }

func (s *server) count() {
	if s.left.Add(-1) == 0 {
		close(*s.arrived.Load())
	}
}

// logError logs an error of a receiver. The measurement then fails because messages are missing.
func logError(operation string, err error) { fmt.Fprintf(os.Stderr, "bench: %s: %v\n", operation, err) }
