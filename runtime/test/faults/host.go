package faults

import (
	"net"
	"sync"
	"time"
)

// Phase is a moment of an SMTP session, seen from the server.
type Phase string

// The phases in order.
const (
	Connect  Phase = "connect"
	Greeting Phase = "greeting"
	Hello    Phase = "ehlo"
	Envelope Phase = "mail/rcpt"
	Body     Phase = "body"
	Reply    Phase = "final reply" // the message is stored, but the reply has not been sent
)

// Phases lists all phases.
var Phases = []Phase{Connect, Greeting, Hello, Envelope, Body, Reply}

// Fault is a fault of a connection.
type Fault string

// The faults.
const (
	Refuse    Fault = "refuse"     // close the connection, and accept no more
	Reset     Fault = "reset"      // RST
	Silence   Fault = "silence"    // no more data, until Clear closes the connection
	Slow      Fault = "slow"       // late, byte by byte, but complete
	HalfClose Fault = "half-close" // FIN, and continue reading
	Cut       Fault = "cut"        // close the connection in the middle of a reply
	Hold      Fault = "hold"       // nothing until Clear, then continue normally
)

// Faults lists the network faults.
var Faults = []Fault{Refuse, Reset, Silence, Slow, HalfClose, Cut}

// SlowBy is the time that Slow adds to a phase.
const SlowBy = 200 * time.Millisecond

// Host is one SMTP server of a sink.
type Host struct {
	sink *Sink

	mu       sync.Mutex
	listener net.Listener // nil while it refuses connections
	addr     string
	clients  map[net.Conn]bool
	phase    Phase
	fault    Fault
	hits     int
	released chan struct{} // closed by Clear
	closed   bool
}

// Addr returns host:port.
func (h *Host) Addr() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.addr
}

// Set injects the fault into every session at one phase, until Clear.
func (h *Host) Set(phase Phase, fault Fault) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.phase, h.fault, h.hits = phase, fault, 0
	if phase == Connect && fault == Refuse {
		h.refuse()
	}
}

// Clear ends the fault, and releases held sessions.
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

// Hits returns how many sessions the fault has affected since Set.
func (h *Host) Hits() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.hits
}

// refuse stops listening. The caller must hold the lock.
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

// at returns the current fault of a session at a phase, and the channel that ends it.
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
