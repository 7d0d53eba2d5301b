package rspamd_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/mail/rspamd"
)

// server starts an HTTP server in place of rspamd and returns its URL.
func server(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return s.URL
}

func respondWith(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, body) }
}

func client(t *testing.T, cfg rspamd.Config) *rspamd.Client {
	t.Helper()
	c, err := rspamd.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestActionsBecomeVerdicts(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]rspamd.Verdict{
		`{"is_skipped":false,"score":15.1,"required_score":15,"action":"reject","symbols":{"GTUBE":{}}}`: {Status: rspamd.Spam, Score: 15.1, HasScore: true},
		// the response of rspamd 3.4 to GTUBE, verbatim:
		`{"is_skipped":true,"score":15.0,"required_score":15.0,"action":"reject","symbols":{"GTUBE":{"name":"GTUBE","score":0.0,"metric_score":0.0}},"messages":{"smtp_message":"Gtube pattern"},"message-id":"undef","time_real":0.000319}`: {Status: rspamd.Spam, Score: 15, HasScore: true},
		`{"is_skipped":true}`:                                {Status: rspamd.Unknown},
		`{"score":6.5,"action":"add header"}`:                {Status: rspamd.Spam, Score: 6.5, HasScore: true},
		`{"score":7,"action":"rewrite subject"}`:             {Status: rspamd.Spam, Score: 7, HasScore: true},
		`{"score":0,"action":"no action"}`:                   {Status: rspamd.Ham, HasScore: true},
		`{"score":-1.5,"action":"no action"}`:                {Status: rspamd.Ham, Score: -1.5, HasScore: true},
		`{"score":4.2,"action":"greylist"}`:                  {Status: rspamd.Ham, Score: 4.2, HasScore: true},
		`{"score":1,"action":"soft reject"}`:                 {Status: rspamd.Ham, Score: 1, HasScore: true},
		`{"action":"no action"}`:                             {Status: rspamd.Ham},
		`{"is_skipped":true,"score":0,"action":"no action"}`: {Status: rspamd.Unknown},
		`{"score":6,"action":"add header","symbols":{"B":{"score":2},"A":{"score":2},"C":{"score":3,"description":"Bad"},"D":{"score":-1},"E":{"score":0}}}`: {Status: rspamd.Spam, Score: 6, HasScore: true,
			Reasons: []rspamd.Reason{{Name: "C", Description: "Bad", Score: 3}, {Name: "A", Score: 2}, {Name: "B", Score: 2}}},
		`{"score":3,"action":"our own"}`: {Status: rspamd.Unknown, Score: 3, HasScore: true},
	} {
		got, err := client(t, rspamd.Config{URL: server(t, respondWith(body))}).
			Check(t.Context(), rspamd.Envelope{}, strings.NewReader("x"), 1)
		if err != nil || !cmp.Equal(got, want) {
			t.Errorf("%s: got %+v, %v, want %+v", body, got, err, want)
		}
	}
}

func TestCheckSendsTheEnvelope(t *testing.T) {
	t.Parallel()
	raw := "Subject: x\r\n\r\n\x00\xff\r\n"
	for name, c := range map[string]struct {
		envelope rspamd.Envelope
		want     map[string][]string
	}{
		"all of it": {
			rspamd.Envelope{IP: "2001:db8::1", Hello: "mx.example.com", From: "ann@example.com",
				Rcpt: []string{"bob@example.net", "cär@example.net"}, QueueID: "inb_1"},
			map[string][]string{"Ip": {"2001:db8::1"}, "Helo": {"mx.example.com"}, "From": {"ann@example.com"},
				"Rcpt": {"bob@example.net", "cär@example.net"}, "Queue-Id": {"inb_1"}},
		},
		"a null sender and control characters in EHLO": {
			rspamd.Envelope{Hello: "a\r\nRcpt: x\x00\xff"},
			map[string][]string{"Helo": {"aRcpt: x?"}, "From": {"<>"}, "Ip": nil, "Rcpt": nil, "Queue-Id": nil},
		},
	} {
		asked := make(chan *http.Request, 1)
		url := server(t, func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil || string(body) != raw || r.Method != http.MethodPost || r.URL.Path != "/under/checkv2" {
				t.Errorf("rspamd received %s %s with %q, %v, want POST /under/checkv2 with the message", r.Method,
					r.URL, body, err)
			}
			asked <- r
			respondWith(`{"action":"no action","score":0}`)(w, r)
		})
		if _, err := client(t, rspamd.Config{URL: url + "/under/"}).
			Check(t.Context(), c.envelope, strings.NewReader(raw), int64(len(raw))); err != nil {
			t.Fatal(err)
		}
		header := (<-asked).Header
		for field, want := range c.want {
			if got := header.Values(field); !cmp.Equal(got, want) {
				t.Errorf("%s: %s is %q, want %q", name, field, got, want)
			}
		}
	}
}

func TestFailedCheckReturnsAnErrorAndNoVerdict(t *testing.T) {
	t.Parallel()
	elsewhere := server(t, func(http.ResponseWriter, *http.Request) {
		t.Error("the message was sent to another server")
	})
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	done := make(chan struct{})
	for name, url := range map[string]string{
		"unreachable": "http://" + closed.Addr().String(),
		"an error":    server(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }),
		"a redirect": server(t, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere, http.StatusTemporaryRedirect)
		}),
		"not JSON":        server(t, respondWith("<html>")),
		"unexpected JSON": server(t, respondWith(`{"error":"no"}`)),
		"a list":          server(t, respondWith(`[]`)),
		"nothing":         server(t, respondWith("")),
		"an endless response": server(t, func(w http.ResponseWriter, _ *http.Request) {
			for _, err := w.Write([]byte(`{"symbols":"`)); err == nil; _, err = w.Write(make([]byte, 64<<10)) {
			}
		}),
		"silence": server(t, func(_ http.ResponseWriter, r *http.Request) { wait(r.Context(), done) }),
		"half a response": server(t, func(w http.ResponseWriter, r *http.Request) {
			respondWith(`{"action":`)(w, r)
			http.NewResponseController(w).Flush()
			wait(r.Context(), done)
		}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := client(t, rspamd.Config{URL: url, Timeout: 2 * time.Second}).
				Check(t.Context(), rspamd.Envelope{}, strings.NewReader("x"), 1)
			if err == nil || !cmp.Equal(got, rspamd.Verdict{Status: rspamd.Unknown}) {
				t.Errorf("Check returned %+v, %v, want an error and the status unknown", got, err)
			}
		})
	}
	t.Cleanup(func() { close(done) }) // before the servers close, which wait for their handlers
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := client(t, rspamd.Config{URL: elsewhere}).
		Check(ctx, rspamd.Envelope{}, strings.NewReader(""), 0); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func wait(ctx context.Context, done <-chan struct{}) {
	select {
	case <-ctx.Done():
	case <-done:
	}
}

func TestNewRejectsInvalidURLs(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"", "127.0.0.1:11333", "ftp://host", "http://", "http://user:geheim@ho st/",
		"http://host/?a=b", "unix:/run/rspamd"} {
		if _, err := rspamd.New(rspamd.Config{URL: url}); err == nil || strings.Contains(err.Error(), "geheim") {
			t.Errorf("New with the URL %q returned %v, want an error that does not show the password", url, err)
		}
	}
}
