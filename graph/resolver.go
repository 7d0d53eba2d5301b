package graph

import (
	"context"
	"errors"
	"strings"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/runtime/fault"
)

// Resolver is the root of the resolvers. The resolvers of a type stand in the
// *.resolvers.go file named like its SDL, conversions in the file beside it.
type Resolver struct {
	parts parts
	on    []string // the modules that are on
}

type callerKey struct{}

func withCaller(ctx context.Context, c accounts.Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// authorized gives the caller of the request if its key's scope allows the
// operation. Without a caller nothing is allowed.
func authorized(ctx context.Context, op rights.Operation) (accounts.Caller, error) {
	caller, err := callerOf(ctx)
	if err != nil {
		return accounts.Caller{}, err
	}
	return caller, caller.Authorize(op)
}

func callerOf(ctx context.Context) (accounts.Caller, error) {
	caller, known := ctx.Value(callerKey{}).(accounts.Caller)
	if !known {
		return accounts.Caller{}, errors.New("no caller in the context of a resolver")
	}
	return caller, nil
}

// argumentError names arguments as GraphQL callers know them: automationId for automation_id, and
// what else has another name here, as pairs.
func argumentError(err error, names ...string) error {
	var known *fault.Error
	if !errors.As(err, &known) || len(known.Fields) == 0 {
		return err
	}
	renamed := fault.Fields{}
	for name, reason := range known.Fields {
		renamed.Add(argumentName(name, names), "%s", reason)
	}
	return renamed.Err()
}

func argumentName(name string, names []string) string {
	for i := 0; i+1 < len(names); i += 2 {
		if names[i] == name {
			return names[i+1]
		}
	}
	first, rest, _ := strings.Cut(name, "_")
	for word := range strings.SplitSeq(rest, "_") {
		if word != "" {
			first += strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return first
}

// noneIfMissing turns "no such thing" into null, which is what a nullable root
// field says it with.
func noneIfMissing[T any](found *T, err error) (*T, error) {
	if err != nil && fault.KindOf(err) == fault.NotFound {
		return nil, nil
	}
	return found, err
}

// filled is null for what is stored as an empty string.
func filled(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
