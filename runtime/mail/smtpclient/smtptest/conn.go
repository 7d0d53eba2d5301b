package smtptest

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"sync"
)

// listener counts connections and inserts the script between them and go-smtp.
type listener struct {
	net.Listener
	server *Server
}

func (l *listener) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: accepted, server: l.server, clear: l.server.cfg.TLS != Implicit}
	l.server.updateStats(func(now *Stats) {
		now.Connections++
		now.Open++
		c.number = now.Connections
	})
	return c, nil
}

// conn implements what go-smtp has no hook for: the greeting, and the replies to STARTTLS and DATA. go-smtp
// writes each line of a reply with one Write.
type conn struct {
	net.Conn
	server *Server
	number int
	close  sync.Once

	// Used by the connection's goroutine only.
	greeted bool
	clear   bool // no TLS yet: lines can be recognized
	ended   bool // the script has ended this session
	last    bool // the next write is the last one
}

func (c *conn) Read(p []byte) (int, error) {
	if c.ended {
		return 0, io.EOF
	}
	n, err := c.Conn.Read(p)
	if c.clear && !c.server.cfg.Discard {
		c.server.mu.Lock()
		c.server.transcript = append(c.server.transcript, p[:n]...)
		c.server.mu.Unlock()
	}
	return n, err
}

func (c *conn) Write(p []byte) (int, error) {
	if c.ended {
		return 0, io.ErrClosedPipe
	}
	if c.clear {
		if phase, ok := c.phaseOf(p); ok {
			if a, scripted := c.server.nextAction(phase, ""); scripted {
				return len(p), c.performAction(a)
			}
		}
		if c.server.cfg.NoPipelining && string(p) == "250-PIPELINING\r\n" || c.server.cfg.NoEightBit &&
			string(p) == "250-8BITMIME\r\n" {
			return len(p), nil
		}
		if bytes.HasPrefix(p, []byte("220 2.0.0 Ready to start TLS")) {
			c.clear = false
		}
	}
	n, err := c.Conn.Write(p)
	if c.last && !bytes.HasPrefix(p[3:], []byte("-")) {
		c.ended = true
		c.Close()
	}
	return n, err
}

func (c *conn) phaseOf(line []byte) (Phase, bool) {
	switch {
	case !c.greeted:
		c.greeted = true
		return Greeting, true
	case bytes.HasPrefix(line, []byte("354 ")):
		return Data, true
	case bytes.HasPrefix(line, []byte("220 2.0.0 Ready to start TLS")):
		return Starttls, true
	}
	return 0, false
}

func (c *conn) performAction(a Action) error {
	defer c.Close()
	c.ended = true
	if a.stall {
		c.server.updateStats(func(now *Stats) { now.Stalled++ })
		<-c.server.released
		return io.ErrClosedPipe
	}
	reply := a.raw
	if a.code != 0 {
		enhanced := ""
		if a.enhanced[0] > 0 {
			enhanced = fmt.Sprintf("%d.%d.%d ", a.enhanced[0], a.enhanced[1], a.enhanced[2])
		}
		reply = fmt.Sprintf("%d %s%s\r\n", a.code, enhanced, a.text)
	}
	_, err := c.Conn.Write([]byte(reply))
	return err
}

func (c *conn) endAfterWrite() { c.last = true }

func (c *conn) Close() error {
	var err error
	c.close.Do(func() {
		err = c.Conn.Close()
		c.server.updateStats(func(now *Stats) { now.Open-- })
	})
	return err
}

// rawConn returns the connection under TLS, if there is TLS.
func rawConn(c net.Conn) *conn {
	if secure, ok := c.(*tls.Conn); ok {
		c = secure.NetConn()
	}
	return c.(*conn)
}

func numberOf(c net.Conn) int { return rawConn(c).number }
