package api

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/postrider/postrider/rest/api/body"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

// There are four ways to register an operation: HandleBody, HandleClaimed, ListBy and Raw. The functions in
// shorthand.go are short forms of the first three for common cases.

// HandleBody adds an operation that reads the body B. An invalid body is reported before an invalid path.
func HandleBody[I, B, O any](g *TagGroup, op Operation, declare func(*B) body.Object,
	handle func(context.Context, *Call, *I, B) (O, error)) {
	if op.schema == nil {
		op.schema = schemaOf(reflect.TypeFor[O](), op.ID+"Response")
	}
	addOperation(g, op, schemaOfBody(g, declare), func(ctx context.Context, c *Call, in *I) (*answer, error) {
		given, err := parseBody(c, declare)
		if err == nil {
			var b B
			if b, err = readInput(op, in, given, declare); err == nil {
				var out O
				if out, err = handle(ctx, c, in, b); err == nil {
					c.keepAnswer(op, out)
					return &answer{out}, nil
				}
			}
		}
		return nil, c.Fail(ctx, err)
	})
}

func schemaOfBody[B any](g *TagGroup, declare func(*B) body.Object) *huma.Schema {
	if declare == nil {
		return nil
	}
	return declare(new(B)).Schema(g.api.bodies)
}

// parseBody checks that the body is a JSON object. Without a declaration it returns the zero value.
func parseBody[B any](c *Call, declare func(*B) body.Object) (body.Value, error) {
	if declare == nil {
		return body.Value{}, nil
	}
	return body.ParseObject(c.body)
}

// readInput decodes a parsed body and checks the id in the path.
func readInput[I, B any](op Operation, in *I, given body.Value, declare func(*B) body.Object) (b B, err error) {
	if declare != nil {
		if b, err = body.Decode(given, declare); err != nil {
			return b, err
		}
	}
	return b, op.checkItem(in)
}

// HandleClaimed adds an operation that accepts an Idempotency-Key and passes the claim to its service, which stores the
// response itself. The body is always parsed, but decoded only if no response is stored under the key.
func HandleClaimed[I, B any](g *TagGroup, op Operation, declare func(*B) body.Object,
	run func(context.Context, *Call, *I, B, *idempotency.Claim) (idempotency.Response, error)) {
	op.idempotent, op.Method = true, http.MethodPost
	var form *idempotency.Form
	if declare != nil {
		form = declare(new(B)).Form()
	}
	addOperation(g, op, schemaOfBody(g, declare), func(ctx context.Context, c *Call, in *I) (*stored, error) {
		do := func(ctx context.Context) (*stored, error) {
			given, err := parseBody(c, declare)
			if err != nil {
				return nil, c.Fail(ctx, err)
			}
			return c.runOnce(ctx, c.api.answers.storeFor(c, op.Secret), form,
				func(claim *idempotency.Claim) (idempotency.Response, error) {
					b, err := readInput(op, in, given, declare)
					if err == nil {
						err = c.chargeBody(ctx, op)
					}
					if err != nil {
						return idempotency.Response{}, err
					}
					response, err := run(ctx, c, in, b, claim)
					if err == nil {
						c.keepAnswer(op, json.RawMessage(response.Body))
					}
					return response, err
				})
		}
		if op.Body != nil && op.Body.Large {
			return c.runWithMemory(ctx, do)
		}
		return do(ctx)
	})
}

// Raw adds an operation whose handler returns the whole response, including headers, or an error created with
// [Call.Fail].
func Raw[I, O any](g *TagGroup, op Operation, handle func(context.Context, *Call, *I) (*O, error)) {
	op.Slow = true // the client may read the response slowly
	addOperation(g, op, nil, handle)
}

// Text is a response that the handler has already encoded.
type Text struct {
	ContentType string `header:"Content-Type" hidden:"true"`
	Body        []byte
}
