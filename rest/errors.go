package rest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/telemetry"
)

// Codes of this edge that no service knows.
const (
	codeInternal       = "internal_error"
	codeRequestTimeout = "request_timeout"
)

// problem is the body of every answer that is not a success.
type problem struct {
	status  int
	headers http.Header
	Body    problemBody `json:"error"`
}

type problemBody struct {
	Message    string         `json:"message"`
	Code       string         `json:"code,omitempty"`
	Details    map[string]any `json:"details,omitempty"`
	UpgradeURL string         `json:"upgrade_url,omitempty"`
}

var (
	_ huma.StatusError  = (*problem)(nil)
	_ huma.HeadersError = (*problem)(nil)
)

func (p *problem) Error() string           { return p.Body.Message }
func (p *problem) GetStatus() int          { return p.status }
func (p *problem) GetHeaders() http.Header { return p.headers }

func newProblem(status int, code, message string) *problem {
	return &problem{status: status, headers: http.Header{}, Body: problemBody{Code: code, Message: message}}
}

func notFound(path string) *problem {
	return newProblem(http.StatusNotFound, fault.CodeNotFound, "No such path: "+shown(path))
}

var statusOf = map[fault.Kind]int{
	fault.Internal:     http.StatusInternalServerError,
	fault.Invalid:      http.StatusBadRequest,
	fault.Unauthorized: http.StatusUnauthorized,
	fault.Forbidden:    http.StatusForbidden,
	fault.NotFound:     http.StatusNotFound,
	fault.Conflict:     http.StatusConflict,
	fault.TooLarge:     http.StatusRequestEntityTooLarge,
	fault.Limit:        http.StatusTooManyRequests,
	fault.Upstream:     http.StatusBadGateway,
	fault.Away:         http.StatusServiceUnavailable,
}

// translate is the only place where an error of a service becomes an answer.
// Nothing of an error that is not a fault reaches the caller.
func translate(err error, requestID string) *problem {
	var known *problem
	if errors.As(err, &known) {
		return known
	}
	f := fault.From(err)
	p := newProblem(statusOf[f.Kind], f.Code, f.Message)
	p.Body.UpgradeURL = f.UpgradeURL
	p.Body.Details = maps.Clone(f.Details)
	if len(f.Fields) > 0 {
		p.Body.Details = map[string]any{}
		for path, reason := range f.Fields {
			p.Body.Details[path] = reason
		}
	}
	switch f.Kind {
	case fault.Unauthorized:
		// RFC 9110 section 11.6.1 wants the challenge; the body is fixed by contract.
		p.headers.Set("WWW-Authenticate", "Bearer")
		p.Body = problemBody{Message: fault.Unauthenticated().Message}
	case fault.Internal:
		p.Body.Code = codeInternal
	}
	if f.RetryAfter > 0 {
		p.headers.Set("Retry-After", fault.WholeSeconds(f.RetryAfter))
	}
	if p.status >= http.StatusInternalServerError {
		p.Body.Message += " (request id " + requestID + ")"
	}
	return p
}

// fail translates an error, and tells the log what the caller is not told.
func (a *API) fail(ctx context.Context, requestID string, err error) *problem {
	p := translate(err, requestID)
	whole := withCause(err)
	telemetry.SetError(ctx, p.Body.Code, whole)
	abandoned := ctx.Err() != nil && errors.Is(err, context.Canceled)
	if p.status == http.StatusInternalServerError && !abandoned {
		a.log.ErrorContext(ctx, "request failed", telemetry.KeyRequestID, requestID, telemetry.KeyError, whole)
	}
	return p
}

// withCause is an error with what lies below it, for the log.
func withCause(err error) error {
	var f *fault.Error
	if errors.As(err, &f) && f.Unwrap() != nil {
		return fmt.Errorf("%w: %w", err, f.Unwrap())
	}
	return err
}

// write sends a problem where no Huma operation is in charge.
func (p *problem) write(w http.ResponseWriter) {
	maps.Copy(w.Header(), p.headers)
	w.Header().Set("Content-Type", jsonType)
	w.WriteHeader(p.status)
	writeJSON(w, p) //nolint:errcheck // the caller has left; there is nobody to tell
}

// Huma makes its own errors (a parameter that does not parse) through two
// package variables; this is the one place that sets them.
func init() { //nolint:gochecknoinits // Huma offers these variables only, and reads them from every request
	huma.NewError = func(status int, message string, details ...error) huma.StatusError {
		return humaProblem("", status, message, details)
	}
	huma.NewErrorWithContext = func(ctx huma.Context, status int, message string, details ...error) huma.StatusError {
		_, w := humago.Unwrap(ctx)
		return humaProblem(w.Header().Get(headerRequestID), status, message, details)
	}
}

// humaProblem gives Huma's 422 our shape. Huma's message and the values it found
// stay out of it: they may hold the whole body.
func humaProblem(requestID string, status int, message string, details []error) *problem {
	wrong := fault.Fields{}
	for _, err := range details {
		var detail huma.ErrorDetailer
		if errors.As(err, &detail) {
			_, path, _ := strings.Cut(detail.ErrorDetail().Location, ".")
			wrong.Add(path, "%s", detail.ErrorDetail().Message)
		}
	}
	switch {
	case len(wrong) > 0:
		return translate(wrong.Err(), requestID)
	case status < http.StatusInternalServerError:
		return translate(fault.Invalidf("%s", message), requestID)
	default:
		return translate(errors.New(message), requestID)
	}
}
