package httpserver

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	"github.com/postrider/postrider/runtime/intake"
)

// Connections is how many connections an HTTP listener has at a time, streams of
// events among them.
const Connections = 4096

// Gate stands before an HTTP server. It lets connections in by shares, as SMTP
// listeners do: half a header counts as having said nothing. And it holds whoever takes an
// answer against the least speed.
//
// Behind a proxy all connections come from the proxy, so they are counted in all only; the
// proxy is to keep its own clients apart.
type Gate struct {
	gate    *intake.Gate
	pace    intake.Pace
	proxies []netip.Prefix
}

// NewGate makes a gate for so many connections at a time. Proxies have no share.
func NewGate(most int, pace intake.Pace, proxies []netip.Prefix) *Gate {
	return &Gate{gate: intake.NewGate(most, 0), pace: pace, proxies: proxies}
}

// Before wraps a listener.
func (g *Gate) Before(l net.Listener) net.Listener { return &gatedListener{l, g} }

// Attach makes a server tell which of its connections are at work.
func (g *Gate) Attach(s *http.Server) {
	next := s.Handler
	s.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, ok := r.Context().Value(connectionKey{}).(*gatedConn); ok {
			c.place.Busy()
			defer c.place.Waits(true)
		}
		next.ServeHTTP(w, r)
	})
	s.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if secured, ok := c.(*tls.Conn); ok {
			c = secured.NetConn()
		}
		return context.WithValue(ctx, connectionKey{}, c)
	}
}

type connectionKey struct{}

type gatedListener struct {
	net.Listener

	gate *Gate
}

func (l *gatedListener) Accept() (net.Conn, error) {
	for {
		accepted, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &gatedConn{Conn: accepted, pace: l.gate.pace}
		if c.place, err = l.gate.gate.Enter(l.gate.from(accepted), func() { accepted.Close() }); err == nil { // it is cut
			return c, nil
		}
		turnAwayHTTP(accepted)
	}
}

// from is where a connection comes from; of a proxy it is this machine, which has no share.
func (g *Gate) from(c net.Conn) netip.Addr {
	tcp, ok := c.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return netip.IPv6Loopback()
	}
	addr := tcp.AddrPort().Addr().Unmap()
	if slices.ContainsFunc(g.proxies, func(p netip.Prefix) bool { return p.Contains(addr) }) {
		return netip.IPv6Loopback()
	}
	return addr
}

// turnAwayHTTP answers at once: a socket that is new has room for it.
func turnAwayHTTP(c net.Conn) {
	if c.SetWriteDeadline(time.Now().Add(time.Second)) == nil {
		fmt.Fprint(c, "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 5\r\nContent-Length: 0\r\n\r\n") // it is gone either way
	}
	c.Close() // likewise
}

// gatedConn is one connection.
type gatedConn struct {
	net.Conn

	place *intake.Place
	pace  intake.Pace
	limit atomic.Int64 // of writing, as the handler has set it: Unix nanoseconds, 0 for none
}

// Write is in pieces, each of which the client takes within the time of the pace.
func (c *gatedConn) Write(b []byte) (n int, err error) {
	for {
		at := time.Now().Add(c.pace.Within)
		if limit := c.limit.Load(); limit != 0 && limit < at.UnixNano() {
			at = time.Unix(0, limit)
		}
		if err := c.Conn.SetWriteDeadline(at); err != nil {
			return n, err
		}
		wrote, err := c.Conn.Write(b[:min(int64(len(b)), c.pace.Octets)])
		n, b = n+wrote, b[wrote:]
		if err != nil || len(b) == 0 {
			return n, err
		}
	}
}

// SetWriteDeadline is the handler's, beside the pace.
func (c *gatedConn) SetWriteDeadline(t time.Time) error {
	if t.IsZero() {
		c.limit.Store(0)
	} else {
		c.limit.Store(t.UnixNano())
	}
	return c.Conn.SetWriteDeadline(t)
}

// SetDeadline is for both ways.
func (c *gatedConn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// CloseWrite lets net/http end a refusal so that the client still reads it.
func (c *gatedConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// Close gives the place back.
func (c *gatedConn) Close() error {
	c.place.Leave()
	return c.Conn.Close()
}
