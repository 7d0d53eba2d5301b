package api

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/postrider/postrider/rest/api/wire"
	"github.com/postrider/postrider/runtime/storage/page"
)

// Page is the input of every list. Lists with filters embed it.
type Page struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"25" doc:"Maximum number of items to return."`
	Cursor string `query:"cursor" doc:"The next_cursor of the previous page, an opaque string. Defaults to the first page."`
}

// Request is the requested page.
func (p Page) Request() page.Request { return page.Request{Limit: p.Limit, Cursor: p.Cursor} }

// Plural describes the encoding of a list.
type Plural struct {
	Member string // field of the response, such as "emails"
	Schema string // component of the document, such as "EmailList"

	HasMore, NextCursor string // their descriptions, if not the default ones
}

// ListBy adds an operation that returns a page of a list, newest first. show converts one item to its record.
// The example of op is one record.
func ListBy[I, T, R any](g *TagGroup, op Operation, as Plural,
	find func(context.Context, *Call, *I) (page.Page[T], error), show func(T) R) {
	op.Method, op.Example = http.MethodGet, map[string]any{as.Member: []any{op.Example}, "has_more": false,
		"next_cursor": nil}
	op.schema = as.listSchema(reflect.TypeFor[R]())
	addOperation(g, op, nil, func(ctx context.Context, c *Call, in *I) (*answer, error) {
		err := op.checkItem(in)
		if err == nil {
			var found page.Page[T]
			if found, err = find(ctx, c, in); err == nil {
				var encoded json.RawMessage
				if encoded, err = as.encodePage(wire.ListOf(found.Items, show), found.HasMore,
					found.NextCursor); err == nil {
					return &answer{encoded}, nil
				}
			}
		}
		return nil, c.Fail(ctx, err)
	})
}

// encodePage writes a page. The cursor is null on the last one.
func (p Plural) encodePage(records any, hasMore bool, cursor string) (json.RawMessage, error) {
	items, err := wire.Marshal(records)
	if err != nil {
		return nil, err
	}
	rest, err := wire.Marshal(struct {
		HasMore    bool    `json:"has_more"`
		NextCursor *string `json:"next_cursor"`
	}{hasMore, wire.OrNull(cursor)})
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, len(items)+len(rest)+len(p.Member)+4)
	out = append(out, `{"`+p.Member+`":`...)
	out = append(append(out, items...), ',')
	return append(out, rest[1:]...), nil
}

// listSchema describes the list as a component.
func (p Plural) listSchema(record reflect.Type) func(huma.Registry) *huma.Schema {
	return func(schemas huma.Registry) *huma.Schema {
		more := cmp.Or(p.HasMore, "Whether more items follow.")
		next := cmp.Or(p.NextCursor, "Send it as `cursor` to get the next page. `null` on the last page.")
		schemas.Map()[p.Schema] = &huma.Schema{Type: huma.TypeObject,
			Required: []string{p.Member, "has_more", "next_cursor"}, Properties: map[string]*huma.Schema{
				p.Member: {Type: huma.TypeArray, Items: schemas.Schema(record, true, ""),
					Description: "The items of the page."},
				"has_more":    {Type: huma.TypeBoolean, Description: more},
				"next_cursor": {Type: huma.TypeString, Nullable: true, Description: next},
			}}
		return &huma.Schema{Ref: "#/components/schemas/" + p.Schema}
	}
}
