// Package posted reads what other services post to this one, within bounds of time and size, and refuses it in
// the few words that they log. Who posts is a stranger until a signature or a token was checked.
package posted

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/loglimit"
	"github.com/postrider/postrider/runtime/telemetry"
)

const bodyTime = 10 * time.Second

// Hurry begins the time in which the body has to come.
func Hurry(w http.ResponseWriter) error {
	if err := http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTime)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}

// Body reads a body of at most so many bytes. Errors: TooLarge, Invalid.
func Body(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, &fault.Error{Kind: fault.TooLarge, Code: fault.CodePayloadTooLarge, Message: "The body is too large"}
	case err != nil:
		return nil, fault.Invalidf("The body could not be read")
	}
	return body, nil
}

// Refuse answers with an error, as text. What is nobody's mistake is logged under what.
func Refuse(w http.ResponseWriter, r *http.Request, log *slog.Logger, what string, err error) {
	f := fault.From(err)
	telemetry.SetError(r.Context(), f.Code, err)
	switch f.Kind {
	case fault.NotFound:
		http.Error(w, "Not found", http.StatusNotFound)
	case fault.Invalid:
		http.Error(w, f.Message, http.StatusBadRequest)
	case fault.TooLarge:
		http.Error(w, f.Message, http.StatusRequestEntityTooLarge)
	case fault.Away:
		w.Header().Set("Retry-After", fault.WholeSeconds(max(f.RetryAfter, time.Second)))
		http.Error(w, f.Message, http.StatusServiceUnavailable)
	default:
		log.ErrorContext(loglimit.Collapse(r.Context(), "posted"), what, telemetry.KeyError, err)
		http.Error(w, "Internal error", http.StatusInternalServerError)
	}
}
