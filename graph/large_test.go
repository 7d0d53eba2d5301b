package graph

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/postrider/postrider/graph/inquiry"
	"github.com/postrider/postrider/graph/limits"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/intake"
)

// A response with large bodies uses no memory while its client reads it, or afterwards.
func TestLargeAnswersLieOnDiskWhileTheyAreTaken(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{emails: 5, html: strings.Repeat("x", 6<<20/5)})
	// With a small receive buffer at the client, the kernels buffer less than three of the five MB.
	dialer := net.Dialer{Control: func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) {
			syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF,
				16<<10)
		})
	}}
	c, err := dialer.DialContext(t.Context(), "tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	query := `{"query":"{ emails(first: 5) { nodes { content { html } } } }"}`
	fmt.Fprintf(c,
		"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer svc_full\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(query), query)
	if _, err := io.ReadFull(c, make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	if got := s.held.Usage(); got.Working != 0 || got.Arriving != 0 || got.Spool < 4<<20 {
		t.Errorf("budget in use while the client reads 5 MB = %+v, want only spooled bytes", got)
	}
	rest, err := io.Copy(io.Discard, c)
	if err != nil || rest < 4<<20 {
		t.Errorf("read %d remaining bytes, %v\n%s", rest, err, s.log)
	}
	expect.EventuallyWithin(t, 10*time.Second, "nothing is held",
		func() bool { return s.held.Usage() == intake.Usage{} })
}

// A request can read bodies up to a limit, and the error message says so.
func TestTheBodiesOfARequestAreBounded(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{})
	ctx := inquiry.WithAllowance(t.Context())
	for i, want := range []bool{true, true, false} {
		if err := inquiry.Spend(ctx, limits.Result/2); (err == nil) != want {
			t.Errorf("half of it for the %d. time: %v", i+1, err)
		}
	}
	if got := s.ask(t, `{ receivedEmail(id: "inb_001") { content { html text } } }`, nil); got.status != 200 ||
		got.codes() != "" {
		t.Errorf("a small one: %d %s", got.status, got.body)
	}
}

// A request whose body does not arrive gets a response.
func TestABodyThatDoesNotComeIsGivenUp(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{pace: intake.Rate{Bytes: 60 << 10, Period: 100 * time.Millisecond}})
	r := request(t, s.url, "svc_full", "")
	in, out := io.Pipe()
	defer out.Close()
	r.Body, r.ContentLength = in, 100
	go io.WriteString(out, "{") // the response shows the result
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	said, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusRequestTimeout ||
		!strings.Contains(string(said), `"code":"request_timeout"`) {
		t.Errorf("a body that does not come got %d %s, %v, want 408 request_timeout", response.StatusCode, said, err)
	}
}
