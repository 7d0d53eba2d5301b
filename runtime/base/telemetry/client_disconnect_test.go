package telemetry_test

import (
	"context"
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

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/telemetry"
)

// A client that disconnects is not a failure: neither the request nor the handler's log line is an error,
// whatever the handler returns, with either protocol. Each path is one way to disconnect.
func TestClientDisconnectIs499AndNotAnError(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int // that the handler answers
		body   string
		handle func(w http.ResponseWriter, r *http.Request)
	}{
		"before the response": {handle: func(w http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			http.Error(w, "the transaction was rolled back", http.StatusInternalServerError)
		}},
		"before the response, which is 503": {handle: func(w http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			w.WriteHeader(http.StatusServiceUnavailable)
		}},
		"before the response, which is 200": {handle: func(w http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			w.WriteHeader(http.StatusOK)
		}},
		"without a response": {handle: func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }},
		"during a stream": {handle: func(w http.ResponseWriter, r *http.Request) {
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}},
		"during a download": {handle: func(w http.ResponseWriter, r *http.Request) {
			for piece := make([]byte, 64<<10); r.Context().Err() == nil; {
				if _, err := w.Write(piece); err != nil {
					break
				}
			}
			panic(http.ErrAbortHandler)
		}},
		"during its body": {body: "half", handle: func(w http.ResponseWriter, r *http.Request) {
			if _, err := io.ReadAll(r.Body); err == nil {
				w.WriteHeader(http.StatusOK)
				return
			}
			http.Error(w, "The body ended early", http.StatusBadRequest)
		}},
	} {
		for _, protocol := range []string{"HTTP/1.1", "HTTP/2.0"} {
			t.Run(name+" over "+protocol, func(t *testing.T) {
				t.Parallel()
				b := newBench(t, slog.LevelInfo, nil)
				log := telemetry.NewLogger(telemetry.JSON, slog.LevelInfo, b.journal)
				begun, ended := make(chan struct{}), make(chan struct{})
				srv := httptest.NewUnstartedServer(b.observe(t, func(w http.ResponseWriter, r *http.Request) {
					close(begun)
					defer func() {
						telemetry.LogFailure(r.Context(), log, "a defect", telemetry.KeyError,
							errors.New("canceled"))
					}()
					c.handle(w, r)
				}, ended))
				srv.EnableHTTP2 = protocol == "HTTP/2.0"
				srv.StartTLS()
				defer srv.Close()
				ctx, leave := context.WithCancel(t.Context())
				defer leave()
				var body io.Reader
				if c.body != "" {
					body = io.MultiReader(strings.NewReader(c.body), reading(func() { <-ctx.Done() }))
				}
				r, err := http.NewRequestWithContext(ctx, http.MethodPost, srv.URL+"/", body)
				if err != nil {
					t.Fatal(err)
				}
				go func() {
					<-begun
					leave()
				}()
				if a, err := srv.Client().Do(r); err == nil {
					<-ctx.Done()
					a.Body.Close()
				}
				<-ended
				lines := b.journal.lines(t)
				if len(lines) != 1 || lines[0]["status"] != 499.0 || lines[0]["level"] != "INFO" {
					t.Errorf("the log is %v, want one line of the request with status 499 and level INFO", lines)
				}
				if !strings.Contains(b.metrics(t), `status="499"} 1`) {
					t.Error("the metrics lack a request with status 499")
				}
			})
		}
	}
}

// reading waits, then fails.
type reading func()

func (r reading) Read([]byte) (int, error) { r(); return 0, context.Canceled }

// observe serves one handler under the observer of the bench; ended is closed after its line was logged.
func (b *bench) observe(t *testing.T, handle http.HandlerFunc, ended chan struct{}) http.Handler {
	t.Helper()
	observer, err := telemetry.NewHTTP(telemetry.HTTPParams{Logger: telemetry.NewLogger(telemetry.JSON, slog.LevelInfo,
		b.journal), Registry: b.newRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	inner := observer.Wrap(handle)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(ended)
		inner.ServeHTTP(w, r)
	})
}

// A request that the server ends is not a client disconnect: a body that is too slow, or a shutdown.
func TestRequestEndedByTheServerIsNot499(t *testing.T) {
	t.Parallel()
	stopped := errors.New("stopped")
	for name, c := range map[string]struct {
		request string
		handle  func(w http.ResponseWriter, r *http.Request, stop func())
		status  float64
	}{
		"a body that is too slow": {request: "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf",
			status: 408, handle: func(w http.ResponseWriter, r *http.Request, _ func()) {
				http.NewResponseController(w).SetReadDeadline(time.Now())
				io.Copy(io.Discard, r.Body)
				<-r.Context().Done()
				w.WriteHeader(http.StatusRequestTimeout)
			}},
		"a stop": {request: "GET / HTTP/1.1\r\nHost: x\r\n\r\n", status: 503, handle: func(w http.ResponseWriter, r *http.Request, stop func()) {
			stop()
			<-r.Context().Done()
			w.WriteHeader(http.StatusServiceUnavailable)
		}},
		"a response that was sent before the client left": {request: "GET / HTTP/1.1\r\nHost: x\r\n\r\n", status: 200,
			handle: func(w http.ResponseWriter, _ *http.Request, _ func()) {
				w.WriteHeader(http.StatusOK)
			}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, slog.LevelInfo, nil)
			base, cut := context.WithCancelCause(t.Context())
			ended := make(chan struct{})
			srv := httptest.NewUnstartedServer(b.observe(t,
				func(w http.ResponseWriter, r *http.Request) { c.handle(w, r, func() { cut(stopped) }) }, ended))
			srv.Config.BaseContext = func(net.Listener) context.Context { return base }
			srv.Start()
			defer srv.Close()
			conn, err := net.Dial("tcp", srv.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if err := conn.SetDeadline(time.Now().Add(expect.Patience)); err != nil {
				t.Fatal(err)
			}
			fmt.Fprint(conn, c.request)
			<-ended
			if lines := b.journal.lines(t); len(lines) != 1 || lines[0]["status"] != c.status {
				t.Errorf("the log is %v, want one line with status %v", lines, c.status)
			}
		})
	}
}
