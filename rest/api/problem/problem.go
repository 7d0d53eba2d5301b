package problem

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/danielgtaylor/huma/v2/validation"

	"github.com/postrider/postrider/rest/api/body"
	"github.com/postrider/postrider/rest/api/wire"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/telemetry"
)

// Codes that only this edge uses.
const (
	CodeInternal       = "internal_error"
	CodeRequestTimeout = "request_timeout"
)

// Problem is the body of every error response.
type Problem struct {
	Status int         `json:"-"`
	Header http.Header `json:"-"`
	Body   ProblemBody `json:"error"`
}

// ProblemBody is the body of a problem. The OpenAPI document shows it under this name.
type ProblemBody struct { //nolint:revive // as above
	Message    string         `json:"message"`
	Code       string         `json:"code,omitempty"`
	Details    map[string]any `json:"details,omitempty"`
	UpgradeURL string         `json:"upgrade_url,omitempty"`
}

var (
	_ huma.StatusError  = (*Problem)(nil)
	_ huma.HeadersError = (*Problem)(nil)
)

func (p *Problem) Error() string { return p.Body.Message }

// GetStatus returns the status of the response.
func (p *Problem) GetStatus() int { return p.Status }

// GetHeaders returns the header fields of the response.
func (p *Problem) GetHeaders() http.Header { return p.Header }

// New returns a problem that does not come from a service.
func New(status int, code, message string) *Problem {
	return &Problem{Status: status, Header: http.Header{}, Body: ProblemBody{Code: code, Message: message}}
}

// NotFound returns the response for a path that does not exist.
func NotFound(path string) *Problem {
	return New(http.StatusNotFound, fault.CodeNotFound, "No such path: "+body.PrintableName(path))
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
	fault.Unavailable:  http.StatusServiceUnavailable,
}

// From translates an error into a response. No other function does so. An error that is not a fault is hidden from the
// caller.
func From(err error, requestID string) *Problem {
	var known *Problem
	if errors.As(err, &known) {
		return known
	}
	f := fault.Classify(err)
	p := New(statusOf[f.Kind], f.Code, f.Message)
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
		// RFC 9110 section 11.6.1 requires the challenge; the body is fixed by contract.
		p.Header.Set("WWW-Authenticate", "Bearer")
		p.Body = ProblemBody{Message: fault.Unauthenticated().Message}
	case fault.Internal:
		p.Body.Code = CodeInternal
	}
	if f.Location != "" {
		p.Status = http.StatusTemporaryRedirect // keeps the method and the body
		p.Header.Set("Location", f.Location)
	}
	if f.RetryAfter > 0 {
		p.Header.Set("Retry-After", fault.FormatSeconds(f.RetryAfter))
	}
	if p.Status >= http.StatusInternalServerError {
		p.Body.Message += " (request id " + requestID + ")"
	}
	return p
}

// WithCause returns the problem with its cause, for the log.
func WithCause(err error) error {
	var f *fault.Error
	if errors.As(err, &f) && f.Unwrap() != nil {
		return fmt.Errorf("%w: %w", err, f.Unwrap())
	}
	return err
}

// Write sends a problem outside of a Huma operation.
func (p *Problem) Write(w http.ResponseWriter) {
	maps.Copy(w.Header(), p.Header)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(p.Status)
	// The caller may have disconnected, so a write error is ignored.
	if _, err := w.Write(wire.Encode(p)); err != nil {
		return
	}
}

// Huma creates its own errors (for example for an invalid parameter) through two package variables, with its own
// messages, some of which are variables too. Only this function sets them.
func init() { //nolint:gochecknoinits // Huma offers these variables only, and reads them from every request
	huma.NewError = func(status int, message string, details ...error) huma.StatusError {
		return humaProblem("", status, message, details)
	}
	huma.NewErrorWithContext = func(ctx huma.Context, status int, message string, details ...error) huma.StatusError {
		_, w := humago.Unwrap(ctx)
		return humaProblem(w.Header().Get(telemetry.RequestIDHeader), status, message, details)
	}
	validation.MsgExpectedMinimumNumber = "must be at least %v"
	validation.MsgExpectedMaximumNumber = "must be at most %v"
	validation.MsgExpectedOneOf = "must be one of %s"
	validation.MsgExpectedMaxLength = "must have at most %d characters"
	validation.MsgExpectedMatchPattern = "must match %s"
	validation.MsgExpectedRFC3339DateTime = "must be a time with Z or an offset, for example 2026-01-15T09:30:00Z"
}

// ourWords replaces the messages of Huma that are not variables.
var ourWords = map[string]string{
	"invalid integer": "must be a whole number",
	"invalid boolean": "must be true or false",
}

// humaProblem converts Huma's 422 to our format. It omits Huma's message and the values, which can contain the whole
// body.
func humaProblem(requestID string, status int, message string, details []error) *Problem {
	wrong := fault.Fields{}
	for _, err := range details {
		var detail huma.ErrorDetailer
		if errors.As(err, &detail) {
			_, path, _ := strings.Cut(detail.ErrorDetail().Location, ".")
			said := detail.ErrorDetail().Message
			wrong.Add(path, "%s", cmp.Or(ourWords[said], said))
		}
	}
	switch {
	case len(wrong) > 0:
		return From(wrong.Err(), requestID)
	case status < http.StatusInternalServerError:
		return From(fault.Invalidf("%s", message), requestID)
	default:
		return From(errors.New(message), requestID)
	}
}
