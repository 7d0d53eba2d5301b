package rest

import (
	"context"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/postrider/postrider/modules/accounts"
)

// operation declares one operation: for the router, for the guard in front of its
// handler, and for the OpenAPI document.
type operation struct {
	method      string
	path        string // below Prefix
	id          string
	tag         string
	summary     string
	description string
	needs       accounts.Operation // decides which scopes may ask
	body        *requestBody       // nil: takes none
	idempotent  bool               // reads Idempotency-Key
	problems    []int              // statuses beside those that every operation can answer
	answer      reflect.Type       // of the successful answer, where the handler gives bytes
	example     any                // of the successful answer
	media       string             // of the successful answer, when it is text and not JSON
	query       []string           // filled by register
}

// none is the input of an operation without parameters.
type none struct{}

// register adds an operation. I holds its path and query parameters, O is the
// JSON of its answer.
func register[I, O any](a *API, op operation, handle func(context.Context, *call, *I) (*O, error)) {
	type output struct{ Body *O }
	add(a, op, func(ctx context.Context, in *I) (*output, error) {
		c := callOf(ctx)
		out, err := handle(ctx, c, in)
		if err != nil {
			return nil, a.fail(ctx, c.requestID, err)
		}
		return &output{Body: out}, nil
	})
}

func add[I, O any](a *API, op operation, handle func(context.Context, *I) (*O, error)) {
	op.query = queryParameters(reflect.TypeFor[I]())
	huma.Register(a.huma, huma.Operation{
		Method: op.method, Path: op.path, OperationID: op.id, Tags: []string{op.tag},
		Summary: op.summary, Description: op.description,
		Middlewares: huma.Middlewares{a.guard(op)},
		Metadata:    map[string]any{declared: op},
	}, handle)
}

// queryParameters reads the names that a parameter struct documents.
func queryParameters(input reflect.Type) []string {
	var names []string
	for _, f := range reflect.VisibleFields(input) {
		if name := f.Tag.Get("query"); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// pageInput is the pagination of every list.
type pageInput struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"25" doc:"How many to return."`
	Cursor string `query:"cursor" doc:"next_cursor of the page before; opaque. Left out: the newest."`
}
