package receivers

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
)

// Sink is an SMTP server that counts messages and forgets them. It does the least that
// a client needs, because it shares the cores with what is measured.
type Sink struct {
	listener net.Listener
	left     atomic.Int64
	octets   atomic.Int64 // of all messages
	arrived  atomic.Pointer[chan struct{}]
	mutex    sync.Mutex
	open     map[net.Conn]struct{}
	sessions sync.WaitGroup
}

// NewSink starts one on a free port of this machine.
func NewSink(ctx context.Context) (*Sink, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Sink{listener: l, open: map[net.Conn]struct{}{}}
	s.sessions.Go(s.accept)
	return s, nil
}

// Addr is host:port.
func (s *Sink) Addr() string { return s.listener.Addr().String() }

// Close ends it with its connections.
func (s *Sink) Close() {
	if err := s.listener.Close(); err != nil {
		complain("sink", err)
	}
	s.mutex.Lock()
	for conn := range s.open {
		conn.Close() // it may have gone
	}
	s.mutex.Unlock()
	s.sessions.Wait()
}

// Expect gives a channel that closes when n more messages have arrived.
func (s *Sink) Expect(n int) <-chan struct{} {
	arrived := make(chan struct{})
	s.arrived.Store(&arrived)
	s.left.Store(int64(n))
	return arrived
}

func (s *Sink) accept() {
	for {
		conn, err := s.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			complain("sink", err)
			return
		}
		s.mutex.Lock()
		s.open[conn] = struct{}{}
		s.mutex.Unlock()
		s.sessions.Go(func() {
			s.serve(conn)
			s.mutex.Lock()
			delete(s.open, conn)
			s.mutex.Unlock()
			conn.Close() // it may have gone
		})
	}
}

// serve answers until the other end goes. Replies wait while more commands are there
// already (RFC 2920).
func (s *Sink) serve(conn net.Conn) {
	in, out := bufio.NewReaderSize(conn, 64<<10), bufio.NewWriter(conn)
	say := func(line string) bool {
		out.WriteString(line + "\r\n") //nolint:errcheck // Flush says it
		return in.Buffered() > 0 || out.Flush() == nil
	}
	if !say("220 sink.localhost ESMTP") {
		return
	}
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return
		}
		var ok bool
		switch verb := string(bytes.ToUpper(line[:min(4, len(line))])); verb {
		case "EHLO":
			ok = say("250-sink.localhost\r\n250-PIPELINING\r\n250-8BITMIME\r\n250 SMTPUTF8")
		case "DATA":
			out.WriteString("354 go on\r\n") //nolint:errcheck // Flush says it
			if out.Flush() != nil {
				return
			}
			octets, whole := skipBody(in)
			if !whole {
				return
			}
			s.octets.Add(octets)
			ok = say("250 2.0.0 Ok")
			s.count()
		case "QUIT":
			say("221 bye")
			out.Flush() //nolint:errcheck // the other end may have gone
			return
		default:
			ok = say("250 2.0.0 Ok")
		}
		if !ok {
			return
		}
	}
}

func skipBody(in *bufio.Reader) (octets int64, whole bool) {
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return 0, false
		}
		if bytes.Equal(line, []byte(".\r\n")) {
			return octets, true
		}
		octets += int64(len(line))
	}
}

func (s *Sink) count() {
	if s.left.Add(-1) == 0 {
		close(*s.arrived.Load())
	}
}

// Left is the number of messages that are still expected.
func (s *Sink) Left() int64 { return s.left.Load() }

// Size is the bytes of all messages that have arrived.
func (s *Sink) Size() int64 { return s.octets.Load() }
