package telemetry

import (
	"context"
	"log/slog"
	"sync"
)

// RequestRecord is the record of an HTTP request in progress. The functions below add to the record in a context
// and do nothing if there is none.
type RequestRecord struct {
	id         string
	clientLeft func() bool

	mu        sync.Mutex // a streamed response may outlive the handler's goroutine
	route     string
	accountID string
	keyID     string
	code      string
	err       error
}

type requestKey struct{}

func withRequest(ctx context.Context, r *RequestRecord) context.Context {
	return context.WithValue(ctx, requestKey{}, r)
}

func changeRequest(ctx context.Context, to func(r *RequestRecord)) {
	r, ok := ctx.Value(requestKey{}).(*RequestRecord)
	if !ok {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	to(r)
}

// RequestID returns the id that the response carries as X-Request-Id, or "" outside a request.
func RequestID(ctx context.Context) string {
	if r, ok := ctx.Value(requestKey{}).(*RequestRecord); ok {
		return r.id
	}
	return ""
}

// ClientLeft reports whether the client of a request has disconnected. Errors that follow from that are not
// defects. It is false outside a request, and while a server that shuts down cancels its requests.
func ClientLeft(ctx context.Context) bool {
	r, ok := ctx.Value(requestKey{}).(*RequestRecord)
	return ok && r.clientLeft()
}

// LogFailure logs an internal failure of a request. It logs an error unless the client has disconnected,
// which cancels all work for the request.
func LogFailure(ctx context.Context, log *slog.Logger, message string, attrs ...any) {
	level := slog.LevelError
	if ClientLeft(ctx) {
		level = slog.LevelDebug
	}
	log.Log(ctx, level, message, attrs...)
}

// SetCaller records the authenticated caller.
func SetCaller(ctx context.Context, accountID, keyID string) {
	changeRequest(ctx, func(r *RequestRecord) { r.accountID, r.keyID = accountID, keyID })
}

// SetRoute records the matched pattern where it differs from that of the outer ServeMux (a GraphQL
// operation, a nested mux). It must come from a small fixed set, because it becomes a metric label.
func SetRoute(ctx context.Context, route string) {
	changeRequest(ctx, func(r *RequestRecord) { r.route = route })
}

// SetError records the error code returned to the client and its cause, which may contain details that the
// client must not see.
func SetError(ctx context.Context, code string, err error) {
	changeRequest(ctx, func(r *RequestRecord) { r.code, r.err = code, err })
}

// IsStranger reports whether the caller is unauthenticated.
func IsStranger(ctx context.Context) bool {
	r, ok := ctx.Value(requestKey{}).(*RequestRecord)
	return ok && r.callerID() == ""
}

// callerID returns the account, or else the user, set with SetCaller; "" if unauthenticated.
func (r *RequestRecord) callerID() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.accountID != "" {
		return r.accountID
	}
	return r.keyID
}

// errorCode returns the code set with SetError.
func (r *RequestRecord) errorCode() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.code
}

// logLine returns the route and the log attributes of the request.
func (r *RequestRecord) logLine() (route string, attrs []slog.Attr) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range []slog.Attr{
		slog.String(KeyAccountID, r.accountID), slog.String(KeyKeyID, r.keyID), slog.String(KeyCode, r.code),
	} {
		if a.Value.String() != "" {
			attrs = append(attrs, a)
		}
	}
	if r.err != nil {
		attrs = append(attrs, slog.String(KeyError, r.err.Error()))
	}
	return r.route, attrs
}
