// Package fault names the ways in which a request can go wrong.
//
// Services return a *Error; the edges (REST, GraphQL, SMTP) translate its Kind
// into their own words and nothing else. Any other error is either the database
// being away (see Unavailable) or a defect: its text never reaches a caller.
package fault

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Kind says what the caller can do about an error.
type Kind int

// The kinds, with the HTTP status that the REST edge gives them.
const (
	Internal     Kind = iota // 500: a defect
	Invalid                  // 400: the request is wrong, Fields says where
	Unauthorized             // 401: no usable credential
	Forbidden                // 403: known caller, not allowed
	NotFound                 // 404: no such thing in this account
	Conflict                 // 409: the state of things forbids it
	TooLarge                 // 413: body or message over its limit
	Limit                    // 429: plan cap or rate
	Upstream                 // 502: a service needed inside the request refused
	Away                     // 503: cannot be accepted durably now, try again
)

// The error codes of the public contract.
const (
	CodeValidation            = "validation_error"
	CodeInsufficientScope     = "insufficient_scope"
	CodeInsufficientRole      = "insufficient_role"
	CodeConfirmationRequired  = "confirmation_required"
	CodeSecondFactorRequired  = "second_factor_required"
	CodeCrossOrigin           = "cross_origin"
	CodeDomainNotVerified     = "domain_not_verified"
	CodeSandboxRecipient      = "sandbox_recipient_not_allowed"
	CodeProductionLocked      = "production_not_unlocked"
	CodeAccountSuspended      = "account_suspended"
	CodeNotFound              = "not_found"
	CodeMethodNotAllowed      = "method_not_allowed"
	CodeDomainClaimed         = "domain_claimed"
	CodeIdempotencyConflict   = "idempotency_conflict"
	CodeIdempotencyInProgress = "idempotency_in_progress"
	CodeEmailNotScheduled     = "email_not_scheduled"
	CodeConflict              = "conflict"
	CodeBillingDisabled       = "billing_disabled"
	CodePaymentDue            = "payment_due"
	CodePayloadTooLarge       = "payload_too_large"
	CodeUnsupportedMediaType  = "unsupported_media_type"
	CodePlanLimit             = "plan_limit"
	CodeRateLimit             = "rate_limit_exceeded"
	CodeExportInProgress      = "export_in_progress"
	CodeUpstream              = "delivery_upstream_error"
	CodeUnavailable           = "delivery_unavailable"
	CodeBodyUnavailable       = "body_unavailable"
)

// Error is a refusal that the caller may read in full.
type Error struct {
	Kind       Kind
	Code       string
	Message    string
	Fields     Fields         // Invalid: field path to reason
	Details    map[string]any // other kinds: machine-readable facts
	UpgradeURL string
	RetryAfter time.Duration // Limit, Away: when trying again makes sense
	cause      error
}

func (e *Error) Error() string {
	if len(e.Fields) == 0 {
		return e.Message
	}
	reasons := make([]string, 0, len(e.Fields))
	for _, field := range slices.Sorted(maps.Keys(e.Fields)) {
		reasons = append(reasons, field+": "+e.Fields[field])
	}
	return e.Message + " (" + strings.Join(reasons, "; ") + ")"
}

// Unwrap gives the cause, which is for logs and never for callers.
func (e *Error) Unwrap() error { return e.cause }

// Because attaches the cause for the log.
func (e *Error) Because(cause error) *Error {
	e.cause = cause
	return e
}

// DetailChangedAt is when somebody else has changed what a caller wants to change, in the details of a conflict.
const DetailChangedAt = "changed_at"

// With attaches one machine-readable detail.
func (e *Error) With(key string, value any) *Error {
	if e.Details == nil {
		e.Details = map[string]any{}
	}
	e.Details[key] = value
	return e
}

// Fields maps a field path (`attachments[2].data`) to what is wrong with it.
type Fields map[string]string

// Add records a reason; the first reason of a field stays.
func (f Fields) Add(path, format string, args ...any) {
	if _, known := f[path]; !known {
		f[path] = fmt.Sprintf(format, args...)
	}
}

// Texts refuses values, by field, that can be in no row: the database takes neither NUL nor what is
// not UTF-8.
func Texts(values map[string]string) error {
	wrong := Fields{}
	for name, value := range values {
		if strings.ContainsRune(value, 0) || !utf8.ValidString(value) {
			wrong.Add(name, "has a character that no text can have")
		}
	}
	return wrong.Err()
}

// Err is nil when no field was wrong, else one error that names them all.
func (f Fields) Err() error {
	if len(f) == 0 {
		return nil
	}
	noun := "fields"
	if len(f) == 1 {
		noun = "field"
	}
	paths := slices.Sorted(maps.Keys(f))
	return &Error{Kind: Invalid, Code: CodeValidation, Fields: f,
		Message: fmt.Sprintf("Invalid %s: %s", noun, strings.Join(paths, ", "))}
}

// Invalidf refuses a request as a whole, where no single field is to blame.
func Invalidf(format string, args ...any) *Error {
	return &Error{Kind: Invalid, Code: CodeValidation, Message: fmt.Sprintf(format, args...)}
}

// InvalidField refuses a request for one field.
func InvalidField(path, format string, args ...any) error {
	f := Fields{}
	f.Add(path, format, args...)
	return f.Err()
}

// Unauthenticated is the one answer to every credential that does not work.
func Unauthenticated() *Error {
	return &Error{Kind: Unauthorized, Message: "Unauthorized"}
}

// Forbiddenf refuses a known caller.
func Forbiddenf(code, format string, args ...any) *Error {
	return &Error{Kind: Forbidden, Code: code, Message: fmt.Sprintf(format, args...)}
}

// Missing says that the account has no such resource, whoever else may have it.
func Missing(resource, id string) *Error {
	return &Error{Kind: NotFound, Code: CodeNotFound, Message: fmt.Sprintf("No such %s: %s", resource, id)}
}

// Conflictf says that the present state forbids the request.
func Conflictf(code, format string, args ...any) *Error {
	return &Error{Kind: Conflict, Code: code, Message: fmt.Sprintf(format, args...)}
}

// AnswerWithin is how long the work of a request may take. Six seconds are promised while the database cannot be
// used; one is left for the answer.
const AnswerWithin = 5 * time.Second

// Unavailable says that nothing can be stored now.
func Unavailable(cause error) *Error {
	return &Error{Kind: Away, Code: CodeUnavailable, RetryAfter: 5 * time.Second, cause: cause,
		Message: "The service cannot reach its storage right now; try again, and repeat a write with the same Idempotency-Key"}
}

// BodyUnavailable returns the error for an email body that the object store does not deliver.
func BodyUnavailable(cause error) *Error {
	return &Error{Kind: Away, Code: CodeBodyUnavailable, RetryAfter: 5 * time.Second, cause: fmt.Errorf("object store: %w", cause),
		Message: "The email body is temporarily unavailable, because the object store does not respond. Retry in 5 seconds"}
}

// Crowded tells a caller to come back after a wait, since too many are being served right now.
func Crowded(wait time.Duration) *Error {
	return &Error{Kind: Away, Code: CodeUnavailable, RetryAfter: wait, Message: "Too many ask for this right now; try again in a moment"}
}

// OrAway gives Unavailable for an error that says that the database is away, and others as they are.
func OrAway(err error) error {
	if IsDatabaseAway(err) {
		return Unavailable(err)
	}
	return err
}

// Wrap says what was being done when an error came; nil stays nil.
func Wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// WholeSeconds says a wait as Retry-After and its like do: rounded up, for who
// comes back too early is refused again.
func WholeSeconds(wait time.Duration) string {
	return strconv.FormatInt(int64((wait+time.Second-1)/time.Second), 10)
}

// From turns any error into an *Error: its own, Unavailable for a database that
// is away, Internal for everything else.
func From(err error) *Error {
	var known *Error
	switch {
	case errors.As(err, &known):
		return known
	case IsDatabaseAway(err):
		return Unavailable(err)
	default:
		return &Error{Kind: Internal, Message: "Internal error", cause: err}
	}
}

// KindOf is the kind of From(err).
func KindOf(err error) Kind { return From(err).Kind }
