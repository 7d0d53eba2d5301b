package callbacks

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/postrider/postrider/modules/billing"
	"github.com/postrider/postrider/runtime/base/intake"
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

// NewStripe returns the handler of StripePath. Stripe retries an event for three days until it gets a 2xx response,
// and disables an endpoint that always refuses. An event about an unknown customer is therefore accepted and ignored.
func NewStripe(events Events, log *slog.Logger) http.Handler {
	return &signedHandler{path: StripePath, signature: "Stripe-Signature", limit: stripeBodyLimit,
		turn: intake.NewPool(stripeConcurrency), log: log, failed: "cannot store an event of the payment provider",
		receive: func(ctx context.Context, body []byte, signature string) ([]byte, error) {
			return []byte(`{"ok":true}`), events.HandleEvent(ctx, body, signature)
		}}
}
