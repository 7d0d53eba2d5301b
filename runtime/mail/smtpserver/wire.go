package smtpserver

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"
)

// mode is what the octets are that come next.
type mode int

const (
	command mode = iota // lines, one at a time
	data                // a message, up to the dot
	chunk               // octets that BDAT has counted
)

// wire stands between go-smtp and the network. Read and Write are called by the
// connection's own goroutine; what others touch is under mu.
type wire struct {
	server *Server
	base   net.Conn // for deadlines
	conn   net.Conn // base, or TLS over it

	remote netip.Addr
	from   netip.Prefix // what it counts as
	state  *tls.ConnectionState

	greeting bool   // has gone out
	greeted  bool   // EHLO has come, since TLS began
	held     []byte // of command lines, not yet given to go-smtp
	ready    []byte // to be given to it
	lastCR   bool
	bare     bool // a bare CR or LF stood in a message
	swallow  bool // the next answer, of a command that the client did not give

	errors, authFailures, answers int

	mu       sync.Mutex
	mode     mode
	body     bool // a session is inside Data
	woken    bool // Data began while a line was waited for
	stopping bool
	over     bool // nothing more is read
	mute     bool // the last answer has been written
	closed   bool
	renew    bool  // a message was accepted
	counted  bool  // by address
	turn     int64 // octets since a command was awaited
	lineEnd  time.Time
	turnEnd  time.Time
	bodyEnd  time.Time
	end      time.Time // of the connection
}

func newWire(s *Server, c net.Conn) *wire {
	now := time.Now()
	return &wire{server: s, base: c, conn: c, end: now.Add(s.config.ConnectionTime), lineEnd: now.Add(s.config.Idle), turnEnd: now.Add(s.config.MessageTime)}
}

// Read gives go-smtp whole command lines, or octets of a message as they come. It
// fails once: whatever comes after a failure is never read.
func (w *wire) Read(b []byte) (int, error) {
	for {
		if len(w.ready) > 0 {
			n := copy(b, w.ready)
			w.ready = w.ready[n:]
			return n, nil
		}
		if w.isOver() {
			return 0, w.ended()
		}
		if w.modeNow() == command && bytes.IndexByte(w.held, '\n') >= 0 {
			w.scan()
			continue
		}
		n, err := w.next(b)
		if err != nil {
			return 0, w.failed(err)
		}
		if n > 0 {
			return n, nil
		}
	}
}

var errTooMuch = errors.New("more octets than a message may have")

// next reads once. In the midst of a message the octets go to b, otherwise to held.
func (w *wire) next(b []byte) (int, error) {
	m, err := w.arm()
	if err != nil {
		return 0, err
	}
	if m != command {
		if len(w.held) > 0 { // Data began while a line was waited for
			w.ready, w.held = append(w.ready, w.held...), nil
			return 0, nil
		}
		n, err := w.conn.Read(b)
		w.count(n)
		if m == data {
			w.watch(b[:n])
		}
		if n > 0 {
			return n, nil // the error comes again, if it is one to stay
		}
		return 0, err
	}
	var line [4096]byte
	n, err := w.conn.Read(line[:])
	w.count(n)
	w.held = append(w.held, line[:n]...)
	if errors.Is(err, os.ErrDeadlineExceeded) && w.wasWoken() {
		return 0, nil
	}
	if n > 0 || err == nil {
		if len(w.held) > maxLine { // go-smtp has the words for it
			w.ready, w.held = append(w.ready, w.held...), nil
		}
		return 0, nil
	}
	return 0, err
}

// arm sets the deadline of the next read.
func (w *wire) arm() (mode, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopping && !w.body {
		return command, replyShutdown
	}
	if w.turn > w.server.config.MaxMessageBytes+w.server.config.MaxMessageBytes/4+2*maxLine {
		return w.mode, errTooMuch
	}
	end := w.lineEnd
	if w.mode != command {
		end = earliest(time.Now().Add(w.server.config.BodyRead), w.turnEnd)
	}
	if w.body {
		end = earliest(end, w.bodyEnd)
	}
	w.woken = false
	return w.mode, w.base.SetReadDeadline(earliest(end, w.end))
}

func earliest(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// failed ends the reading, and says why where a command was waited for.
func (w *wire) failed(err error) error {
	var reply *Reply
	switch {
	case errors.As(err, &reply):
	case errors.Is(err, os.ErrDeadlineExceeded) && w.modeNow() == command && !w.inBody():
		reply = replyIdle
		if w.isStopping() {
			reply = replyShutdown
		}
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, errTooMuch):
		w.server.metrics.refused(replyStalled)
	}
	if reply != nil {
		w.finish(reply)
	}
	w.mu.Lock()
	w.over = true
	w.mu.Unlock()
	return w.ended()
}

// ended is the error of every read after the last. In a message it is no EOF: go-smtp
// takes a chunk that ends early for one that is whole, and answers other errors with
// 554.
func (w *wire) ended() error {
	if w.modeNow() == command {
		return io.EOF
	}
	return wireError(replyIncomplete)
}

// finish writes a last answer; nothing follows it in either direction.
func (w *wire) finish(r *Reply) {
	w.mu.Lock()
	already := w.mute
	w.over, w.mute = true, true
	w.mu.Unlock()
	if already {
		return
	}
	w.server.metrics.refused(r)
	if w.write(r.line()) == nil {
		w.bye()
	}
}

// bye ends TLS as it should end, for clients that take anything else for an attack.
func (w *wire) bye() {
	if c, ok := w.conn.(*tls.Conn); ok {
		c.CloseWrite() //nolint:errcheck // the connection ends either way
	}
}

// SetReadDeadline is go-smtp's word that it waits for a command.
func (w *wire) SetReadDeadline(t time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mode, w.turn, w.lineEnd, w.turnEnd = command, 0, t, time.Now().Add(w.server.config.MessageTime)
	return nil
}

// SetWriteDeadline is called before each answer.
func (w *wire) SetWriteDeadline(t time.Time) error { return w.base.SetWriteDeadline(t) }

// SetDeadline is never called; both ways have their own.
func (w *wire) SetDeadline(t time.Time) error { return w.base.SetDeadline(t) }

// LocalAddr is where the client came to.
func (w *wire) LocalAddr() net.Addr { return w.base.LocalAddr() }

// RemoteAddr is the client, also behind a proxy that is trusted.
func (w *wire) RemoteAddr() net.Addr { return w.base.RemoteAddr() }

// beginBody and endBody enclose Data. With BDAT it begins in another goroutine, maybe
// while the chunk is already being read as if it were a line.
func (w *wire) beginBody() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.body, w.bodyEnd, w.bare = true, time.Now().Add(w.server.config.MessageTime), false
	if w.mode == command {
		w.mode, w.woken = chunk, true
		w.base.SetReadDeadline(time.Unix(1, 0)) //nolint:errcheck // a connection that is gone says so when it is read
	}
}

func (w *wire) endBody() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.body = false
}

// interrupt ends the wait for a command.
func (w *wire) interrupt() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopping = true
	if !w.body {
		w.base.SetReadDeadline(time.Unix(1, 0)) //nolint:errcheck // likewise
	}
}

func (w *wire) kill() {
	w.mu.Lock()
	w.over, w.mute = true, true
	w.mu.Unlock()
	w.Close() //nolint:errcheck // it is cut
}

// Close may be called more than once.
func (w *wire) Close() error {
	w.mu.Lock()
	already, counted := w.closed, w.counted
	w.closed = true
	w.mu.Unlock()
	if already {
		return nil
	}
	if counted {
		w.server.admit.leaveFrom(w.from)
	}
	w.server.admit.leave()
	w.server.leave(w)
	w.server.metrics.open.Dec()
	return w.base.Close()
}

func (w *wire) get(of func() bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return of()
}

func (w *wire) isOver() bool     { return w.get(func() bool { return w.over }) }
func (w *wire) isStopping() bool { return w.get(func() bool { return w.stopping }) }
func (w *wire) inBody() bool     { return w.get(func() bool { return w.body }) }
func (w *wire) wasWoken() bool   { return w.get(func() bool { return w.woken }) }

func (w *wire) modeNow() (m mode) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.mode
}

func (w *wire) setMode(m mode) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mode = m
}

func (w *wire) count(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.turn += int64(n)
}
