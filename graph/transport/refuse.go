package transport

import (
	"errors"
	"net/http"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/postrider/postrider/graph/refusal"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/base/loglimit"
	"github.com/postrider/postrider/runtime/base/telemetry"
)

// refusedBody is the error body of the REST API, along with the same error in the format that GraphQL clients read.
type refusedBody struct {
	Error struct {
		Message string         `json:"message"`
		Code    string         `json:"code,omitempty"`
		Details map[string]any `json:"details,omitempty"`
	} `json:"error"`
	Errors gqlerror.List `json:"errors"`
}

// refuse responds to a request that was refused before it was parsed as a GraphQL request.
func (h *handler) refuse(w http.ResponseWriter, r *http.Request, status int, known *fault.Error) {
	telemetry.SetError(r.Context(), known.Code, known.Unwrap())
	var body refusedBody
	body.Error.Message, body.Error.Code, body.Error.Details = known.Message, known.Code, known.Details
	same := &gqlerror.Error{Message: known.Message}
	if known.Code != "" {
		same.Extensions = map[string]any{"code": known.Code}
	}
	body.Errors = gqlerror.List{same}
	h.write(w, r, status, mediaJSON, body)
}

// refuseError responds to a caller that has no access, or must retry later.
func (h *handler) refuseError(w http.ResponseWriter, r *http.Request, err error) {
	known := fault.Classify(err)
	if known.Location != "" {
		w.Header().Set("Location", known.Location)
		h.refuse(w, r, http.StatusTemporaryRedirect, known)
		return
	}
	switch known.Kind {
	case fault.Unauthorized:
		w.Header().Set("WWW-Authenticate", "Bearer") // RFC 9110 section 11.6.1
		h.refuse(w, r, http.StatusUnauthorized, known)
	case fault.Forbidden:
		h.refuse(w, r, http.StatusForbidden, known)
	case fault.TooLarge:
		h.refuse(w, r, http.StatusRequestEntityTooLarge, known)
	case fault.Limit:
		w.Header().Set("Retry-After", fault.FormatSeconds(known.RetryAfter))
		h.refuse(w, r, http.StatusTooManyRequests, known)
	case fault.Unavailable:
		w.Header().Set("Retry-After", fault.FormatSeconds(retryAfter))
		h.refuse(w, r, http.StatusServiceUnavailable,
			(&fault.Error{Code: fault.CodeUnavailable, Message: refusal.AwayMessage}).WithCause(err))
	default:
		telemetry.LogFailure(loglimit.Collapse(r.Context(), "caller"), h.logger, "cannot authenticate a GraphQL caller",
			telemetry.KeyError, err)
		h.refuse(w, r, http.StatusInternalServerError, (&fault.Error{Message: refusal.InternalMessage(r.Context())}).
			WithCause(err))
	}
}

// refuseBody responds to a body that could not be read completely.
func (h *handler) refuseBody(w http.ResponseWriter, r *http.Request, err error) {
	switch {
	case errors.Is(err, intake.ErrTooLarge):
		h.refuse(w, r, http.StatusRequestEntityTooLarge,
			&fault.Error{Code: fault.CodePayloadTooLarge, Message: "The body is larger than 1 MB"})
	case errors.Is(err, intake.ErrSlow):
		w.Header().Set("Connection", "close")
		h.refuse(w, r, http.StatusRequestTimeout,
			&fault.Error{Code: refusal.CodeRequestTimeout, Message: "The body did not arrive in time"})
	case errors.Is(err, intake.ErrCut), errors.Is(err, intake.ErrFull):
		w.Header().Set("Connection", "close")
		h.refuseError(w, r, fault.DatabaseUnavailable(err))
	default:
		h.refuse(w, r, http.StatusBadRequest,
			(&fault.Error{Code: fault.CodeValidation, Message: "The body ended early"}).WithCause(err))
	}
}
