package graph

import (
	"context"
	"errors"

	"github.com/postrider/postrider/graph/model"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/page"
)

// askedPage gives the caller, if it may do the operation, and the page that the arguments of a
// connection ask for.
func askedPage(ctx context.Context, op rights.Operation, first *int, after *string, last *int, before *string) (accounts.Caller, page.Request, error) {
	caller, err := authorized(ctx, op)
	if err != nil {
		return caller, page.Request{}, err
	}
	request, err := pageRequest(first, after, last, before)
	return caller, request, err
}

// pageRequest reads the arguments of a connection.
func pageRequest(first *int, after *string, last *int, before *string) (page.Request, error) {
	wrong := fault.Fields{}
	if first != nil && last != nil {
		wrong.Add("last", "cannot be beside first")
	}
	if after != nil && (last != nil || before != nil) {
		wrong.Add("after", "goes with first, and before with last")
	}
	if before != nil && last == nil {
		wrong.Add("before", "goes with last")
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

// pageError names a bad cursor as GraphQL callers know it.
func pageError(r page.Request, err error) error {
	var known *fault.Error
	if !errors.As(err, &known) || known.Fields["cursor"] == "" {
		return err
	}
	if r.Back {
		return fault.InvalidField("before", notACursor)
	}
	return fault.InvalidField("after", notACursor)
}

const notACursor = "is not a cursor of this list; use a cursor, startCursor or endCursor of an earlier answer"

// connection shows a page as a connection with edges E.
func connection[E interface{ ~struct{ model.Edge[N] } }, N any](found page.Page[N], count model.Counter) model.Connection[N, *E] {
	out := model.Connection[N, *E]{Edges: make([]*E, len(found.Items)), Nodes: append([]N{}, found.Items...), Counter: count,
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

// place is the arguments of a connection.
type place struct {
	first  *int
	after  *string
	last   *int
	before *string
}

// listed answers a connection with edges E: what a service lists and counts under a filter F, as it is
// shown. Errors name arguments as GraphQL callers know them; names are pairs as of argumentError.
func listed[E interface{ ~struct{ model.Edge[N] } }, N, R, F any](ctx context.Context, op rights.Operation, at place, filter F,
	list func(context.Context, string, F, page.Request) (page.Page[R], error), count func(context.Context, string, F, int) (int, error),
	show func(context.Context, string, []R) []N, names ...string,
) (model.Connection[N, *E], error) {
	caller, request, err := askedPage(ctx, op, at.first, at.after, at.last, at.before)
	if err != nil {
		return model.Connection[N, *E]{}, err
	}
	found, err := list(ctx, caller.AccountID, filter, request)
	if err != nil {
		return model.Connection[N, *E]{}, argumentError(pageError(request, err), names...)
	}
	return connection[E](page.With(found, show(ctx, caller.AccountID, found.Items)), func(ctx context.Context, most int) (int, error) {
		return count(ctx, caller.AccountID, filter, most)
	}), nil
}

// unfiltered makes a method of a list without a filter one that takes none.
func unfiltered[A, T any](of func(context.Context, string, A) (T, error)) func(context.Context, string, struct{}, A) (T, error) {
	return func(ctx context.Context, accountID string, _ struct{}, a A) (T, error) { return of(ctx, accountID, a) }
}

// each shows rows one by one.
func each[R, N any](show func(R) N) func(context.Context, string, []R) []N {
	return func(_ context.Context, _ string, rows []R) []N { return shownAs(rows, show) }
}

// pageSize is how many entries a connection is asked for. It takes what is out of range for the
// largest page: the resolver says what is wrong with it.
func pageSize(first, last *int) int {
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
