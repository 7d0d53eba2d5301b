package server

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/web/server/h2test"
)

// serve serves a handler over TLS, within a budget of the test.
func serve(t *testing.T, c intake.Config, h http.Handler) (string, *intake.Budget) {
	t.Helper()
	l, err := ListenTCP(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c.Dir, c.Logger = t.TempDir(), slog.New(slog.DiscardHandler)
	budget, err := intake.New(c)
	if err != nil {
		t.Fatal(err)
	}
	s := New(Params{Listener: l, TLS: h2test.Certificate(t), Handler: h, Budget: budget, Logger: c.Logger,
		Fail: func(err error) { t.Error(err) }})
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return l.Addr().String(), budget
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Clients that open streams without reading the responses use only memory that the budget counts, and not for
// longer than the pace allows. The test is not parallel, because it measures the heap.
func TestUnreadResponsesAreBudgeted(t *testing.T) { //nolint:paralleltest // as above
	const size, connections, each = 300 << 10, 5, 80
	pace := intake.Rate{Bytes: 60 << 10, Period: 15 * time.Second}
	addr, budget := serve(t, intake.Config{Arriving: 4 << 20, MinRate: pace},
		http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Write(make([]byte, size))
		}))
	before := heap()
	clients := make([]*h2test.Client, connections)
	for i := range clients {
		clients[i] = h2test.Dial(t, addr, 0)
		for range each {
			if _, err := clients[i].Get("/"); err != nil {
				t.Fatal(err)
			}
		}
	}
	const all = int64(size * connections * each)
	expect.Eventually(t, "the budget counts every response", func() bool {
		held := budget.Usage()
		return held.Arriving+held.Spool >= all
	})
	const perStream = 64 << 10 // its goroutine, its header, and the chunk that it waits to write
	expect.Eventually(t, "the heap contains no unread response", func() bool {
		grown, held := heap()-before, budget.Usage()
		if held.Arriving+held.Spool < all {
			t.Fatalf("%d unread responses of %d bytes used %d bytes of the heap until they were ended, want at most %d",
				connections*each, size, grown, connections*each*perStream)
		}
		return grown <= connections*each*perStream
	})
	expect.Eventually(t, "the streams have ended and all memory is released", func() bool {
		held := budget.Usage()
		return held.Arriving == 0 && held.Spool == 0
	})
	for _, c := range clients {
		if s := c.State(); s.Resets[http2.ErrCodeInternal] != each && s.Ended == nil {
			t.Errorf("of %d streams that read nothing, %v were reset, want all", each, s.Resets)
		}
	}
}

// A small unread response does not keep its stream open for longer either.
func TestSmallUnreadResponsesEnd(t *testing.T) {
	t.Parallel()
	addr, _ := serve(t, intake.Config{MinRate: intake.Rate{Bytes: 60 << 10, Period: 300 * time.Millisecond}},
		http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, "ok")
		}))
	c := h2test.Dial(t, addr, 0)
	for range 10 {
		if _, err := c.Get("/"); err != nil {
			t.Fatal(err)
		}
	}
	expect.Eventually(t, "all streams are reset", func() bool { return c.State().Resets[http2.ErrCodeInternal] == 10 })
	if s := c.State(); s.Ended != nil {
		t.Errorf("the connection ended with %v, want its other streams to continue", s.Ended)
	}
}

// Each stream counts as a connection. Regardless of the number of connections and streams, there are never
// more requests in progress than the listener has places, and half of the places are left to other networks.
func TestStreamsCountAsConnections(t *testing.T) {
	t.Parallel()
	const places = 120
	release := make(chan struct{})
	begun := make(chan struct{}, 2*places)
	addr, _ := serve(t, intake.Config{Connections: places}, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		begun <- struct{}{}
		<-release
	}))
	defer close(release)
	clients := make([]*h2test.Client, 3)
	for i := range clients {
		clients[i] = h2test.Dial(t, addr, 1<<20)
	}
	for _, c := range clients {
		for range 90 {
			if _, err := c.Get("/"); err != nil {
				t.Fatal(err)
			}
		}
	}
	refused := func() (n int) {
		for _, c := range clients {
			n += c.State().Statuses["503"]
		}
		return n
	}
	expect.Eventually(t, "each stream is in progress or rejected", func() bool { return len(begun)+refused() == 3*90 })
	if len(begun) > places/2+len(clients) {
		t.Errorf("one network has %d streams in progress, want no more than half of %d places", len(begun), places)
	}
	if allowed := clients[0].State().Allowed; allowed != streams {
		t.Errorf("the server allows %d concurrent streams, want %d", allowed, streams)
	}
}

// A request body that does not arrive, over either protocol, ends with the pace, whether the handler reads it
// or responds without it.
func TestStalledRequestBodiesEnd(t *testing.T) {
	t.Parallel()
	read := make(chan error, 4)
	addr, budget := serve(t, intake.Config{MinRate: intake.Rate{Bytes: 60 << 10, Period: 300 * time.Millisecond}},
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/read" {
				_, err := io.ReadAll(r.Body)
				read <- err
			}
			w.WriteHeader(http.StatusUnauthorized)
		}))
	over2 := h2test.Dial(t, addr, 1<<20)
	if _, err := over2.Open(false, ":method", "POST", ":path", "/read", "content-length", "1000"); err != nil {
		t.Fatal(err)
	}
	expect.Eventually(t, "the body is counted while it is read",
		func() bool { return budget.Usage().Bodies == 1 || len(read) == 1 })
	over1 := dialTLS(t, addr)
	io.WriteString(over1, "POST /read HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n1")
	for range 2 {
		if err := <-read; !errors.Is(err, intake.ErrSlow) {
			t.Errorf("a body that does not arrive ended with %v, want ErrSlow", err)
		}
	}
	unread := dialTLS(t, addr)
	io.WriteString(unread, "POST /leave HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n1")
	answer, err := io.ReadAll(unread)
	if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 401 ") {
		t.Errorf("a request whose body does not arrive got %q and %v, want 401 and the end of the connection",
			answer, err)
	}
	expect.Eventually(t, "every place is released", func() bool { return budget.Usage().Bodies == 0 })
}

func dialTLS(t *testing.T, addr string) net.Conn {
	t.Helper()
	c, err := h2test.DialOne(t.Context(), addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(expect.Patience)); err != nil {
		t.Fatal(err)
	}
	return c
}
