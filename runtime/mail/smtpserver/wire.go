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

	"github.com/postrider/postrider/runtime/base/intake"
)

// mode determines how to interpret the next bytes.
type mode int

const (
	command mode = iota // lines, one at a time
	data                // a message, up to the final dot
	chunk               // bytes announced by BDAT
)

// wire is between go-smtp and the network. Read and Write are called by the connection's own goroutine;
// fields used by others are guarded by mu.
type wire struct {
	server *Server
	base   net.Conn // for deadlines
	conn   net.Conn // base, or TLS over it

	place  *intake.Slot
	remote netip.Addr
	state  *tls.ConnectionState

	greeting bool   // was sent
	greeted  bool   // EHLO was received since TLS started
	held     []byte // incomplete command lines, not yet passed to go-smtp
	ready    []byte // to be passed to go-smtp
	lastCR   bool
	bare     bool // a message contains a bare CR or LF
	swallow  bool // drop the next reply, which belongs to a command that the client did not send

	errors, authFailures, answers int

	mu        sync.Mutex
	mode      mode
	body      bool // a session is inside Data
	woken     bool // Data started while waiting for a line
	stopping  bool
	displaced bool // another connection takes its place
	over      bool // reading has ended
	mute      bool // the last reply was written
	closed    bool
	renew     bool  // a message was accepted
	turn      int64 // bytes since waiting for a command
	came      int64 // bytes of the message in Data
	meter     intake.Meter
	why       *Reply // the reply for a message that was aborted here
	lineEnd   time.Time
	turnEnd   time.Time
	bodyEnd   time.Time
	end       time.Time // of the connection
}

func newWire(s *Server, c net.Conn) *wire {
	now := time.Now()
	return &wire{server: s, base: c, conn: c, end: now.Add(s.config.ConnectionTime), lineEnd: now.Add(s.config.Idle),
		turnEnd: now.Add(s.config.MessageTime)}
}

// Read passes complete command lines, or available bytes of a message, to go-smtp. After a failure nothing
// more is read.
func (w *wire) Read(b []byte) (int, error) {
	for {
		if len(w.ready) > 0 {
			n := copy(b, w.ready)
			w.ready = w.ready[n:]
			return n, nil
		}
		if w.isOver() {
			return 0, w.endError()
		}
		if w.currentMode() == command && bytes.IndexByte(w.held, '\n') >= 0 {
			w.scanLines()
			continue
		}
		n, err := w.readNext(b)
		if err != nil {
			return 0, w.handleReadError(err)
		}
		if n > 0 {
			return n, nil
		}
	}
}

var errTooMuch = errors.New("message exceeds its limit")

// readNext reads once. Within a message the bytes go to b, otherwise to held.
func (w *wire) readNext(b []byte) (int, error) {
	m, err := w.armDeadline()
	if err != nil {
		return 0, err
	}
	if m != command {
		if len(w.held) > 0 { // Data started while waiting for a line
			w.ready, w.held = append(w.ready, w.held...), nil
			return 0, nil
		}
		n, err := w.readOnce(b)
		if m == data {
			w.watchLineEnds(b[:n])
		}
		if n > 0 {
			return n, nil // a persistent error occurs again
		}
		return 0, err
	}
	var line [4096]byte
	n, err := w.readOnce(line[:])
	w.held = append(w.held, line[:n]...)
	if errors.Is(err, os.ErrDeadlineExceeded) && w.isWoken() {
		return 0, nil
	}
	if n > 0 || err == nil {
		if len(w.held) > maxLine && bytes.IndexByte(w.held, '\n') < 0 {
			return 0, replyLine
		}
		return 0, nil
	}
	return 0, err
}

// readOnce reads once and counts the bytes and the time.
func (w *wire) readOnce(b []byte) (int, error) {
	began := time.Now()
	n, err := w.conn.Read(b)
	waited := time.Since(began)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.turn += int64(n)
	if w.body {
		if w.came += int64(n); w.isPaced() {
			w.meter.Count(n, waited)
		}
	}
	return n, err
}

// isPaced reports whether the message must keep a minimum speed: it is so large that it is stored outside of
// this connection's own memory.
func (w *wire) isPaced() bool { return w.body && w.came > unpaced }

// unpaced is the number of bytes of a message that may arrive arbitrarily slowly, within the time limits of
// Config.
const unpaced = 64 << 10

// armDeadline sets the deadline of the next read.
func (w *wire) armDeadline() (mode, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.why != nil:
		return w.mode, os.ErrDeadlineExceeded
	case w.stopping && !w.body:
		return command, replyShutdown
	case w.displaced && !w.body:
		return command, replyDisplaced
	}
	if w.turn > w.server.config.MaxMessageBytes+w.server.config.MaxMessageBytes/4+2*maxLine {
		return w.mode, errTooMuch
	}
	end := w.lineEnd
	if w.mode != command {
		end = earlierOf(time.Now().Add(w.server.config.BodyRead), w.turnEnd)
	}
	if w.body {
		end = earlierOf(end, w.bodyEnd)
	}
	if w.isPaced() {
		end = earlierOf(end, time.Now().Add(w.meter.TimeLeft()))
	}
	w.woken = false
	return w.mode, w.base.SetReadDeadline(earlierOf(end, w.end))
}

func earlierOf(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// handleReadError ends the reading, and sends the reason if a command was expected.
func (w *wire) handleReadError(err error) error {
	var reply *Reply
	switch late := errors.Is(err, os.ErrDeadlineExceeded); {
	case errors.As(err, &reply):
	case late && w.currentMode() == command && !w.inBody():
		reply = w.waitEndReply()
	case late || errors.Is(err, errTooMuch):
		w.server.metrics.countRefusal(w.stallReply())
		if w.currentMode() == command { // between two chunks no reader exists whose error would become the reply
			reply = w.incompleteReply()
		}
	}
	if reply != nil {
		w.writeLastReply(reply)
	}
	w.mu.Lock()
	w.over = true
	w.mu.Unlock()
	return w.endError()
}

// waitEndReply returns the reason why waiting for a command ended.
func (w *wire) waitEndReply() *Reply {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.stopping:
		return replyShutdown
	case w.displaced:
		return replyDisplaced
	}
	return replyIdle
}

// stallReply returns the reason why a message was not completed.
func (w *wire) stallReply() *Reply {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.why == nil && w.isPaced() && w.meter.TimeLeft() == 0 {
		w.why = replySlow
	}
	if w.why != nil {
		return w.why
	}
	return replyStalled
}

// incompleteReply returns the reply for an incomplete message.
func (w *wire) incompleteReply() *Reply {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.why != nil {
		return w.why
	}
	return replyIncomplete
}

// abortMessage aborts the message being received.
func (w *wire) abortMessage(r *Reply) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.body && w.why == nil {
		w.why = r
		w.base.SetReadDeadline(time.Unix(1, 0)) //nolint:errcheck // the next read reports a closed connection
	}
}

// endError returns the error of every read after the last. Within a message it is not EOF: go-smtp treats a
// truncated chunk as complete, and replies 554 to other errors.
func (w *wire) endError() error {
	if w.currentMode() == command {
		return io.EOF
	}
	return wireError(w.incompleteReply())
}

// writeLastReply writes a last reply; nothing follows it in either direction.
func (w *wire) writeLastReply(r *Reply) {
	w.mu.Lock()
	already := w.mute
	w.over, w.mute = true, true
	w.mu.Unlock()
	if already {
		return
	}
	w.server.metrics.countRefusal(r)
	if w.writeLine(r.formatLine()) == nil {
		w.closeTLS()
	}
}

// closeTLS closes TLS properly, for clients that treat anything else as an attack.
func (w *wire) closeTLS() {
	if c, ok := w.conn.(*tls.Conn); ok {
		c.CloseWrite() //nolint:errcheck // the connection ends either way
	}
}

// SetReadDeadline is called by go-smtp when it waits for a command.
func (w *wire) SetReadDeadline(t time.Time) error {
	w.startWaiting()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mode, w.turn, w.lineEnd, w.turnEnd = command, 0, t, time.Now().Add(w.server.config.MessageTime)
	return nil
}

// SetWriteDeadline is called before each reply.
func (w *wire) SetWriteDeadline(t time.Time) error { return w.base.SetWriteDeadline(t) }

// SetDeadline is never called; both directions have their own.
func (w *wire) SetDeadline(t time.Time) error { return w.base.SetDeadline(t) }

// LocalAddr returns the address that the client connected to.
func (w *wire) LocalAddr() net.Addr { return w.base.LocalAddr() }

// RemoteAddr returns the client's address, even if it connects through a trusted proxy.
func (w *wire) RemoteAddr() net.Addr { return w.base.RemoteAddr() }

// beginBody and endBody enclose Data. With BDAT, Data starts in another goroutine, possibly while the chunk
// is already being read as if it were a line.
func (w *wire) beginBody() {
	w.markBusy()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.body, w.bodyEnd, w.bare = true, time.Now().Add(w.server.config.MessageTime), false
	w.came, w.meter = 0, intake.NewMeter(w.server.config.Pace)
	if w.mode == command {
		w.mode, w.woken = chunk, true
		w.base.SetReadDeadline(time.Unix(1, 0)) //nolint:errcheck // the next read reports a closed connection
	}
}

func (w *wire) endBody() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.body = false
}

// interruptWait ends the wait for a command.
func (w *wire) interruptWait() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopping = true
	if !w.body {
		w.base.SetReadDeadline(time.Unix(1, 0)) //nolint:errcheck // likewise
	}
}

func (w *wire) closeNow() {
	w.mu.Lock()
	w.over, w.mute = true, true
	w.mu.Unlock()
	w.Close() //nolint:errcheck // it is cut
}

// Close may be called more than once.
func (w *wire) Close() error {
	w.mu.Lock()
	already := w.closed
	w.closed = true
	w.mu.Unlock()
	if already {
		return nil
	}
	w.place.Leave()
	w.server.removeConnection(w)
	w.server.metrics.open.Dec()
	return w.base.Close()
}

func (w *wire) readLocked(of func() bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return of()
}

func (w *wire) isOver() bool     { return w.readLocked(func() bool { return w.over }) }
func (w *wire) isStopping() bool { return w.readLocked(func() bool { return w.stopping }) }
func (w *wire) inBody() bool     { return w.readLocked(func() bool { return w.body }) }
func (w *wire) isWoken() bool    { return w.readLocked(func() bool { return w.woken }) }

func (w *wire) currentMode() (m mode) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.mode
}

func (w *wire) setMode(m mode) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mode = m
}
