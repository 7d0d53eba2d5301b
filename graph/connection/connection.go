package connection

import (
	"context"
	"errors"
	"strings"

	"github.com/postrider/postrider/graph/inquiry"
	"github.com/postrider/postrider/graph/model"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/page"
)

// AuthorizePage returns the caller, if it may perform the operation, and the page that the arguments of a
// connection request.
func AuthorizePage(ctx context.Context, op rights.Operation, first *int, after *string, last *int,
	before *string) (accounts.Caller, page.Request, error) {
	caller, err := inquiry.Authorize(ctx, op)
	if err != nil {
		return caller, page.Request{}, err
	}
	request, err := Request(first, after, last, before)
	return caller, request, err
}

// Request returns the page that the arguments of a connection request.
func Request(first *int, after *string, last *int, before *string) (page.Request, error) {
	wrong := fault.Fields{}
	if first != nil && last != nil {
		wrong.Add("last", "cannot be combined with first")
	}
	if after != nil && (last != nil || before != nil) {
		wrong.Add("after", "cannot be combined with last; use before")
	}
	if before != nil && last == nil {
		wrong.Add("before", "requires last")
	}
	r := page.Request{Limit: page.DefaultLimit, Back: last != nil}
	size, sized, cursor, from := "first", first, "after", after
	if r.Back {
		size, sized, cursor, from = "last", last, "before", before
	}
	if sized != nil {
		r.Limit = *sized
	}
	if r.Limit < 1 || r.Limit > page.MaxLimit {
		wrong.Add(size, "must be between 1 and %d", page.MaxLimit)
	}
	if from != nil {
		if r.Cursor = *from; r.Cursor == "" {
			wrong.Add(cursor, "%s", notACursor)
		}
	}
	return r, wrong.Err()
}

// PageError names an invalid cursor by its GraphQL argument.
func PageError(r page.Request, err error) error {
	var known *fault.Error
	if !errors.As(err, &known) || known.Fields["cursor"] == "" {
		return err
	}
	if r.Back {
		return fault.InvalidField("before", notACursor)
	}
	return fault.InvalidField("after", notACursor)
}

const notACursor = "is not a cursor of this list; use a cursor, startCursor or endCursor of an earlier response"

// FromPage converts a page to a connection with edges E.
func FromPage[E interface{ ~struct{ model.Edge[N] } }, N any](found page.Page[N],
	count model.Counter) model.Connection[N, *E] {
	out := model.Connection[N, *E]{Edges: make([]*E, len(found.Items)), Nodes: append([]N{}, found.Items...),
		Counter:  count,
		PageInfo: &model.PageInfo{HasNextPage: found.HasMore, HasPreviousPage: found.HasPrevious}}
	for i, item := range found.Items {
		edge := E(struct{ model.Edge[N] }{model.Edge[N]{Cursor: found.Cursors[i], Node: item}})
		out.Edges[i] = &edge
	}
	if n := len(found.Items); n > 0 {
		out.PageInfo.StartCursor, out.PageInfo.EndCursor = &found.Cursors[0], &found.Cursors[n-1]
	}
	return out
}

// Arguments are the arguments of a connection.
type Arguments struct {
	First  *int
	After  *string
	Last   *int
	Before *string
}

// NewArguments returns the position that the arguments specify.
func NewArguments(first *int, after *string, last *int, before *string) Arguments {
	return Arguments{First: first, After: after, Last: last, Before: before}
}

// ListConnection returns a connection with edges E for a service that lists and counts under a filter F. Errors use
// GraphQL argument names; names are pairs as in ArgumentError.
func ListConnection[E interface{ ~struct{ model.Edge[N] } }, N, R, F any](ctx context.Context, op rights.Operation,
	at Arguments, filter F,
	list func(context.Context, string, F, page.Request) (page.Page[R], error),
	count func(context.Context, string, F, int) (int, error),
	show func(context.Context, string, []R) []N, names ...string,
) (model.Connection[N, *E], error) {
	caller, request, err := AuthorizePage(ctx, op, at.First, at.After, at.Last, at.Before)
	if err != nil {
		return model.Connection[N, *E]{}, err
	}
	found, err := list(ctx, caller.AccountID, filter, request)
	if err != nil {
		return model.Connection[N, *E]{}, ArgumentError(PageError(request, err), names...)
	}
	return FromPage[E](page.WithItems(found, show(ctx, caller.AccountID, found.Items)),
		func(ctx context.Context, most int) (int, error) {
			return count(ctx, caller.AccountID, filter, most)
		}), nil
}

// WithoutFilter adapts a method that takes no filter to one that takes an empty filter.
func WithoutFilter[A, T any](of func(context.Context, string,
	A) (T, error)) func(context.Context, string, struct{}, A) (T, error) {
	return func(ctx context.Context, accountID string, _ struct{}, a A) (T, error) { return of(ctx, accountID, a) }
}

// ConvertRows converts rows individually.
func ConvertRows[R, N any](show func(R) N) func(context.Context, string, []R) []N {
	return func(_ context.Context, _ string, rows []R) []N { return ConvertList(rows, show) }
}

// Size returns the number of entries that a connection requests. A value out of range counts as the largest
// page, because the resolver reports the error.
func Size(first, last *int) int {
	if last != nil {
		first = last
	}
	switch {
	case first == nil:
		return page.DefaultLimit
	case *first < 1 || *first > page.MaxLimit:
		return page.MaxLimit
	}
	return *first
}

// ArgumentError uses GraphQL argument names: automationId for automation_id. Pairs give other names that
// differ.
func ArgumentError(err error, names ...string) error {
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

// ConvertList converts each entry of a list.
func ConvertList[A, B any](list []A, show func(A) B) []B {
	out := make([]B, len(list))
	for i, item := range list {
		out[i] = show(item)
	}
	return out
}
