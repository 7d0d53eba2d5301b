package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/web/clientip"
)

// gate limits the connections of an HTTP server. It admits connections by shares, like SMTP listeners do; a
// client that has sent only part of a header counts as silent. It also enforces the minimum speed of clients
// that read a response.
//
// All connections of a trusted proxy have the address of the proxy. Their silent ones are limited together,
// and each request counts toward the network of the client that the proxy reports. A peer in a private
// network may be a proxy that was not configured: its silent connections are limited likewise.
type gate struct {
	places  *intake.Gate
	pace    intake.Rate
	proxies []netip.Prefix
	secured bool   // the connection starts with TLS
	refused func() // counts a connection or request for which there is no room
}

// admitRequests runs the requests of a server within the limits of the gate, and rejects those beyond them.
func (g *gate) admitRequests(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, ok := r.Context().Value(connectionKey{}).(*gatedConn)
		if !ok {
			next.ServeHTTP(w, r)
			return
		}
		end, err := c.place.BeginRequest(clientip.From(r, g.proxies))
		if err != nil {
			// Keep the connection: other requests on it may be from other clients.
			g.refused()
			refuseRequest(w, "Too many requests are in progress from your network. Retry in 5 seconds.")
			return
		}
		defer end()
		next.ServeHTTP(w, r)
	})
}

// refuseRequest responds to a request for which there is no room.
func refuseRequest(w http.ResponseWriter, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Retry-After", "5")
	w.WriteHeader(http.StatusServiceUnavailable)
	// A client that has disconnected does not read it.
	io.WriteString(w, `{"error":{"code":"`+fault.CodeUnavailable+`","message":"`+message+`"}}`) //nolint:errcheck // as above
}

// rememberConn stores the connection of a request in its context.
func rememberConn(ctx context.Context, c net.Conn) context.Context {
	if secured, ok := c.(*tls.Conn); ok {
		c = secured.NetConn()
	}
	return context.WithValue(ctx, connectionKey{}, c)
}

type connectionKey struct{}

type gatedListener struct {
	net.Listener

	gate *gate
}

func (l *gatedListener) Accept() (net.Conn, error) {
	for {
		accepted, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &gatedConn{Conn: accepted, pace: l.gate.pace}
		peer, shared := l.gate.peerOf(accepted)
		// end cuts the connection
		if c.place, err = l.gate.places.EnterPeer(peer, shared, func() { accepted.Close() }); err == nil {
			return c, nil
		}
		l.gate.refused()
		if !l.gate.secured {
			tellCrowded(accepted)
		}
		accepted.Close()
	}
}

// peerOf returns the address of a connection's peer, and whether the peer may be shared: a trusted proxy, or
// a peer in a private network, which may be a proxy.
func (g *gate) peerOf(c net.Conn) (addr netip.Addr, shared bool) {
	tcp, ok := c.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return netip.IPv6Loopback(), true
	}
	addr = tcp.AddrPort().Addr().Unmap()
	trusted := slices.ContainsFunc(g.proxies, func(p netip.Prefix) bool { return p.Contains(addr) })
	return addr, trusted || addr.IsPrivate() || addr.IsLinkLocalUnicast()
}

// tellCrowded responds to a connection immediately: the buffer of a new socket has room for the response.
func tellCrowded(c net.Conn) {
	if c.SetWriteDeadline(time.Now().Add(time.Second)) == nil {
		// the connection closes either way
		fmt.Fprint(c,
			"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 5\r\nContent-Length: 0\r\n\r\n")
	}
}

// gatedConn is one connection.
type gatedConn struct {
	net.Conn

	place *intake.Slot
	pace  intake.Rate
	limit atomic.Int64 // write deadline set by the handler, in Unix nanoseconds; 0 if there is none
}

// Write sends b in chunks. The client must accept each of them within the time that the pace allows.
func (c *gatedConn) Write(b []byte) (n int, err error) {
	for {
		at := time.Now().Add(c.pace.Period)
		if limit := c.limit.Load(); limit != 0 && limit < at.UnixNano() {
			at = time.Unix(0, limit)
		}
		if err := c.Conn.SetWriteDeadline(at); err != nil {
			return n, err
		}
		wrote, err := c.Conn.Write(b[:min(int64(len(b)), c.pace.Bytes)])
		n, b = n+wrote, b[wrote:]
		if err != nil || len(b) == 0 {
			return n, err
		}
	}
}

// SetWriteDeadline sets the handler's deadline, in addition to the pace.
func (c *gatedConn) SetWriteDeadline(t time.Time) error {
	if t.IsZero() {
		c.limit.Store(0)
	} else {
		c.limit.Store(t.UnixNano())
	}
	return c.Conn.SetWriteDeadline(t)
}

// SetDeadline sets both deadlines.
func (c *gatedConn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// CloseWrite allows net/http to end a rejection so that the client can still read it.
func (c *gatedConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// Close releases the connection's place.
func (c *gatedConn) Close() error {
	c.place.Leave()
	return c.Conn.Close()
}
