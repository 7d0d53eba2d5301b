// Package stripe receives Stripe's webhook events at /api/billing/stripe. Stripe retries events for three days
// unless the response is 2xx, and disables an endpoint that always fails. So an event about an unknown customer
// is acknowledged and ignored.
package stripe

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/postrider/postrider/modules/billing"
	"github.com/postrider/postrider/rest/api/posted"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/base/telemetry"
)

// Path is the path that Stripe sends its events to.
const Path = "/api/billing/stripe"

// Events is the part of the module that the handler uses.
type Events interface {
	Take(ctx context.Context, body []byte, signature string) error
}

var _ Events = (*billing.Service)(nil)

const (
	bodyLimit = 512 << 10
	atOnce    = 8 // requests that use the database
	patience  = 5 * time.Second
)

type handler struct {
	events Events
	log    *slog.Logger
	turn   *intake.Pool
}

// New returns the handler.
func New(events Events, log *slog.Logger) http.Handler {
	return &handler{events, log, intake.NewPool(atOnce)}
}

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	telemetry.SetRoute(r.Context(), Path)
	switch {
	case r.URL.Path != Path:
		http.Error(w, "Not found", http.StatusNotFound)
		return
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", "POST")
		http.Error(w, "Post an event", http.StatusMethodNotAllowed)
		return
	}
	if err := h.takeEvent(w, r); err != nil {
		posted.Refuse(w, r, h.log, "an event of the payment provider could not be stored", err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if _, err := io.WriteString(w, `{"ok":true}`); err != nil {
		h.log.DebugContext(r.Context(), "client closed the connection", telemetry.KeyError, err)
	}
}

func (h *handler) takeEvent(w http.ResponseWriter, r *http.Request) error {
	body, err := posted.Body(w, r, bodyLimit)
	if err != nil {
		return err
	}
	// Untrusted clients can post too. The turn is taken after the body was read, so that silent clients cannot hold it.
	release, err := h.turn.Take(r.Context(), intake.Tenant{Account: "stripe"}, 1, patience)
	if err != nil {
		return fault.DatabaseUnavailable(err)
	}
	defer release()
	return h.events.Take(r.Context(), body, r.Header.Get("Stripe-Signature"))
}
