package telemetry

import (
	"context"
	"log/slog"
	"sync"
)

// Request is the record of one HTTP request in the making. The functions below
// add to the record in a context and do nothing when there is none.
type Request struct {
	id         string
	clientLeft func() bool

	mu        sync.Mutex // a streamed answer may outlive the handler's goroutine
	route     string
	accountID string
	keyID     string
	code      string
	err       error
}

type requestKey struct{}

func withRequest(ctx context.Context, r *Request) context.Context {
	return context.WithValue(ctx, requestKey{}, r)
}

func change(ctx context.Context, to func(r *Request)) {
	r, ok := ctx.Value(requestKey{}).(*Request)
	if !ok {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	to(r)
}

// RequestID is the id that the answer carries as X-Request-Id, "" outside a request.
func RequestID(ctx context.Context) string {
	if r, ok := ctx.Value(requestKey{}).(*Request); ok {
		return r.id
	}
	return ""
}

// ClientLeft reports whether the client of a request has left. Errors that follow from that are
// nobody's defect. It is false outside a request, and while a server that stops cancels its requests.
func ClientLeft(ctx context.Context) bool {
	r, ok := ctx.Value(requestKey{}).(*Request)
	return ok && r.clientLeft()
}

// LogFailure logs a request that failed for a reason of ours: as an error, unless its client has
// left, which cancels all work for it.
func LogFailure(ctx context.Context, log *slog.Logger, message string, attrs ...any) {
	level := slog.LevelError
	if ClientLeft(ctx) {
		level = slog.LevelDebug
	}
	log.Log(ctx, level, message, attrs...)
}

// SetCaller records who was found to be calling.
func SetCaller(ctx context.Context, accountID, keyID string) {
	change(ctx, func(r *Request) { r.accountID, r.keyID = accountID, keyID })
}

// SetRoute records the pattern that was matched, where that is not the one of
// the outer ServeMux (a GraphQL operation, a nested mux). It must come from a
// small fixed set: it is a label of metrics.
func SetRoute(ctx context.Context, route string) {
	change(ctx, func(r *Request) { r.route = route })
}

// SetError records the error code that the caller gets and the error behind it,
// which may say more than the caller may know.
func SetError(ctx context.Context, code string, err error) {
	change(ctx, func(r *Request) { r.code, r.err = code, err })
}

// IsStranger reports whether nobody was found to be calling.
func IsStranger(ctx context.Context) bool {
	r, ok := ctx.Value(requestKey{}).(*Request)
	return ok && r.caller() == ""
}

// caller returns the account, or else the person, that SetCaller was told of; "" for a stranger.
func (r *Request) caller() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.accountID != "" {
		return r.accountID
	}
	return r.keyID
}

// errorCode returns the code that SetError was told of.
func (r *Request) errorCode() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.code
}

// line is what is known, for the log.
func (r *Request) line() (route string, attrs []slog.Attr) {
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
