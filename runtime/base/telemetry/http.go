package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/postrider/postrider/runtime/base/loglimit"
)

// RequestIDHeader carries the request id in both directions.
const RequestIDHeader = "X-Request-Id"

// unmatched is the route of requests that match no pattern.
const unmatched = "unmatched"

// HTTP observes a server's requests.
type HTTP struct {
	logger   *slog.Logger
	tracing  *Tracing
	quiet    map[string]bool
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	inFlight prometheus.Gauge
}

// HTTPParams are the dependencies of NewHTTP.
type HTTPParams struct {
	Logger   *slog.Logger
	Registry prometheus.Registerer
	Tracing  *Tracing // nil: off
	// Quiet routes (health, metrics) are logged at debug level while their status is below 500. They are
	// written as mux patterns: "GET /healthz".
	Quiet []string
}

// NewHTTP registers the metrics for HTTP requests.
func NewHTTP(p HTTPParams) (*HTTP, error) {
	h := &HTTP{logger: p.Logger, tracing: p.Tracing, quiet: map[string]bool{},
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: Namespace, Name: "http_requests_total", Help: "HTTP requests completed.",
		}, []string{"resource", "status"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: Namespace, Name: "http_request_duration_seconds", Help: "Duration of HTTP requests.",
			Buckets: []float64{.005, .025, .1, .25, .5, 1, 2.5, 6, 30},
		}, []string{"resource"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Namespace: Namespace, Name: "http_requests_in_flight", Help: "HTTP requests in progress.",
		}),
	}
	for _, route := range p.Quiet {
		h.quiet[route] = true
	}
	return h, Register(p.Registry, h.requests, h.duration, h.inFlight)
}

// Wrap observes the requests to next, which must be the outermost mux: the route is the pattern that it
// matched. A panic is logged and answered with a 500.
func (h *HTTP) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !h.tracing.IsEnabled() {
			h.serveRequest(w, r, next)
			return
		}
		ctx, span := h.startSpan(r)
		defer span.End()
		h.serveRequest(w, r.WithContext(ctx), next)
	})
}

// startSpan starts the span of a request, which the caller ends, with the attributes of OpenTelemetry's conventions
// for HTTP servers. Clients are untrusted: their trace is linked rather than continued, so that they do not control
// sampling.
func (h *HTTP) startSpan(r *http.Request) (context.Context, trace.Span) {
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	remote := trace.SpanContextFromContext(
		propagation.TraceContext{}.Extract(context.Background(), propagation.HeaderCarrier(r.Header)))
	return h.tracing.Provider().Tracer("http").Start(r.Context(), r.Method, trace.WithNewRoot(), //nolint:spancheck // the caller ends it
		trace.WithSpanKind(trace.SpanKindServer), trace.WithLinks(trace.Link{SpanContext: remote}),
		trace.WithAttributes(semconv.HTTPRequestMethodKey.String(methodLabel(r)), semconv.URLPath(r.URL.Path),
			semconv.URLScheme(scheme), semconv.ServerAddress(r.Host), semconv.NetworkPeerAddress(remoteHost(r)),
			semconv.UserAgentOriginal(truncate(r.UserAgent(), 200)),
			semconv.NetworkProtocolVersion(fmt.Sprintf("%d.%d", r.ProtoMajor, r.ProtoMinor))))
}

func (h *HTTP) serveRequest(w http.ResponseWriter, r *http.Request, next http.Handler) {
	record := &RequestRecord{id: requestID(r)}
	r = r.WithContext(withRequest(r.Context(), record))
	w.Header().Set(RequestIDHeader, record.id)
	seen := observeRequest(r)
	record.clientLeft = seen.clientLeft
	h.inFlight.Inc()
	start := time.Now()
	// Deferred, so that an aborted connection (http.ErrAbortHandler) is logged too.
	defer func() {
		h.inFlight.Dec()
		h.finishRequest(r, record, seen, time.Since(start))
	}()
	h.recoverPanic(responseWriter{w, seen}, r, record, seen, next)
}

// recoverPanic answers a panic in next with a 500. If the response has already begun, it cuts the connection
// instead, so that the client does not mistake a partial response for a complete one.
func (h *HTTP) recoverPanic(w http.ResponseWriter, r *http.Request, record *RequestRecord, seen *observation,
	next http.Handler) {
	defer func() {
		value := recover()
		if value == nil {
			return
		}
		if err, ok := value.(error); ok && errors.Is(err, http.ErrAbortHandler) {
			seen.failed = true
			panic(value)
		}
		h.logger.ErrorContext(loglimit.Collapse(r.Context(), r.Pattern), "handler panicked", KeyError, value, KeyStack,
			string(debug.Stack()))
		if seen.begun {
			seen.status = http.StatusInternalServerError
			panic(http.ErrAbortHandler)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusInternalServerError)
		if _, err := fmt.Fprintf(w, `{"error":{"message":"Internal error; request %s"}}`+"\n", record.id); err != nil {
			h.logger.DebugContext(r.Context(), "client closed the connection", KeyError, err)
		}
	}()
	next.ServeHTTP(w, r)
}

func (h *HTTP) finishRequest(r *http.Request, record *RequestRecord, seen *observation, took time.Duration) {
	route, attrs := record.logLine()
	if route == "" {
		route = r.Pattern // set by ServeMux on the request it received
	}
	if route == "" {
		route = unmatched
	}
	status := seen.finalStatus()
	resource := resourceOf(route)
	h.requests.WithLabelValues(resource, strconv.Itoa(status)).Inc()
	h.duration.WithLabelValues(resource).Observe(took.Seconds())
	if span := trace.SpanFromContext(r.Context()); span.IsRecording() {
		span.SetName(spanName(r, route))
		span.SetAttributes(semconv.HTTPRoute(route), attribute.String(KeyRequestID, record.id),
			semconv.HTTPResponseStatusCode(status), semconv.HTTPResponseBodySize(int(seen.written)))
		if isFailure(status) {
			span.SetStatus(codes.Error, "")
		}
	}
	level := slog.LevelInfo
	switch {
	case isFailure(status):
		level = slog.LevelError
	case h.quiet[route]:
		level = slog.LevelDebug
	}
	h.logger.LogAttrs(collapseRequest(r.Context(), record, route, status), level, "request", append([]slog.Attr{
		slog.String(KeyMethod, methodLabel(r)), slog.String(KeyRoute, route), slog.Int(KeyStatus, status),
		slog.Duration(KeyDuration, took), slog.Int64(KeyBytes, seen.written), slog.String(KeyRemote, remoteHost(r)),
		slog.String(KeyUserAgent, truncate(r.UserAgent(), 200)),
	}, attrs...)...)
}

// isFailure reports whether a status is a failure of ours. 501 is the answer to a request for a feature that does not
// exist, such as a call of another provider's API.
func isFailure(status int) bool {
	return status >= http.StatusInternalServerError && status != http.StatusNotImplemented
}

// resourceOf returns the label of a route in the metrics: "emails" for "POST /api/emails/{id}". There are hundreds of
// routes and few resources. The log and the traces have the routes.
func resourceOf(route string) string {
	if first, _, found := strings.Cut(route, " "); found && first == "graphql" {
		return first
	}
	_, path, found := strings.Cut(route, "/") // after the method and a host
	if !found {
		return route
	}
	path = strings.TrimPrefix(path, "api/")
	first, _, _ := strings.Cut(path, "/")
	if first == "" || strings.HasPrefix(first, "{") {
		return "root"
	}
	return first
}

// strangersBurst is the number of requests of unauthenticated clients that are logged individually, per route
// and second.
const strangersBurst = 20 // lines

// collapseRequest limits the log lines of requests that have no other limit: those of unauthenticated
// clients, and those rejected by a rate or concurrency limit.
func collapseRequest(ctx context.Context, record *RequestRecord, route string, status int) context.Context {
	by := record.callerID()
	switch {
	case by != "" && status != http.StatusTooManyRequests:
		return ctx
	case by == "" && status < http.StatusBadRequest:
		return loglimit.CollapseAfter(ctx, strangersBurst, route)
	}
	return loglimit.Collapse(ctx, route+" "+strconv.Itoa(status)+" "+record.errorCode()+" "+by)
}

// requestID returns the id sent by a proxy or client if it is well formed, so that both sides can search
// for it, and a new one otherwise.
func requestID(r *http.Request) string {
	if given := r.Header.Get(RequestIDHeader); isValidRequestID(given) {
		return given
	}
	return "req_" + strings.ReplaceAll(uuid.Must(uuid.NewV7()).String(), "-", "")
}

func isValidRequestID(id string) bool {
	if len(id) == 0 || len(id) > 64 {
		return false
	}
	for _, c := range []byte(id) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_', c == '.':
		default:
			return false
		}
	}
	return true
}

// methodLabel keeps unknown methods out of metric labels.
func methodLabel(r *http.Request) string {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodOptions:
		return r.Method
	default:
		return "other"
	}
}

func spanName(r *http.Request, route string) string {
	if strings.Contains(route, " ") { // the pattern starts with the method
		return route
	}
	return methodLabel(r) + " " + route
}

func remoteHost(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

func truncate(s string, limit int) string {
	if len(s) > limit {
		return s[:limit]
	}
	return s
}
