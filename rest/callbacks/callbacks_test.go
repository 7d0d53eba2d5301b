package callbacks

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/fault"
)

const limit = 16

// said returns the response to a request written to a server that reads a body of at most limit bytes.
func said(t *testing.T, address, request string) string {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatal(err)
	}
	if err := c.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(c)
	if err != nil {
		t.Fatal(err)
	}
	head, body, _ := strings.Cut(string(answer), "\r\n\r\n")
	status, _, _ := strings.Cut(head, "\r\n")
	return strings.TrimPrefix(status, "HTTP/1.1 ") + ": " + strings.TrimSpace(body)
}

func TestBodiesAreReadOrRefused(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := readBody(w, r, limit)
		if err != nil {
			refuse(w, r, slog.New(slog.DiscardHandler), "a body could not be read", err)
			return
		}
		w.Write(body) // the client sees it
	}))
	t.Cleanup(srv.Close)
	sized := func(claimed int, body string) string {
		return fmt.Sprintf("POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s",
			claimed, body)
	}
	chunked := func(chunks string) string {
		return "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks
	}
	whole := strings.Repeat("a", limit)
	for name, c := range map[string]struct{ request, want string }{
		"none":                {sized(0, ""), "200 OK: "},
		"short":               {sized(2, "ab"), "200 OK: ab"},
		"as long as it may":   {sized(limit, whole), "200 OK: " + whole},
		"one byte too long":   {sized(limit+1, whole+"a"), "413 Request Entity Too Large: The body is too large"},
		"in chunks":           {chunked("2\r\nab\r\n1\r\nc\r\n0\r\n\r\n"), "200 OK: abc"},
		"too long, in chunks": {chunked("10\r\n" + whole + "\r\n1\r\na\r\n0\r\n\r\n"), "413 Request Entity Too Large: The body is too large"},
		"cut short":           {sized(9, "ab"), "400 Bad Request: The body could not be read"},
		"a chunk cut short":   {chunked("9\r\nab"), "400 Bad Request: The body could not be read"},
		"no chunk":            {chunked("what\r\n"), "400 Bad Request: The body could not be read"},
	} {
		if got := said(t, srv.Listener.Addr().String(), c.request); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// The response to a service describes the mistake of the service, and reveals no internal error.
func TestRefusals(t *testing.T) {
	t.Parallel()
	cause := errors.New("the cause")
	for name, c := range map[string]struct {
		err          error
		status       int
		said, retry  string
		loggedAsOurs bool
	}{
		"not there":      {fault.NoSuch("receipt", "of a stranger"), 404, "Not found", "", false},
		"wrong":          {fault.Invalidf("The signature is not one of theirs"), 400, "The signature is not one of theirs", "", false},
		"wrapped":        {fmt.Errorf("take: %w", fault.Invalidf("The body must be a Stripe event")), 400, "The body must be a Stripe event", "", false},
		"too large":      {&fault.Error{Kind: fault.TooLarge, Message: "The body is too large"}, 413, "The body is too large", "", false},
		"away":           {&fault.Error{Kind: fault.Unavailable, Message: "Later", RetryAfter: 1500 * time.Millisecond}, 503, "Later", "2", false},
		"away, no time":  {&fault.Error{Kind: fault.Unavailable, Message: "Later"}, 503, "Later", "1", false},
		"a defect":       {cause, 500, "Internal error", "", true},
		"not for posted": {fault.Forbiddenf(fault.CodeInsufficientRole, "A secret"), 500, "Internal error", "", true},
	} {
		var logged bytes.Buffer
		w := httptest.NewRecorder()
		refuse(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", nil),
			slog.New(slog.NewTextHandler(&logged, nil)), "a thing could not be stored", c.err)
		if got := strings.TrimSpace(w.Body.String()); w.Code != c.status || got != c.said || w.Header().
			Get("Retry-After") != c.retry {
			t.Errorf("%s: %d %q, Retry-After %q; want %d %q, %q", name, w.Code, got, w.Header().Get("Retry-After"),
				c.status, c.said, c.retry)
		}
		if ours := strings.Contains(logged.String(), "a thing could not be stored") &&
			strings.Contains(logged.String(), c.err.Error()); ours != c.loggedAsOurs || !ours && logged.Len() > 0 {
			t.Errorf("%s: logged %q, want that only for internal errors", name, logged.String())
		}
	}
}
