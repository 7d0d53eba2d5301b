package compat

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/postrider/postrider/rest/api/problem"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/telemetry"
)

// CodeNotImplemented is the code of a call that Postrider does not support.
const CodeNotImplemented = "not_implemented"

// RefusalError is an error before it is converted to the provider's format.
type RefusalError struct {
	Status  int
	Code    string
	Message string // contains every reason
	Details map[string]any
	Header  http.Header
}

func (r *RefusalError) Error() string { return r.Message }

// Unsupported returns the refusal of a feature that Postrider does not support. The feature starts the sentence.
func Unsupported(feature string) *RefusalError {
	return &RefusalError{Status: http.StatusNotImplemented, Code: CodeNotImplemented,
		Message: feature + " not supported by Postrider."}
}

// UnsupportedNames returns the refusal of several fields or settings, in order. The feature starts the sentence and
// precedes their names.
func UnsupportedNames(feature string, names []string) *RefusalError {
	return Unsupported(feature + " " + strings.Join(names, ", ") + " is")
}

// Refuse returns a handler that refuses a feature.
func Refuse(feature string) func(*Call) (*Response, error) {
	return func(*Call) (*Response, error) { return nil, Unsupported(feature) }
}

// Invalid returns the refusal of a field.
func Invalid(field, format string, args ...any) *RefusalError {
	reason := fmt.Sprintf(format, args...)
	return &RefusalError{Status: http.StatusBadRequest, Code: fault.CodeValidation, Message: field + " " + reason,
		Details: map[string]any{field: reason}}
}

// NotFound returns the refusal of an unknown ID.
func NotFound(noun string) *RefusalError {
	return &RefusalError{Status: http.StatusNotFound, Code: fault.CodeNotFound, Message: "No such " + noun}
}

// IsNotFound reports whether our own API responded that something does not exist.
func IsNotFound(err error) bool {
	var r *RefusalError
	return errors.As(err, &r) && r.Status == http.StatusNotFound
}

// refusalOf translates an error of this process.
func refusalOf(err error, header http.Header) *RefusalError {
	p := problem.From(err, header.Get(telemetry.RequestIDHeader))
	r := newRefusal(p.Status, p.Body)
	r.Header = p.Header
	return r
}

// decodeRefusal reads an error response of our own API.
func decodeRefusal(status int, header http.Header, body []byte) *RefusalError {
	if status == http.StatusMethodNotAllowed {
		return Unsupported("This call is")
	}
	var p problem.Problem
	if err := json.Unmarshal(body, &p); err != nil || p.Body.Message == "" {
		p.Body.Message = http.StatusText(status)
	}
	r := newRefusal(status, p.Body)
	if after := header.Get("Retry-After"); after != "" {
		r.Header = http.Header{"Retry-After": {after}}
	}
	return r
}

// newRefusal writes the reasons of all fields into the message, because the providers' errors have only a message.
func newRefusal(status int, b problem.ProblemBody) *RefusalError {
	r := &RefusalError{Status: status, Code: b.Code, Message: b.Message, Details: b.Details}
	if b.Code == fault.CodeValidation {
		r.Message = Describe(b.Message, b.Details)
	}
	return r
}

// joinReason returns the reason with the path of the field before it. A reason can begin with the name of the field.
func joinReason(field, reason string) string {
	name := field[strings.LastIndex(field, ".")+1:]
	if rest, repeated := strings.CutPrefix(reason, name+" "); repeated {
		reason = rest
	}
	return field + " " + reason
}

// Describe returns the message of a validation error: the reason of each field, if there are any.
func Describe(message string, details map[string]any) string {
	var reasons []string
	for _, field := range slices.Sorted(maps.Keys(details)) {
		if reason, is := details[field].(string); is {
			reasons = append(reasons, joinReason(field, reason))
		}
	}
	if len(reasons) == 0 {
		return message
	}
	return strings.Join(reasons, "; ")
}
