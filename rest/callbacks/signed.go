package callbacks

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/base/telemetry"
)

// signedHandler serves POST requests of a service that signs its bodies.
type signedHandler struct {
	path      string
	signature string // header field
	limit     int64  // bytes of a body
	turn      *intake.Pool
	// receive returns the response: JSON, or nothing for 204.
	receive func(ctx context.Context, body []byte, signature string) ([]byte, error)
	log     *slog.Logger
	failed  string // log message of an unexpected error
}

// ServeHTTP implements http.Handler.
func (h *signedHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	telemetry.SetRoute(r.Context(), h.path)
	switch {
	case r.URL.Path != h.path:
		http.Error(w, "Not found", http.StatusNotFound)
		return
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", "POST")
		http.Error(w, "Method not allowed: use POST", http.StatusMethodNotAllowed)
		return
	}
	response, err := h.take(w, r)
	if err != nil {
		refuse(w, r, h.log, h.failed, err)
		return
	}
	if len(response) == 0 {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if _, err := w.Write(response); err != nil { //nolint:gosec // G705: JSON
		h.log.DebugContext(r.Context(), "client closed the connection", telemetry.KeyError, err)
	}
}

func (h *signedHandler) take(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	body, err := readBody(w, r, h.limit)
	if err != nil {
		return nil, err
	}
	// Unauthenticated clients can post. Wait for the turn after the body was read, so that a client that stalls does
	// not occupy it.
	release, err := h.turn.Take(r.Context(), intake.Tenant{Account: h.path}, 1, patience)
	if err != nil {
		return nil, fault.DatabaseUnavailable(err)
	}
	defer release()
	return h.receive(r.Context(), body, r.Header.Get(h.signature))
}
