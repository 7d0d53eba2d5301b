package api_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/intake"
)

// largeSend is a send request with n attachments of 10 MB, which are 10<<20 bytes.
func largeSend(n int) []byte {
	file := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("0123456789"), 1<<20))
	var b bytes.Buffer
	b.WriteString(strings.TrimSuffix(simple, "}") + `,"attachments":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"name":"f%d.txt","data":"%s"}`, i, file)
	}
	b.WriteString("]}")
	return b.Bytes()
}

func post(t *testing.T, b *bundle, body io.Reader) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "POST", b.URL+"/api/emails", body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer svc_full")
	r.Header.Set("Content-Type", "application/json")
	return send(t, r)
}

func TestTheLargestEmailIsAccepted(t *testing.T) {
	t.Parallel()
	b := newBundleFor(t, "/api/emails")
	for name, c := range map[string]struct {
		files int
		wrap  func(io.Reader) io.Reader
	}{
		"with a length": {10, func(r io.Reader) io.Reader { return r }},
		"chunked":       {1, func(r io.Reader) io.Reader { return struct{ io.Reader }{r} }},
	} {
		b.sending.sent = nil
		if got := post(t, b, c.wrap(bytes.NewReader(largeSend(c.files)))); got.status != 200 {
			t.Fatalf("%s: the largest email got %d %s, want 200", name, got.status, got.body)
		}
		files := b.sending.sent[0].Message.Attachments
		if last := files[len(files)-1].Data; len(files) != c.files || len(last) != sending.MaxAttachment ||
			!bytes.HasPrefix(last, []byte("01234567890123")) {
			t.Errorf("%s: %d attachments", name, len(files))
		}
	}
}

func TestBodiesOverTheLimit(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	over := func() io.Reader { return io.LimitReader(zeros{}, 150<<20+1) }
	r, err := http.NewRequestWithContext(t.Context(), "POST", b.URL+"/api/emails", over())
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer svc_full")
	r.Header.Set("Content-Type", "application/json")
	if got := send(t, r); got.status != 413 {
		t.Errorf("chunked: %d %s", got.status, got.body)
	}
	r, err = http.NewRequestWithContext(t.Context(), "POST", b.URL+"/api/domains", io.LimitReader(zeros{}, 1<<20+1))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer svc_full")
	r.Header.Set("Content-Type", "application/json")
	if got := send(t, r); got.status != 413 {
		t.Errorf("chunked, small limit: %d %s", got.status, got.body)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// While an upload uses the whole share of its account, the next upload of the account waits and is then refused with
// Retry-After. Small requests are served in the meantime.
func TestBodyBudget(t *testing.T) {
	t.Parallel()
	held := budget(t, intake.Config{Spool: 4 * 20 << 20, Patience: 300 * time.Millisecond})
	b := newBundle(t, func(o *api.Options) { o.Budget = held })
	unfinished := dial(t, b)
	fmt.Fprintf(unfinished,
		"POST /api/emails HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer svc_full\r\nContent-Type: application/json\r\nContent-Length: 157000000\r\n\r\n%s",
		strings.Repeat(" ", 10<<20))
	expect.Eventually(t, "10 MB are held", func() bool { return held.Usage().Spool >= 10<<20 })
	start := time.Now()
	refused := post(t, b, bytes.NewReader(largeSend(1)))
	if refused.status != 503 || refused.header.Get("Retry-After") == "" {
		t.Errorf("over the share: %d %s", refused.status, refused.body)
	}
	if waited := time.Since(start); waited < 300*time.Millisecond {
		t.Errorf("refused after %s, without waiting for its share", waited)
	}
	if got := post(t, b, strings.NewReader(simple)); got.status != 200 {
		t.Errorf("a small request next to it: %d %s", got.status, got.body)
	}
	if err := unfinished.Close(); err != nil {
		t.Fatal(err)
	}
	expect.Eventually(t, "what the upload held is given back", func() bool { return held.Usage() == (intake.Usage{}) })
	if got := post(t, b, bytes.NewReader(largeSend(1))); got.status != 200 {
		t.Errorf("after the upload was given up: %d %s", got.status, got.body)
	}
}

// Memory is only used for bytes that have arrived, not for the declared length.
func TestADeclaredBodyHoldsNothing(t *testing.T) {
	t.Parallel()
	held := budget(t, intake.Config{})
	b := newBundle(t, func(o *api.Options) { o.Budget = held })
	for range 100 {
		c := dial(t, b)
		fmt.Fprint(c,
			"POST /api/emails HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer svc_full\r\nContent-Type: application/json\r\nContent-Length: 130000000\r\n\r\n{")
	}
	expect.Eventually(t, "100 bodies arrive", func() bool { return held.Usage().Bodies == 100 })
	if got := held.Usage(); got.Spool != 0 || got.Arriving > 100*16<<10 {
		t.Errorf("100 bodies of which one byte has arrived hold %+v", got)
	}
	if got := post(t, b, bytes.NewReader(largeSend(1))); got.status != 200 {
		t.Errorf("a large one next to them: %d %s", got.status, got.body)
	}
}

// An invalid key is rejected before the client is asked to send its body.
func TestBodyIsNotReadBeforeTheCallerIsKnown(t *testing.T) {
	t.Parallel()
	b := newBundleFor(t, "/api/emails")
	for bearer, status := range map[string]string{"nobody": "401", "svc_read": "403"} {
		c := dial(t, b)
		fmt.Fprintf(c,
			"POST /api/emails HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 100000000\r\nExpect: 100-continue\r\n\r\n", bearer)
		line, err := bufio.NewReader(c).ReadString('\n')
		if err != nil || !strings.Contains(line, status) {
			t.Errorf("the key %s got %q, %v, want %s before the body is asked for", bearer, line, err, status)
		}
	}
}

func TestASmallBodyThatDoesNotArriveIsGivenUp(t *testing.T) {
	t.Parallel()
	held := budget(t, intake.Config{MinRate: intake.Rate{Bytes: 60 << 10, Period: 100 * time.Millisecond}})
	b := newBundle(t, func(o *api.Options) { o.Budget = held })
	c := dial(t, b)
	fmt.Fprint(c,
		"POST /api/emails HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer svc_full\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
	response, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != 408 {
		t.Errorf("a body that does not arrive got %d %s, %v, want 408", response.StatusCode, body, err)
	}
	expect.Golden(t, "answers/request_timeout.json", string(body))
}

func dial(t *testing.T, b *bundle) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(b.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetReadDeadline(time.Now().Add(expect.Patience)); err != nil {
		t.Fatal(err)
	}
	return c
}

// An invalid body is the caller's error, not ours.
func TestHostileBodies(t *testing.T) {
	t.Parallel()
	b := newBundleFor(t, "/api/emails")
	for name, body := range map[string]string{
		"deep arrays":     strings.Repeat("[", 100_000),
		"deep objects":    strings.Repeat(`{"a":`, 100_000),
		"NUL":             "{\"from\":\"\x00\"}",
		"escaped NUL":     `{"from":"a\u0000@example.com","to":"b@example.com","subject":"\u0000","text":"\u0000"}`,
		"lone surrogate":  `{"from":"\ud800@example.com","to":"\udfff","subject":"\ud800","text":"x"}`,
		"invalid UTF-8":   "{\"subject\":\"\xff\"}",
		"byte order mark": "\xef\xbb\xbf" + simple,
		"CR LF":           `{"from":"a@example.com\r\nBcc: x@y.z","to":"b@example.com\r\n","subject":"x\r\nBcc: y@z","text":"t","headers":{"X-A":"1\r\nBcc: q@r","X\r\nB":"2"}}`,
		"huge numbers":    `{"from":1e999999999,"to":-0,"subject":123456789012345678901234567890}`,
		"long name":       `{"` + strings.Repeat("é", 200_000) + `":1}`,
		"empty name":      `{"":1,"tags":{"":""},"headers":{"":""}}`,
		"many members":    "{" + strings.Repeat(`"a":1,`, 150_000) + `"b":2}`,
		"prototype":       `{"__proto__":{},"constructor":1}`,
		"number body":     "1",
		"open string":     `{"from":"`,
	} {
		for _, header := range []map[string]string{nil, {"Idempotency-Key": "k-" + name}} {
			got := b.do(t, request{method: "POST", path: "/api/emails", body: body, header: header})
			if got.status < 400 || got.status >= 500 {
				t.Errorf("%s: got %d %s, want 4xx", name, got.status, got.body)
			}
			if len(got.body) > 64<<10 {
				t.Errorf("%s: answer of %d bytes", name, len(got.body))
			}
		}
	}
}
