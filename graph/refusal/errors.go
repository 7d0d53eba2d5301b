package refusal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"runtime/debug"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/telemetry"
)

// Codes that only GraphQL has.
const (
	CodeTooComplex     = "query_too_complex"
	CodeResultTooLarge = "result_too_large"
	CodeInternal       = "internal_error"

	CodeUntrusted       = "query_not_trusted"
	CodeUnknownDocument = "unknown_document"

	CodeRequestTimeout = "request_timeout" // as in REST
)

// AwayMessage is the message while the database is unavailable.
const AwayMessage = "The data is temporarily unavailable. Try again."

// errPanic replaces a panic that was logged where it was recovered.
var errPanic = errors.New("resolver panicked")

// Presenter converts all errors to the errors that callers see.
type Presenter struct{ Logger *slog.Logger }

// Present returns a refusal unchanged, and for a bug only the request ID. The log contains the rest.
func (p Presenter) Present(ctx context.Context, err error) *gqlerror.Error {
	out := &gqlerror.Error{Path: graphql.GetPath(ctx)}
	var placed *gqlerror.Error
	if errors.As(err, &placed) {
		out.Path, out.Locations = placed.Path, placed.Locations
		if placed.Err == nil { // an error of the GraphQL library about the query
			out.Message, out.Extensions = withoutEcho(placed.Message), map[string]any{"code": libraryCode(placed)}
			out.Path = shortPath(placed.Path)
			telemetry.SetError(ctx, libraryCode(placed), nil)
			return out
		}
	}
	known := fault.Classify(err)
	switch {
	// or the caller has disconnected
	case known.Kind == fault.Unavailable && known.Code != fault.CodeBodyUnavailable, errors.Is(err, context.Canceled) &&
		ctx.Err() != nil:
		out.Message, out.Extensions = AwayMessage, map[string]any{"code": fault.CodeUnavailable}
	case known.Kind == fault.Internal:
		out.Message, out.Extensions = InternalMessage(ctx), map[string]any{"code": CodeInternal}
		if !errors.Is(err, errPanic) {
			telemetry.LogFailure(ctx, p.Logger, "cannot resolve a GraphQL field", telemetry.KeyError,
				fmt.Errorf("%s: %w", out.Path, err))
		}
	default:
		out.Message, out.Extensions = known.Message, refusal(known)
	}
	telemetry.SetError(ctx, out.Extensions["code"].(string), err)
	return out
}

// LogPanic logs a panic and returns an error that is presented as an internal error.
func (p Presenter) LogPanic(ctx context.Context, value any) error {
	p.Logger.ErrorContext(ctx, "GraphQL resolver panicked", telemetry.KeyError, fmt.Sprint(value), telemetry.KeyStack,
		string(debug.Stack()))
	return errPanic
}

// refusal is the extensions of an error that the caller may read.
func refusal(known *fault.Error) map[string]any {
	out := map[string]any{"code": known.Code}
	switch {
	case len(known.Fields) > 0:
		out["details"] = known.Fields
	case len(known.Details) > 0:
		out["details"] = known.Details
	}
	if known.RetryAfter > 0 {
		out["retry_after"] = int(known.RetryAfter.Seconds())
	}
	if known.UpgradeURL != "" {
		out["upgrade_url"] = known.UpgradeURL
	}
	return out
}

// InternalMessage returns the message for a bug, with the request ID.
func InternalMessage(ctx context.Context) string {
	if id := telemetry.RequestID(ctx); id != "" {
		return "Internal error (request " + id + ")"
	}
	return "Internal error"
}

// The parts of a request that the library repeats in its messages: values, which can be secrets and are not needed,
// because the error has a location; and names of any length.
var (
	echoedValue  = regexp.MustCompile(`(?s)(cannot represent .* value|(?:Unexpected|found) (?:String|BlockString|Int|Float)):? .*`)
	echoedMember = regexp.MustCompile(`(?s)^.* is (not a valid \w+)$`)
	echoedName   = regexp.MustCompile(`(\S{40})\S{25,}`)
)

func withoutEcho(message string) string {
	message = echoedValue.ReplaceAllString(message, "$1")
	message = echoedMember.ReplaceAllString(message, "$1")
	return echoedName.ReplaceAllString(message, "$1…")
}

func shortPath(path ast.Path) ast.Path {
	var out ast.Path
	for _, element := range path {
		if name, isName := element.(ast.PathName); isName {
			element = ast.PathName(echoedName.ReplaceAllString(string(name), "$1…"))
		}
		out = append(out, element)
	}
	return out
}

// libraryCode translates the codes of gqlgen.
func libraryCode(err *gqlerror.Error) string {
	switch err.Extensions["code"] {
	case CodeUntrusted, CodeUnknownDocument, CodeResultTooLarge:
		return err.Extensions["code"].(string)
	case CodeTooComplex, "COMPLEXITY_LIMIT_EXCEEDED":
		return CodeTooComplex
	}
	return fault.CodeValidation
}

// TooComplex refuses a query that requests too much.
func TooComplex(format string, args ...any) *gqlerror.Error {
	err := gqlerror.Errorf(format, args...)
	err.Extensions = map[string]any{"code": CodeTooComplex}
	return err
}

// HasCode reports whether one of the errors has the code.
func HasCode(errs gqlerror.List, code string) bool {
	for _, e := range errs {
		if e.Extensions["code"] == code {
			return true
		}
	}
	return false
}

// NewError returns an error with a code.
func NewError(code, message string) *gqlerror.Error {
	return &gqlerror.Error{Message: message, Extensions: map[string]any{"code": code}}
}
