package callbacks

import (
	"context"
	"io"
	"log/slog"
	"net/http"

	"github.com/postrider/postrider/modules/billing"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/base/telemetry"
)

// StripePath is where Stripe posts its events.
const StripePath = "/api/billing/stripe"

// Events is the part of the module that the handler calls.
type Events interface {
	HandleEvent(ctx context.Context, body []byte, signature string) error
}

var _ Events = (*billing.Service)(nil)

const (
	stripeBodyLimit   = 512 << 10
	stripeConcurrency = 8 // requests that use the database
)

type stripeHandler struct {
	events Events
	log    *slog.Logger
	turn   *intake.Pool
}

// NewStripe returns the handler of StripePath. Stripe retries an event for three days until it gets a 2xx response,
// and disables an endpoint that always refuses. An event about an unknown customer is therefore accepted and ignored.
func NewStripe(events Events, log *slog.Logger) http.Handler {
	return &stripeHandler{events, log, intake.NewPool(stripeConcurrency)}
}

// ServeHTTP implements http.Handler.
func (h *stripeHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	telemetry.SetRoute(r.Context(), StripePath)
	switch {
	case r.URL.Path != StripePath:
		http.Error(w, "Not found", http.StatusNotFound)
		return
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", "POST")
		http.Error(w, "Method not allowed: use POST", http.StatusMethodNotAllowed)
		return
	}
	if err := h.takeEvent(w, r); err != nil {
		refuse(w, r, h.log, "cannot store an event of the payment provider", err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if _, err := io.WriteString(w, `{"ok":true}`); err != nil {
		h.log.DebugContext(r.Context(), "client closed the connection", telemetry.KeyError, err)
	}
}

func (h *stripeHandler) takeEvent(w http.ResponseWriter, r *http.Request) error {
	body, err := readBody(w, r, stripeBodyLimit)
	if err != nil {
		return err
	}
	// Unauthenticated clients can post. Wait for the turn after the body was read, so that a client that stalls does
	// not occupy it.
	release, err := h.turn.Take(r.Context(), intake.Tenant{Account: "stripe"}, 1, patience)
	if err != nil {
		return fault.DatabaseUnavailable(err)
	}
	defer release()
	return h.events.HandleEvent(r.Context(), body, r.Header.Get("Stripe-Signature"))
}
