package server

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/intake"
)

// strangers is a listener whose connections have addresses set by the test.
type strangers struct {
	net.Listener

	from chan string
}

type strange struct {
	net.Conn

	from net.Addr
}

func (s strange) RemoteAddr() net.Addr { return s.from }

func (s strangers) Accept() (net.Conn, error) {
	c, err := s.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return strange{c, net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(<-s.from), 4711))}, nil
}

type gated struct {
	addr string
	from chan string
}

// proxy is trusted by the server of serveGated.
const proxy = "198.51.100.9"

func serveGated(t *testing.T, most int, pace intake.Rate, h http.Handler) gated {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") // loopback
	if err != nil {
		t.Fatal(err)
	}
	from := make(chan string, 1)
	log := slog.New(slog.DiscardHandler)
	budget, err := intake.New(intake.Config{Dir: t.TempDir(), Connections: int64(most), MinRate: pace, Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	s := New(Params{Listener: strangers{l, from}, Handler: h, Budget: budget,
		Proxies: []netip.Prefix{netip.MustParsePrefix(proxy + "/32")}, Logger: log,
		Fail: func(err error) { t.Error(err) }})
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return gated{l.Addr().String(), from}
}

func (g gated) dial(t *testing.T, from string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", g.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(expect.Patience)); err != nil {
		t.Fatal(err)
	}
	g.from <- from
	return c
}

// ask sends a request and returns its status or the error. header contains additional header lines.
func ask(c net.Conn, header ...string) string {
	fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: x\r\n"+strings.Join(append(header, ""), "\r\n")+"\r\n")
	response, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return err.Error()
	}
	return response.Status
}

// Incomplete headers from one address do not fill the listener: clients with other addresses are served.
func TestIncompleteHeadersDoNotFillListener(t *testing.T) {
	t.Parallel()
	g := serveGated(t, 100, intake.DefaultRate, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for range 300 {
		fmt.Fprint(g.dial(t, "203.0.113.1"), "GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ") // some are rejected
	}
	for i := range 90 {
		if got := ask(g.dial(t, fmt.Sprintf("198.%d.0.1", i))); got != "200 OK" {
			t.Errorf("despite 300 incomplete headers from one address, request %d from another address got %q, "+
				"want 200", i, got)
		}
	}
}

// Requests of one proxy may fill the listener, because its network has no share. Requests beyond that are
// rejected.
func TestProxyMayFillListener(t *testing.T) {
	t.Parallel()
	g := serveGated(t, 40, intake.DefaultRate, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for i := range 40 {
		if got := ask(g.dial(t, proxy)); got != "200 OK" {
			t.Errorf("connection %d of the proxy got %q, want 200", i, got)
		}
	}
	if got := ask(g.dial(t, proxy)); got != "503 Service Unavailable" {
		t.Errorf("with all places in use, a connection got %q, want 503", got)
	}
}

// Silent connections cannot crowd out other clients, whether they come from a trusted proxy, from this machine,
// or from a private network, where the peer may be a proxy. Other clients behind the same peer are served as
// well.
func TestSilentProxyConnectionsLeaveRoom(t *testing.T) {
	t.Parallel()
	for _, peer := range []string{proxy, "127.0.0.1", "::1", "10.0.0.1"} {
		t.Run(peer, func(t *testing.T) {
			t.Parallel()
			busy, release := make(chan struct{}), make(chan struct{})
			g := serveGated(t, 100, intake.DefaultRate, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Wait") != "" {
					busy <- struct{}{}
					<-release
				}
			}))
			waits := make(chan string, 1)
			working := g.dial(t, peer)
			go func() { waits <- ask(working, "Wait: yes") }()
			<-busy
			for range 500 {
				g.dial(t, peer)
			}
			for i := range 40 {
				if got := ask(g.dial(t, fmt.Sprintf("198.%d.0.1", i))); got != "200 OK" {
					t.Errorf("despite 500 silent connections from %s, request %d from another address got %q, want 200",
						peer, i, got)
				}
				if got := ask(g.dial(t, peer)); got != "200 OK" {
					t.Errorf("despite 500 silent connections from %s, request %d from the same address got %q, "+
						"want 200",
						peer, i, got)
				}
			}
			close(release)
			if got := <-waits; got != "200 OK" {
				t.Errorf("a request that was in progress got %q, want 200", got)
			}
		})
	}
}

// Behind a trusted proxy, a client's network has the same share as without the proxy.
func TestProxyClientsHaveShares(t *testing.T) {
	t.Parallel()
	const most = 64
	busy, release := make(chan struct{}), make(chan struct{})
	g := serveGated(t, most, intake.DefaultRate, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Wait") != "" {
			busy <- struct{}{}
			<-release
		}
	}))
	defer close(release)
	for i := range most/2 - 1 { // connections of several clients in one network
		c := g.dial(t, proxy)
		go ask(c, "Wait: yes", fmt.Sprintf("X-Forwarded-For: 203.0.113.%d", i%5))
		<-busy
	}
	if got := ask(g.dial(t, proxy), "X-Forwarded-For: 203.0.113.77"); got != "503 Service Unavailable" {
		t.Errorf("another request of a network with half of all places got %q, want 503", got)
	}
	// A client cannot circumvent this with its own header, because the proxy's entry is the last one.
	if got := ask(g.dial(t, proxy), "X-Forwarded-For: 192.0.2.1, 203.0.113.77"); got != "503 Service Unavailable" {
		t.Errorf("a request with a forged address was answered %q, want 503", got)
	}
	for i := range most / 4 {
		if got := ask(g.dial(t, proxy), fmt.Sprintf("X-Forwarded-For: 198.%d.0.1", i)); got != "200 OK" {
			t.Errorf("request %d of another network was answered %q, want 200", i, got)
		}
	}
}

// A client that does not read the response loses its connection. A client that reads it slowly, but faster than
// the minimum rate, gets all of it.
func TestResponsesRequireMinimumPace(t *testing.T) {
	t.Parallel()
	const size = 32 << 20 // more than the kernels on both sides keep
	ended := make(chan error, 2)
	g := serveGated(t, 40, intake.Rate{Bytes: 64 << 10, Period: time.Second},
		http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.(http.Flusher).Flush() // else the budget takes all of it
			_, err := io.Copy(w, strings.NewReader(strings.Repeat("x", size)))
			ended <- err
		}))
	never := g.dial(t, "203.0.113.1")
	fmt.Fprint(never, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	select {
	case err := <-ended:
		if err == nil {
			t.Error("an unread response was written")
		}
	case <-time.After(expect.Patience):
		t.Fatal("an unread response keeps its connection")
	}
	for range 20 {
		slow := g.dial(t, "203.0.113.1")
		fmt.Fprint(slow, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		n, longest, err := takenSlowly(slow)
		written := <-ended
		if err == nil && n == size && written == nil {
			return
		}
		if longest < 500*time.Millisecond {
			t.Fatalf("of %d bytes %d came, %v; the handler wrote with %v", size, n, err, written)
		}
		t.Logf("the machine stood still for %s, once more", longest)
	}
	t.Error("the machine stalls repeatedly")
}

// takenSlowly reads a response in small pieces for some seconds, and then the rest immediately. It returns the
// longest time that one piece took.
func takenSlowly(c net.Conn) (n int64, longest time.Duration, err error) {
	last := time.Now()
	response, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0, time.Since(last), err
	}
	defer response.Body.Close()
	for n < 8<<20 {
		<-time.After(20 * time.Millisecond)
		read, err := io.CopyN(io.Discard, response.Body, 64<<10)
		n += read
		longest, last = max(longest, time.Since(last)), time.Now()
		if err != nil {
			return n, longest, err
		}
	}
	rest, err := io.Copy(io.Discard, response.Body)
	return n + rest, max(longest, time.Since(last)), err
}
