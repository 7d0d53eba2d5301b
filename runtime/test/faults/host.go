package faults

import (
	"net"
	"sync"
	"time"
)

// Phase is a moment of an SMTP session, seen from the server.
type Phase string

// The phases, in their order.
const (
	Connect  Phase = "connect"
	Greeting Phase = "greeting"
	Hello    Phase = "ehlo"
	Envelope Phase = "mail/rcpt"
	Body     Phase = "body"
	Reply    Phase = "final reply" // the message is stored, nobody has been told
)

// Phases is all of them.
var Phases = []Phase{Connect, Greeting, Hello, Envelope, Body, Reply}

// Fault is what goes wrong.
type Fault string

// The faults.
const (
	Refuse    Fault = "refuse"     // hang up, and accept no more connections
	Reset     Fault = "reset"      // RST
	Silence   Fault = "silence"    // nothing any more, until Clear hangs up
	Slow      Fault = "slow"       // late, octet by octet, and otherwise well
	HalfClose Fault = "half-close" // FIN, and go on reading
	Cut       Fault = "cut"        // hang up in the middle of what is being said
	Hold      Fault = "hold"       // nothing until Clear, then go on as if nothing had been
)

// Faults are those of a network.
var Faults = []Fault{Refuse, Reset, Silence, Slow, HalfClose, Cut}

// SlowBy is the time that Slow adds to a phase.
const SlowBy = 200 * time.Millisecond

// Host is one SMTP server of a sink.
type Host struct {
	sink *Sink

	mu       sync.Mutex
	listener net.Listener // nil while it refuses
	addr     string
	clients  map[net.Conn]bool
	phase    Phase
	fault    Fault
	hits     int
	released chan struct{} // closed by Clear
	closed   bool
}

// Addr is host:port.
func (h *Host) Addr() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.addr
}

// Set makes every session go wrong at one phase, until Clear.
func (h *Host) Set(phase Phase, fault Fault) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.phase, h.fault, h.hits = phase, fault, 0
	if phase == Connect && fault == Refuse {
		h.refuse()
	}
}

// Clear ends the fault, and what it holds up.
func (h *Host) Clear() error {
	h.mu.Lock()
	h.phase, h.fault = "", ""
	close(h.released)
	h.released = make(chan struct{})
	refusing := h.listener == nil && !h.closed
	addr := h.addr
	h.mu.Unlock()
	if refusing {
		return h.listen(addr)
	}
	return nil
}

// Hits is how many sessions have come to the fault since Set.
func (h *Host) Hits() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.hits
}

// refuse stops listening; the lock is held.
func (h *Host) refuse() {
	if h.listener != nil {
		h.listener.Close()
		h.listener = nil
	}
}

func (h *Host) listen(addr string) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	h.mu.Lock()
	h.listener, h.addr = l, l.Addr().String()
	h.mu.Unlock()
	h.sink.open.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return // closed
			}
			h.mu.Lock()
			if h.closed {
				conn.Close()
			} else {
				h.clients[conn] = true
				h.sink.open.Go(func() { h.serve(conn) })
			}
			h.mu.Unlock()
		}
	})
	return nil
}

func (h *Host) serve(conn net.Conn) {
	newSession(h, conn).run()
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.clients, conn)
	conn.Close()
}

func (h *Host) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	h.refuse()
	close(h.released)
	h.released = make(chan struct{})
	for conn := range h.clients {
		conn.Close()
	}
}

// at returns the fault that a session meets now, and what ends it.
func (h *Host) at(phase Phase) (Fault, <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.phase != phase || h.fault == "" {
		return "", nil
	}
	h.hits++
	if h.fault == Refuse {
		h.refuse()
	}
	return h.fault, h.released
}
