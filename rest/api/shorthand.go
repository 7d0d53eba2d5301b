package api

import (
	"context"
	"net/http"

	"github.com/postrider/postrider/rest/api/body"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

// Handle is HandleBody for an operation without a body. I holds its path and query parameters, and O is
// encoded as the JSON response.
func Handle[I, O any](g *TagGroup, op Operation, handle func(context.Context, *Call, *I) (O, error)) {
	HandleBody(g, op, nil, func(ctx context.Context, c *Call, in *I, _ None) (O, error) { return handle(ctx, c, in) })
}

// OnceBody is HandleClaimed for a service that takes a callback instead of the claim. run calls StoreResponse in the
// transaction of its effect, and the stored response is returned.
func OnceBody[I, B, O any](
	g *TagGroup, op Operation, declare func(*B) body.Object,
	run func(context.Context, *Call, *I, B, StoreResponse) (O, error),
) {
	op.Answer = *new(O)
	HandleClaimed(g, op, declare, func(ctx context.Context, c *Call, in *I, b B,
		claim *idempotency.Claim) (idempotency.Response, error) {
		var kept *idempotency.Response
		keep := func(ctx context.Context, tx idempotency.Execer, answer any) error {
			a, err := EncodeAnswer(answer)
			if err != nil || claim == nil {
				return err
			}
			kept = &a
			return c.api.answers.storeFor(c, op.Secret).Keep(ctx, tx, claim, a)
		}
		out, err := run(ctx, c, in, b, keep)
		switch {
		case err != nil:
			return idempotency.Response{}, err
		case kept != nil:
			return *kept, nil
		}
		return EncodeAnswer(out)
	})
}

// Once is OnceBody for an operation without a body.
func Once[I, O any](g *TagGroup, op Operation, run func(context.Context, *Call, *I, StoreResponse) (O, error)) {
	OnceBody(g, op, nil, func(ctx context.Context, c *Call, in *I, _ None,
		keep StoreResponse) (O, error) {
		return run(ctx, c, in, keep)
	})
}

// StoreResponse stores a response under the caller's Idempotency-Key, in the transaction of its effect. Without a key
// it does nothing.
type StoreResponse func(ctx context.Context, tx idempotency.Execer, answer any) error

// AdaptStore adapts StoreResponse to the callback of a service, which passes the object that it created.
func AdaptStore[T, O any](keep StoreResponse, answer func(T) O) func(context.Context, idempotency.Execer, T) error {
	return func(ctx context.Context, tx idempotency.Execer, made T) error { return keep(ctx, tx, answer(made)) }
}

// Get is Handle for an operation that returns one item. find is the service's method.
func Get[T, O any](
	g *TagGroup, op Operation, find func(ctx context.Context, accountID, id string) (T, error), answer func(T) O,
) {
	op.Method, op.Problems = http.MethodGet, append(op.Problems, http.StatusNotFound)
	g.api.readers[op.Path] = func(ctx context.Context, accountID, id string) (any, error) {
		found, err := find(ctx, accountID, id)
		if err != nil {
			return nil, err
		}
		return answer(found), nil
	}
	Handle(g, op, func(ctx context.Context, c *Call, in *Item) (out O, err error) {
		found, err := find(ctx, c.AccountID, in.ID)
		if err != nil {
			return out, err
		}
		return answer(found), nil
	})
}

// List is ListBy for an operation without filters. find is the service's method, and show converts one item
// to its record. The example of op is one record.
func List[T, R any](
	g *TagGroup, op Operation, as Plural,
	find func(ctx context.Context, accountID string, r page.Request) (page.Page[T], error), show func(T) R,
) {
	ListBy(g, op, as, func(ctx context.Context, c *Call, in *Page) (page.Page[T], error) {
		return find(ctx, c.AccountID, in.Request())
	}, show)
}

// OkAnswer confirms an operation that returns no data.
type OkAnswer struct {
	OK bool `json:"ok" enum:"true" doc:"Always true."`
}

// Delete is Handle for an operation that deletes one item. remove is the service's method.
func Delete(g *TagGroup, op Operation, remove func(ctx context.Context, accountID, id string) error) {
	op.Method, op.Problems, op.Example = http.MethodDelete, append(op.Problems, http.StatusNotFound),
		map[string]any{"ok": true}
	Handle(g, op, func(ctx context.Context, c *Call, in *Item) (OkAnswer, error) {
		return OkAnswer{OK: true}, remove(ctx, c.AccountID, in.ID)
	})
}

// As converts the result of a service call to its response and passes an error through:
// As(newAnswer)(service.Create(…)).
func As[T, O any](answer func(T) O) func(made T, err error) (O, error) {
	return func(made T, err error) (out O, _ error) {
		if err != nil {
			return out, err
		}
		return answer(made), nil
	}
}
