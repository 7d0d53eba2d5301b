// Package fault defines the errors that a request can end with.
//
// Services return an *Error. The edges (REST, GraphQL, SMTP) translate its Kind into their own protocol and
// nothing else. Any other error is either an unavailable database (see IsDatabaseUnavailable) or a bug: its
// text never reaches a client.
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

// Kind classifies an error by what the client can do about it.
type Kind int

// The kinds, with the HTTP status that the REST edge uses for each.
const (
	Internal     Kind = iota // 500: a defect
	Invalid                  // 400: the request is invalid, Fields lists the reasons
	Unauthorized             // 401: no valid credential
	Forbidden                // 403: authenticated, but not allowed
	NotFound                 // 404: not found in this account
	Conflict                 // 409: the current state does not allow it
	TooLarge                 // 413: body or message too large
	Limit                    // 429: plan cap or rate limit
	Upstream                 // 502: an external service that the request needs refused it
	Unavailable              // 503: cannot be stored durably right now, retry
)

// The error codes of the public contract.
const (
	CodeValidation            = "validation_error"
	CodeInsufficientScope     = "insufficient_scope"
	CodeInsufficientRole      = "insufficient_role"
	CodeConfirmationRequired  = "confirmation_required"
	CodeSecondFactorRequired  = "second_factor_required"
	CodeCrossOrigin           = "cross_origin"
	CodeAddressNotAllowed     = "address_not_allowed"
	CodeDomainNotVerified     = "domain_not_verified"
	CodeSandboxRecipient      = "sandbox_recipient_not_allowed"
	CodeProductionLocked      = "production_not_unlocked"
	CodeAccountSuspended      = "account_suspended"
	CodeAccountMoving         = "account_moving"
	CodeAccountMoved          = "account_moved"
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

// Error is a refusal whose message the client may see in full.
type Error struct {
	Kind       Kind
	Code       string
	Message    string
	Fields     Fields         // Invalid: field path to reason
	Details    map[string]any // other kinds: machine-readable facts
	UpgradeURL string
	RetryAfter time.Duration // Limit, Unavailable: when to retry
	Location   string        // URL of the same request at another installation; HTTP clients are redirected to it
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

// Unwrap returns the cause, which is logged and never shown to clients.
func (e *Error) Unwrap() error { return e.cause }

// WithCause attaches the cause for the log.
func (e *Error) WithCause(cause error) *Error {
	e.cause = cause
	return e
}

// DetailChangedAt is the detail of a conflict that contains the time when another writer changed the resource.
const DetailChangedAt = "changed_at"

// DetailUsedBy is the detail of a conflict that lists the names of the objects that use the resource.
const DetailUsedBy = "used_by"

// With attaches one machine-readable detail.
func (e *Error) With(key string, value any) *Error {
	if e.Details == nil {
		e.Details = map[string]any{}
	}
	e.Details[key] = value
	return e
}

// Fields maps a field path (`attachments[2].data`) to the reason why it is invalid.
type Fields map[string]string

// Add records a reason. The first reason of a field is kept.
func (f Fields) Add(path, format string, args ...any) {
	if _, known := f[path]; !known {
		f[path] = fmt.Sprintf(format, args...)
	}
}

// CheckTexts rejects values, by field, that PostgreSQL cannot store: NUL characters and invalid UTF-8.
func CheckTexts(values map[string]string) error {
	wrong := Fields{}
	for name, value := range values {
		if strings.ContainsRune(value, 0) || !utf8.ValidString(value) {
			wrong.Add(name, "must be UTF-8 text without NUL characters")
		}
	}
	return wrong.Err()
}

// Err returns one error for all invalid fields, or nil if there are none.
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

// Invalidf rejects a request as a whole, when no single field is at fault.
func Invalidf(format string, args ...any) *Error {
	return &Error{Kind: Invalid, Code: CodeValidation, Message: fmt.Sprintf(format, args...)}
}

// InvalidField rejects a request because of one field.
func InvalidField(path, format string, args ...any) error {
	f := Fields{}
	f.Add(path, format, args...)
	return f.Err()
}

// Unauthenticated returns the same error for every invalid credential.
func Unauthenticated() *Error {
	return &Error{Kind: Unauthorized, Message: "Unauthorized"}
}

// Forbiddenf rejects an authenticated caller that lacks permission.
func Forbiddenf(code, format string, args ...any) *Error {
	return &Error{Kind: Forbidden, Code: code, Message: fmt.Sprintf(format, args...)}
}

// NoSuch reports that the account has no such resource, whether or not another account has it.
func NoSuch(resource, id string) *Error {
	return &Error{Kind: NotFound, Code: CodeNotFound, Message: fmt.Sprintf("No such %s: %s", resource, id)}
}

// Conflictf reports that the current state does not allow the request.
func Conflictf(code, format string, args ...any) *Error {
	return &Error{Kind: Conflict, Code: code, Message: fmt.Sprintf(format, args...)}
}

// AnswerWithin is how long the work of a request may take. Clients are promised a response within six seconds
// while the database is down; the sixth second is left for writing it.
const AnswerWithin = 5 * time.Second

// DatabaseUnavailable reports that nothing can be stored right now.
func DatabaseUnavailable(cause error) *Error {
	return &Error{Kind: Unavailable, Code: CodeUnavailable, RetryAfter: 5 * time.Second, cause: cause,
		Message: "Database temporarily unavailable. Retry, and repeat a write with the same Idempotency-Key"}
}

// BodyUnavailable returns the error for an email body that the object store does not deliver.
func BodyUnavailable(cause error) *Error {
	return &Error{Kind: Unavailable, Code: CodeBodyUnavailable, RetryAfter: 5 * time.Second,
		cause:   fmt.Errorf("object store: %w", cause),
		Message: "The email body is temporarily unavailable, because the object store does not respond. Retry in 5 seconds"}
}

// Overloaded asks the client to retry after a wait, because too many requests are being served right now.
func Overloaded(wait time.Duration) *Error {
	return &Error{Kind: Unavailable, Code: CodeUnavailable, RetryAfter: wait,
		Message: "Too many requests are being processed right now. Retry in a moment"}
}

// OrUnavailable returns DatabaseUnavailable if err means that the database is unavailable, and err itself
// otherwise.
func OrUnavailable(err error) error {
	if IsDatabaseUnavailable(err) {
		return DatabaseUnavailable(err)
	}
	return err
}

// Wrap adds a description of the failed operation to an error. It returns nil for nil.
func Wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// FormatSeconds formats a wait for Retry-After and similar headers. It rounds up, because a client that
// returns too early is refused again.
func FormatSeconds(wait time.Duration) string {
	return strconv.FormatInt(int64((wait+time.Second-1)/time.Second), 10)
}

// Classify turns any error into an *Error: an *Error in its chain, DatabaseUnavailable if the database is
// unavailable, Internal otherwise.
func Classify(err error) *Error {
	var known *Error
	switch {
	case errors.As(err, &known):
		return known
	case IsDatabaseUnavailable(err):
		return DatabaseUnavailable(err)
	default:
		return &Error{Kind: Internal, Message: "Internal error", cause: err}
	}
}

// KindOf returns the kind of Classify(err).
func KindOf(err error) Kind { return Classify(err).Kind }
