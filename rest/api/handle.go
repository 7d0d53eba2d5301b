package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/postrider/postrider/rest/api/body"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

// Handle adds an operation without a body. I holds its path and query parameters, O is
// the JSON of its answer.
func Handle[I, O any](g *Group, op Operation, handle func(context.Context, *Call, *I) (O, error)) {
	HandleBody(g, op, nil, func(ctx context.Context, c *Call, in *I, _ None) (O, error) { return handle(ctx, c, in) })
}

// HandleBody adds an operation that reads the body B. What is wrong with the body is
// refused before what is wrong with the path.
func HandleBody[I, B, O any](g *Group, op Operation, declare func(*B) body.Object, handle func(context.Context, *Call, *I, B) (O, error)) {
	type output struct{ Body O }
	add(g, op, schemaOfBody(g, declare), func(ctx context.Context, c *Call, in *I) (*output, error) {
		given, err := parse(c, declare)
		if err == nil {
			var b B
			if b, err = read(op, in, given, declare); err == nil {
				var out output
				if out.Body, err = handle(ctx, c, in, b); err == nil {
					return &out, nil
				}
			}
		}
		return nil, c.Fail(ctx, err)
	})
}

func schemaOfBody[B any](g *Group, declare func(*B) body.Object) *huma.Schema {
	if declare == nil {
		return nil
	}
	return declare(new(B)).Schema(g.api.bodies)
}

// parse checks that the body is a JSON object, where one is declared.
func parse[B any](c *Call, declare func(*B) body.Object) (body.Value, error) {
	if declare == nil {
		return body.Value{}, nil
	}
	return body.ParseObject(c.body)
}

// read decodes a body that was parsed and checks the id in the path.
func read[I, B any](op Operation, in *I, given body.Value, declare func(*B) body.Object) (b B, err error) {
	if declare != nil {
		if b, err = body.Decode(given, declare); err != nil {
			return b, err
		}
	}
	return b, op.checkItem(in)
}

// Keep stores an answer under the caller's Idempotency-Key, in the transaction of its
// effect. Without a key it stores nothing.
type Keep func(ctx context.Context, tx idempotency.Execer, answer any) error

// Keeping makes of Keep what a service calls with what it has made.
func Keeping[T, O any](keep Keep, answer func(T) O) func(context.Context, idempotency.Execer, T) error {
	return func(ctx context.Context, tx idempotency.Execer, made T) error { return keep(ctx, tx, answer(made)) }
}

// Once adds an operation without a body that takes an Idempotency-Key.
func Once[I, O any](g *Group, op Operation, run func(context.Context, *Call, *I, Keep) (O, error)) {
	OnceBody(g, op, nil, func(ctx context.Context, c *Call, in *I, _ None, keep Keep) (O, error) { return run(ctx, c, in, keep) })
}

// OnceBody adds an operation that takes an Idempotency-Key. run calls Keep in the
// transaction of its effect; what was kept is what is answered.
func OnceBody[I, B, O any](g *Group, op Operation, declare func(*B) body.Object, run func(context.Context, *Call, *I, B, Keep) (O, error)) {
	op.Answer = *new(O)
	Claimed(g, op, declare, func(ctx context.Context, c *Call, in *I, b B, claim *idempotency.Claim) (idempotency.Answer, error) {
		var kept *idempotency.Answer
		keep := func(ctx context.Context, tx idempotency.Execer, answer any) error {
			a, err := Answer(answer)
			if err != nil || claim == nil {
				return err
			}
			kept = &a
			return c.api.answers.storeFor(c, op.Secret).Keep(ctx, tx, claim, a)
		}
		out, err := run(ctx, c, in, b, keep)
		switch {
		case err != nil:
			return idempotency.Answer{}, err
		case kept != nil:
			return *kept, nil
		}
		return Answer(out)
	})
}

// Claimed adds an operation that takes an Idempotency-Key and hands the claim to its
// service, which keeps the answer itself. The body is parsed first; it is decoded only
// when no answer is kept under the key.
func Claimed[I, B any](g *Group, op Operation, declare func(*B) body.Object,
	run func(context.Context, *Call, *I, B, *idempotency.Claim) (idempotency.Answer, error)) {
	op.idempotent, op.Method = true, http.MethodPost
	var names *idempotency.Names
	if declare != nil {
		names = namesOf(declare(new(B)).Aliases())
	}
	add(g, op, schemaOfBody(g, declare), func(ctx context.Context, c *Call, in *I) (*stored, error) {
		do := func(ctx context.Context) (*stored, error) {
			given, err := parse(c, declare)
			if err != nil {
				return nil, c.Fail(ctx, err)
			}
			return c.once(ctx, c.api.answers.storeFor(c, op.Secret), names, func(claim *idempotency.Claim) (idempotency.Answer, error) {
				b, err := read(op, in, given, declare)
				if err == nil {
					err = c.chargeBody(ctx, op)
				}
				if err != nil {
					return idempotency.Answer{}, err
				}
				return run(ctx, c, in, b, claim)
			})
		}
		if op.Body != nil && op.Body.Large {
			return c.working(ctx, do)
		}
		return do(ctx)
	})
}

// Get adds the operation that reads one item. find is the service's method.
func Get[T, O any](g *Group, op Operation, find func(ctx context.Context, accountID, id string) (T, error), answer func(T) O) {
	op.Method, op.Problems = http.MethodGet, append(op.Problems, http.StatusNotFound)
	Handle(g, op, func(ctx context.Context, c *Call, in *Item) (out O, err error) {
		found, err := find(ctx, c.AccountID, in.ID)
		if err != nil {
			return out, err
		}
		return answer(found), nil
	})
}

// OkAnswer says that something was done, where there is nothing more to say.
type OkAnswer struct {
	OK bool `json:"ok" enum:"true"`
}

// Delete adds the operation that takes one item away. remove is the service's method.
func Delete(g *Group, op Operation, remove func(ctx context.Context, accountID, id string) error) {
	op.Method, op.Problems, op.Example = http.MethodDelete, append(op.Problems, http.StatusNotFound), map[string]any{"ok": true}
	Handle(g, op, func(ctx context.Context, c *Call, in *Item) (OkAnswer, error) {
		return OkAnswer{OK: true}, remove(ctx, c.AccountID, in.ID)
	})
}

// Text is an answer that is not JSON.
type Text struct {
	ContentType string `header:"Content-Type" hidden:"true"`
	Body        []byte
}

// As makes the answer of what a service has made, unless it failed. It takes the results
// of the service's method: As(answer)(service.Make(…)).
func As[T, O any](answer func(T) O) func(made T, err error) (O, error) {
	return func(made T, err error) (out O, _ error) {
		if err != nil {
			return out, err
		}
		return answer(made), nil
	}
}
