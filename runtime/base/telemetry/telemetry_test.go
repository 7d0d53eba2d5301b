package telemetry_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/telemetry"
)

// journal collects log lines.
type journal struct{ expect.Log }

func (j *journal) lines(t *testing.T) []map[string]any {
	t.Helper()
	var lines []map[string]any
	for text := range strings.SplitSeq(strings.TrimSpace(j.String()), "\n") {
		if text == "" {
			continue
		}
		var line map[string]any
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatalf("line %q: %v", text, err)
		}
		lines = append(lines, line)
	}
	return lines
}

type bench struct {
	journal  *journal
	registry *prometheus.Registry
	handler  http.Handler
}

func newBench(t *testing.T, level slog.Level, tracing *telemetry.Tracing) *bench {
	t.Helper()
	b := &bench{journal: &journal{}, registry: telemetry.NewRegistry("1.2.3")}
	logger := telemetry.NewLogger(telemetry.JSON, level, b.journal)
	observer, err := telemetry.NewHTTP(telemetry.HTTPParams{Logger: logger, Registry: b.registry, Tracing: tracing,
		Quiet: []string{"GET /healthz"}})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok") })
	mux.HandleFunc("POST /api/emails/{id}", func(w http.ResponseWriter, r *http.Request) {
		telemetry.SetCaller(r.Context(), "acc_1", "key_1")
		telemetry.SetError(r.Context(), "conflict", errors.New("the cause"))
		logger.InfoContext(r.Context(), "inside")
		w.WriteHeader(http.StatusConflict)
		io.WriteString(w, "12345")
	})
	mux.HandleFunc("POST /graphql", func(_ http.ResponseWriter, r *http.Request) {
		telemetry.SetRoute(r.Context(), "graphql emails")
	})
	mux.HandleFunc("GET /stream", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "part")
		w.(http.Flusher).Flush()
		panic("in the middle")
	})
	mux.HandleFunc("GET /unsupported", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotImplemented)
	})
	mux.HandleFunc("GET /panic", func(http.ResponseWriter, *http.Request) { panic("boom") })
	b.handler = observer.Wrap(mux)
	return b
}

func (b *bench) do(method, target string, header ...string) *http.Response {
	r := httptest.NewRequest(method, target, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	b.handler.ServeHTTP(w, r)
	return w.Result()
}

// newRegistry replaces the registry, for another observer.
func (b *bench) newRegistry() *prometheus.Registry {
	b.registry = telemetry.NewRegistry("1.2.3")
	return b.registry
}

func (b *bench) metrics(t *testing.T) string {
	t.Helper()
	w := httptest.NewRecorder()
	telemetry.MetricsHandler(b.registry, slog.New(slog.DiscardHandler)).
		ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody))
	return w.Body.String()
}

func TestOneWideLinePerRequest(t *testing.T) {
	t.Parallel()
	b := newBench(t, slog.LevelInfo, nil)
	answer := b.do("POST", "/api/emails/msg_secretpath?token=hush", "User-Agent", strings.Repeat("u", 900))
	id := answer.Header.Get("X-Request-Id")
	if !strings.HasPrefix(id, "req_") {
		t.Errorf("request id %q", id)
	}
	lines := b.journal.lines(t)
	if len(lines) != 2 {
		t.Fatalf("%d lines, want the handler's and one for the request: %v", len(lines), lines)
	}
	if lines[0]["request_id"] != id {
		t.Errorf("the handler's line names request %v, want %s", lines[0]["request_id"], id)
	}
	got := lines[1]
	if took, ok := got["duration"].(float64); !ok || took <= 0 || took > 60 {
		t.Errorf("duration %v, want seconds", got["duration"])
	}
	delete(got, "duration")
	delete(got, "time")
	want := map[string]any{"level": "INFO", "msg": "request", "method": "POST", "route": "POST /api/emails/{id}",
		"status": 409.0,
		"bytes":  5.0, "remote": "192.0.2.1", "user_agent": strings.Repeat("u", 200), "account_id": "acc_1", "key_id": "key_1",
		"code": "conflict", "error": "the cause", "request_id": id}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("wide line (-want +got):\n%s", diff)
	}
}

func TestMetricsHaveTheResourceAndNeverThePath(t *testing.T) {
	t.Parallel()
	b := newBench(t, slog.LevelInfo, nil)
	for _, id := range []string{"msg_1", "msg_2"} {
		b.do("POST", "/api/emails/"+id)
	}
	b.do("GET", "/no/such/page-1")
	b.do("GET", "/no/such/page-2")
	b.do("BREW", "/no/such/page-3")
	b.do("POST", "/graphql")
	metrics := b.metrics(t)
	for _, part := range []string{`postrider_build_info{go_version="go`, `version="1.2.3"} 1`, "go_goroutines ",
		`postrider_http_requests_total{resource="unmatched",status="404"} 3`,
		`postrider_http_requests_total{resource="emails",status="409"} 2`,
		`postrider_http_requests_total{resource="graphql",status="200"} 1`,
		"process_open_fds ", "postrider_http_requests_in_flight 0",
		`postrider_http_request_duration_seconds_count{resource="graphql"} 1`} {
		if !strings.Contains(metrics, part) {
			t.Errorf("metrics lack %s", part)
		}
	}
	if strings.Contains(metrics, "msg_1") || strings.Contains(metrics, "page-1") {
		t.Error("a path became a label")
	}
}

func TestValidRequestIDIsAdopted(t *testing.T) {
	t.Parallel()
	b := newBench(t, slog.LevelInfo, nil)
	for given, taken := range map[string]bool{
		"edge-7f.2_A": true, strings.Repeat("a", 64): true,
		"": false, strings.Repeat("a", 65): false, "a b": false, "a\x00": false, "é": false, "a\"}": false,
	} {
		got := b.do("GET", "/healthz", "X-Request-Id", given).Header.Get("X-Request-Id")
		if (got == given) != taken {
			t.Errorf("for %q, the response has %q", given, got)
		}
	}
}

func TestHealthyProbesAreQuiet(t *testing.T) {
	t.Parallel()
	b := newBench(t, slog.LevelInfo, nil)
	b.do("GET", "/healthz")
	if lines := b.journal.lines(t); len(lines) != 0 {
		t.Errorf("a probe logged %v", lines)
	}
	loud := newBench(t, slog.LevelDebug, nil)
	loud.do("GET", "/healthz")
	if lines := loud.journal.lines(t); len(lines) != 1 {
		t.Errorf("at debug level a probe logged %v", lines)
	}
}

func TestPanicBecomesA500WithTheRequestID(t *testing.T) {
	t.Parallel()
	b := newBench(t, slog.LevelInfo, nil)
	answer := b.do("GET", "/panic", "X-Request-Id", "mine")
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	if answer.StatusCode != 500 || string(body) != `{"error":{"message":"Internal error; request mine"}}`+"\n" {
		t.Errorf("answer %d %s", answer.StatusCode, body)
	}
	lines := b.journal.lines(t)
	if len(lines) != 2 || lines[0]["error"] != "boom" ||
		!strings.Contains(lines[0]["stack"].(string), "telemetry_test.go") {
		t.Fatalf("lines %v", lines)
	}
	if lines[1]["level"] != "ERROR" || lines[1]["status"] != 500.0 {
		t.Errorf("wide line %v", lines[1])
	}
}

// A client that asks for a feature that does not exist is not an error of the installation.
func TestUnsupportedRequestIsNoError(t *testing.T) {
	t.Parallel()
	b := newBench(t, slog.LevelInfo, nil)
	b.do("GET", "/unsupported")
	if lines := b.journal.lines(t); len(lines) != 1 || lines[0]["level"] != "INFO" || lines[0]["status"] != 501.0 {
		t.Errorf("a request for an unsupported feature logged %v, want one line at level INFO", lines)
	}
}

func TestPanicMidResponseCutsTheConnection(t *testing.T) {
	t.Parallel()
	b := newBench(t, slog.LevelInfo, nil)
	server := httptest.NewServer(b.handler)
	defer server.Close()
	answer, err := server.Client().Get(server.URL + "/stream")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if body, err := io.ReadAll(answer.Body); err == nil {
		t.Errorf("a partial response looks complete: %q", body)
	}
	server.Close()
	lines := b.journal.lines(t)
	if last := lines[len(lines)-1]; last["status"] != 500.0 || last["bytes"] != 4.0 {
		t.Errorf("wide line %v", last)
	}
}

func TestOutsideARequestTheRecordIsIgnored(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	telemetry.SetCaller(ctx, "a", "k")
	if id := telemetry.RequestID(ctx); id != "" {
		t.Errorf("request id %q", id)
	}
}

func TestTracingSendsSpansToTheCollector(t *testing.T) {
	t.Parallel()
	paths := make(chan string, 10)
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		// OTLP is protobuf, which contains names unchanged.
		if strings.Contains(string(body), "POST /api/emails/{id}") && strings.Contains(string(body), "postrider") {
			paths <- r.URL.Path
		}
		w.WriteHeader(http.StatusOK)
	}))
	defer collector.Close()
	tracing, err := telemetry.NewTracing(t.Context(), collector.URL+"/", "1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, slog.LevelInfo, tracing)
	const foreign = "4bf92f3577b34da6a3ce929d0e0e4736"
	b.do("POST", "/api/emails/msg_1", "Traceparent", "00-"+foreign+"-00f067aa0ba902b7-01")
	for _, line := range b.journal.lines(t) {
		if id, ok := line["trace_id"].(string); !ok || len(id) != 32 || id == foreign {
			t.Errorf("line %v: want a trace id of our own", line)
		}
	}
	if err := tracing.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	select {
	case path := <-paths:
		if path != "/v1/traces" {
			t.Errorf("sent to %s", path)
		}
	default:
		t.Error("no span named by the route arrived before the end of Shutdown")
	}
}

func TestTracingIsOffWithoutAnEndpoint(t *testing.T) {
	t.Parallel()
	off, err := telemetry.NewTracing(t.Context(), "", "1")
	if err != nil {
		t.Fatal(err)
	}
	for _, tracing := range []*telemetry.Tracing{off, nil} {
		_, span := tracing.Provider().Tracer("t").Start(t.Context(), "s")
		if tracing.IsEnabled() || span.IsRecording() || trace.SpanContextFromContext(t.Context()).IsValid() {
			t.Error("spans are recorded")
		}
		if err := tracing.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestTextLogs(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	telemetry.NewLogger(telemetry.Text, slog.LevelWarn, &out).With("a", 1).WithGroup("g").Warn("m", "b", 2)
	if !strings.Contains(out.String(), "level=WARN msg=m a=1 g.b=2") {
		t.Errorf("line %q", out.String())
	}
	out.Reset()
	telemetry.NewLogger(telemetry.Text, slog.LevelWarn, &out).Info("m")
	if out.Len() != 0 {
		t.Errorf("below the level: %q", out.String())
	}
}

// A flood of rejected requests becomes one line per second and reason: wrong keys, wrong passwords, malformed
// requests, too many of one account. Accepted requests have a line each.
func TestAFloodOfRefusedRequestsIsFewLines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j := &journal{}
		observer, err := telemetry.NewHTTP(telemetry.HTTPParams{Logger: telemetry.NewLogger(telemetry.JSON,
			slog.LevelInfo, j), Registry: prometheus.NewRegistry()})
		if err != nil {
			t.Fatal(err)
		}
		mux := http.NewServeMux()
		answer := func(caller, code string, status int) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				telemetry.SetCaller(r.Context(), caller, "")
				telemetry.SetError(r.Context(), code, nil)
				w.WriteHeader(status)
			}
		}
		paths := map[string]bool{"/wrong-key": true, "/sign-in": true, "/malformed": true, "/busy": true,
			"/too-many": true, "/answered": false, "/conflict": false}
		mux.HandleFunc("GET /wrong-key", answer("", "", http.StatusUnauthorized))
		mux.HandleFunc("GET /sign-in", answer("", "rate_limit_exceeded", http.StatusTooManyRequests))
		mux.HandleFunc("GET /malformed", answer("", "validation_error", http.StatusBadRequest))
		mux.HandleFunc("GET /busy", answer("", "delivery_unavailable", http.StatusServiceUnavailable))
		mux.HandleFunc("GET /too-many", answer("acc_1", "rate_limit_exceeded", http.StatusTooManyRequests))
		mux.HandleFunc("GET /answered", answer("acc_1", "", http.StatusOK))
		mux.HandleFunc("GET /conflict", answer("acc_1", "conflict", http.StatusConflict))
		handler := observer.Wrap(mux)
		const requests, seconds = 1000, 4
		for range requests {
			for path := range paths {
				handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, path, nil))
			}
			time.Sleep(seconds * time.Second / requests)
		}
		time.Sleep(3 * time.Second)
		lines, told := map[string]int{}, map[string]int{}
		for _, l := range j.lines(t) {
			route := strings.TrimPrefix(l["route"].(string), "GET ")
			lines[route]++
			count, _ := l["count"].(float64)
			told[route] += max(int(count), 1)
		}
		for path, flood := range paths {
			if most := map[bool]int{true: seconds + 1, false: requests}[flood]; lines[path] > most ||
				told[path] != requests {
				t.Errorf("%d requests for %s in %d seconds became %d lines that count %d, want at most %d that count all",
					requests, path, seconds, lines[path], told[path], most)
			}
		}
	})
}
