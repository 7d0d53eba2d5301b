// Package callbacks serves the requests that other services send to Postrider: Stripe posts its events (stripe.go),
// other installations forward reports, and ask about links of accounts that have moved and for password resets
// (installations.go), and SMS providers post the status of a message and the replies of its recipient (sms.go).
//
// A caller is unknown until its signature or token is verified. Bodies are therefore read with time and size limits,
// and a refusal contains only what the caller needs for its log.
package callbacks

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/base/loglimit"
	"github.com/postrider/postrider/runtime/base/telemetry"
)

// patience is the maximum time that a request waits for its turn.
const patience = 5 * time.Second

// readBody reads a body of at most limit bytes, within the time limit of the server. Errors: TooLarge, Invalid,
// Unavailable; intake.ErrSlow.
func readBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, &fault.Error{Kind: fault.TooLarge, Code: fault.CodePayloadTooLarge,
			Message: "The body is too large"}
	case errors.Is(err, intake.ErrSlow):
		return nil, err
	case errors.Is(err, intake.ErrFull), errors.Is(err, intake.ErrCut):
		return nil, fault.DatabaseUnavailable(err)
	case err != nil:
		return nil, fault.Invalidf("The body could not be read")
	}
	return body, nil
}

// refuse writes an error as plain text. An unexpected error is logged with the message what.
func refuse(w http.ResponseWriter, r *http.Request, log *slog.Logger, what string, err error) {
	f := fault.Classify(err)
	telemetry.SetError(r.Context(), f.Code, err)
	if errors.Is(err, intake.ErrSlow) {
		http.Error(w, "The body did not arrive in time", http.StatusRequestTimeout)
		return
	}
	switch f.Kind {
	case fault.NotFound:
		http.Error(w, "Not found", http.StatusNotFound)
	case fault.Invalid:
		http.Error(w, f.Message, http.StatusBadRequest)
	case fault.TooLarge:
		http.Error(w, f.Message, http.StatusRequestEntityTooLarge)
	case fault.Unavailable:
		w.Header().Set("Retry-After", fault.FormatSeconds(max(f.RetryAfter, time.Second)))
		http.Error(w, f.Message, http.StatusServiceUnavailable)
	default:
		telemetry.LogFailure(loglimit.Collapse(r.Context(), "posted"), log, what, telemetry.KeyError, err)
		http.Error(w, "Internal error", http.StatusInternalServerError)
	}
}
