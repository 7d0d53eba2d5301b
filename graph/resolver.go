package graph

import (
	"context"
	"errors"
	"strings"

	"github.com/postrider/postrider/graph/model"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/page"
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

// pageRequest reads the arguments of a connection.
func pageRequest(first *int, after *string) (page.Request, error) {
	r := page.Request{Limit: page.DefaultLimit}
	if first != nil {
		r.Limit = *first
	}
	if r.Limit < 1 || r.Limit > page.MaxLimit {
		return page.Request{}, fault.InvalidField("first", "must be between 1 and %d", page.MaxLimit)
	}
	if after == nil {
		return r, nil
	}
	if r.Cursor = *after; r.Cursor == "" {
		return page.Request{}, badCursor()
	}
	return r, nil
}

// pageError names a bad cursor as GraphQL callers know it.
func pageError(err error) error {
	var known *fault.Error
	if errors.As(err, &known) && known.Fields["cursor"] != "" {
		return badCursor()
	}
	return err
}

// argumentError names arguments as GraphQL callers know them: automationId for automation_id.
func argumentError(err error) error {
	var known *fault.Error
	if !errors.As(err, &known) || len(known.Fields) == 0 {
		return err
	}
	renamed := fault.Fields{}
	for name, reason := range known.Fields {
		first, rest, _ := strings.Cut(name, "_")
		if rest != "" {
			first += strings.ToUpper(rest[:1]) + rest[1:]
		}
		renamed.Add(first, "%s", reason)
	}
	return renamed.Err()
}

func badCursor() error {
	return fault.InvalidField("after", "is not a cursor of this list; use endCursor of an earlier answer")
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

// pageInfo says whether a list goes on after a page, and behind which cursor.
func pageInfo[T any](p page.Page[T]) *model.PageInfo {
	return &model.PageInfo{HasNextPage: p.HasMore, EndCursor: filled(p.NextCursor)}
}
