package intake

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
)

// serveLimited serves a handler within a budget.
func serveLimited(t *testing.T, b *Budget, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(b.LimitHandler(h, func(*http.Request) Tenant { return account("a") },
		func(w http.ResponseWriter) { http.Error(w, "no room", http.StatusServiceUnavailable) }))
	t.Cleanup(srv.Close)
	return srv
}

func fetch(t *testing.T, srv *httptest.Server, method, body string) (*http.Response, []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, srv.URL, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	a, err := srv.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	content, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatalf("the response ended with %v", err)
	}
	return a, content
}

// Responses arrive as they were written, however the handler writes them.
func TestResponsesArriveUnchanged(t *testing.T) {
	t.Parallel()
	b := newBudget(t, func(c *Config) { c.Arriving = 256 << 10 })
	for _, size := range []int{0, 1, smallResponse - 1, smallResponse, smallResponse + 1, 100_000, 3 << 20} {
		for _, piece := range []int{1000, smallResponse, 70_000, 4 << 20} {
			for _, flushed := range []bool{false, true} {
				want := sample(size)
				a, got := fetch(t, serveLimited(t, b, func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", "text/x")
					w.WriteHeader(http.StatusTeapot)
					for rest := want; len(rest) > 0; {
						n, err := w.Write(rest[:min(piece, len(rest))])
						if err != nil {
							t.Errorf("%d bytes in pieces of %d: writing failed: %v", size, piece, err)
							return
						}
						if rest = rest[n:]; flushed {
							w.(http.Flusher).Flush()
						}
					}
				}), http.MethodGet, "")
				if a.StatusCode != http.StatusTeapot || a.Header.Get("Content-Type") != "text/x" ||
					!bytes.Equal(got, want) {
					t.Errorf("%d bytes in pieces of %d, flushed %t: status %d and %d bytes came, want 418 and the same bytes", size, piece, flushed, a.StatusCode, len(got))
				}
				if !flushed && size > smallResponse && piece > smallResponse && a.ContentLength != int64(size) {
					t.Errorf("%d bytes written at once have the Content-Length %d", size, a.ContentLength)
				}
			}
		}
	}
	if n := b.LargeResponses(); n["held"] == 0 || n["streamed"] == 0 {
		t.Errorf("large responses are counted as %v, want some held and some streamed", n)
	}
}

// A response without room is refused completely, and the handler gets an error.
func TestAResponseWithoutRoomIsRefused(t *testing.T) {
	t.Parallel()
	b := newBudget(t, func(c *Config) { c.Arriving, c.Spool, c.Patience = 4<<10, 4<<20, 50*time.Millisecond })
	failed := make(chan error, 1)
	a, got := fetch(t, serveLimited(t, b, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Set-Cookie", "secret")
		_, err := w.Write(sample(2 << 20))
		failed <- err
	}), http.MethodGet, "")
	if err := <-failed; !errors.Is(err, ErrFull) || a.StatusCode != http.StatusServiceUnavailable ||
		string(got) != "no room\n" || a.Header.Get("Set-Cookie") != "" {
		t.Errorf("a response without room is %d %q with %v, and its handler got %v; want the refusal alone",
			a.StatusCode, got, a.Header, err)
	}
}

// A handler that panics after it has written sends nothing of what it wrote.
func TestAHandlerThatPanicsSendsNothing(t *testing.T) {
	t.Parallel()
	b := newBudget(t)
	srv := serveLimited(t, b, func(w http.ResponseWriter, _ *http.Request) {
		w.Write(sample(1 << 20))
		panic(http.ErrAbortHandler)
	})
	if a, err := srv.Client().Get(srv.URL); err == nil {
		a.Body.Close()
		t.Errorf("a handler that panics returns the status %d, want the connection closed", a.StatusCode)
	}
}

// A body that the handler reads directly takes a place, and memory for the bytes read.
func TestBodyReadByItsHandlerIsCounted(t *testing.T) {
	t.Parallel()
	b := newBudget(t)
	body := strings.Repeat("x", 100_000)
	_, got := fetch(t, serveLimited(t, b, func(w http.ResponseWriter, r *http.Request) {
		first := make([]byte, 1000)
		if _, err := io.ReadFull(r.Body, first); err != nil {
			t.Errorf("reading failed: %v", err)
		}
		held := b.Usage()
		rest, err := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%d place, %t; then %d place, %d bytes, %v", held.Bodies, held.Arriving >= 1000, b.Usage().
			Bodies, len(first)+len(rest), err)
	}), http.MethodPost, body)
	if want := "1 place, true; then 0 place, 100000 bytes, <nil>"; string(got) != want {
		t.Errorf("a body of 100,000 bytes was read with %s, want %s", got, want)
	}
	if held := b.Usage(); held != (Usage{}) {
		t.Errorf("after the request %+v is held, want nothing", held)
	}
}

// A body that its handler reads as a stream may be larger than the memory for all bodies.
func TestStreamedBodyTakesOneStep(t *testing.T) {
	t.Parallel()
	b := newBudget(t, func(c *Config) { c.Arriving = 256 << 10 })
	_, got := fetch(t, serveLimited(t, b, func(w http.ResponseWriter, r *http.Request) {
		StreamBody(r.Body)
		n, err := io.CopyN(io.Discard, r.Body, 4<<20)
		held := b.Usage()
		rest, restErr := io.Copy(io.Discard, r.Body)
		fmt.Fprintf(w, "%d bytes, %v, %t, %v", n+rest, err, held.Arriving <= smallContent+bodyStep, restErr)
	}), http.MethodPost, strings.Repeat("x", 8<<20))
	if want := "8388608 bytes, <nil>, true, <nil>"; string(got) != want {
		t.Errorf("a streamed body was read with %s, want %s", got, want)
	}
}

// The unread rest of a body is not parsed as the next request.
func TestUnreadBodyIsNotARequest(t *testing.T) {
	t.Parallel()
	b := newBudget(t)
	served := make(chan string, 10)
	srv := serveLimited(t, b, func(w http.ResponseWriter, r *http.Request) {
		served <- r.URL.Path
		w.WriteHeader(http.StatusUnauthorized)
	})
	const smuggled = "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"
	for name, c := range map[string]struct {
		now, later string
		kept       bool
	}{
		"it has arrived":           {smuggled, "", true},
		"it arrives later":         {"", smuggled, false},
		"part of it arrives later": {smuggled[:10], smuggled[10:], false},
	} {
		conn, err := net.Dial("tcp", srv.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if err := conn.SetDeadline(time.Now().Add(expect.Patience)); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "POST /first HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(smuggled), c.now)
		head := make([]byte, 12)
		if _, err := io.ReadFull(conn, head); err != nil || string(head) != "HTTP/1.1 401" {
			t.Errorf("%s: the response is %q, %v, want 401", name, head, err)
		}
		fmt.Fprint(conn, c.later+"GET /second HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		rest, err := io.ReadAll(conn)
		if err != nil && c.kept || strings.Contains(string(rest), "HTTP/1.1 401") != c.kept {
			t.Errorf("%s: then came %q, %v; want the response to the next request: %t", name, rest, err, c.kept)
		}
	}
	srv.Close()
	close(served)
	for path := range served {
		if path == "/smuggled" {
			t.Error("the body of a request was served as another request")
		}
	}
}

// A client that still sends its body when it is refused reads the response and its end, not a reset.
func TestARefusalReachesAClientThatStillSends(t *testing.T) {
	t.Parallel()
	srv := serveLimited(t, newBudget(t), func(w http.ResponseWriter,
		_ *http.Request) {
		w.WriteHeader(http.StatusRequestEntityTooLarge)
	})
	conn, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(expect.Patience)); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", 1<<20, strings.Repeat("x", 64<<10))
	answer, err := io.ReadAll(conn)
	if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 413 ") {
		t.Errorf("a client that still sends reads %q and %v, want status 413 and the end of the connection",
			answer, err)
	}
}
