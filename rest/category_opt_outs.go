package rest

import (
	"context"
	"net/http"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/suppression"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/id"
	"github.com/postrider/postrider/runtime/page"
)

// optOuts is what the operations on category opt-outs need of suppression.
type optOuts interface {
	OptOuts(ctx context.Context, accountID string, f suppression.OptOutFilter) (page.Page[*ent.CategoryOptOut], error)
	OptOut(ctx context.Context, accountID, optOutID string) (*ent.CategoryOptOut, error)
	RemoveOptOut(ctx context.Context, accountID, optOutID string) error
}

const tagOptOuts = "Category opt-outs"

type optOutRecord struct {
	ID            string    `json:"id" example:"opt_01kf0m4w7he6x8q2v5b3n9c1ta"`
	Email         *string   `json:"email" example:"bob@example.net" doc:"Lower case, an internationalised domain in A-labels; null once it was erased, it is opted out all the same."`
	Category      string    `json:"category" example:"product-news" doc:"What emails are compared by."`
	CategoryLabel string    `json:"category_label" example:"Product news" doc:"As the email wrote it whose link was used."`
	Source        string    `json:"source" enum:"one_click,page" doc:"one_click: the mail client's own button (RFC 8058); page: the page behind the link."`
	EmailID       *string   `json:"email_id" example:"msg_01kf0m4w7he6x8q2v5b3n9c1ta" doc:"The email whose link was used."`
	CreatedAt     timestamp `json:"created_at"`
}

type optOutAnswer struct {
	CategoryOptOut optOutRecord `json:"category_opt_out"`
}

type optOutList struct {
	CategoryOptOuts []optOutRecord `json:"category_opt_outs" nullable:"false"`
	HasMore         bool           `json:"has_more"`
	NextCursor      *string        `json:"next_cursor" doc:"Give it as cursor to get the next page; null on the last."`
}

type optOutID struct {
	ID string `path:"id" doc:"Id of the opt-out." example:"opt_01kf0m4w7he6x8q2v5b3n9c1ta"`
}

type optOutQuery struct {
	Limit    int    `query:"limit" minimum:"1" maximum:"100" default:"25" doc:"How many to return."`
	Cursor   string `query:"cursor" doc:"next_cursor of the page before; opaque. Left out: the newest."`
	Email    string `query:"email" doc:"Only this address." example:"bob@example.net"`
	Category string `query:"category" doc:"Only this category: its key or a label of it." example:"product-news"`
}

func (e *suppressionEdge) optOuts(a *API) {
	a.describeTag(tagOptOuts, "Addresses that do not want one category of your mail. Other mail is sent to them.")
	register(a, operation{
		method: http.MethodGet, path: "/category-opt-outs", id: "listCategoryOptOuts", tag: tagOptOuts, needs: accounts.Read,
		summary: "List category opt-outs", description: "Newest first. Filters can be combined; give the same ones with each cursor.",
		example: map[string]any{"category_opt_outs": []any{optOutExample()}, "has_more": false, "next_cursor": nil},
	}, e.listOptOuts)
	register(a, operation{
		method: http.MethodGet, path: "/category-opt-outs/{id}", id: "getCategoryOptOut", tag: tagOptOuts, needs: accounts.Read,
		summary: "Retrieve a category opt-out", description: "Who wants no mail of a category any more, and through which email they said so.",
		example: map[string]any{"category_opt_out": optOutExample()}, problems: []int{http.StatusNotFound},
	}, e.getOptOut)
	register(a, operation{
		method: http.MethodDelete, path: "/category-opt-outs/{id}", id: "deleteCategoryOptOut", tag: tagOptOuts, needs: accounts.Write,
		summary:     "Delete a category opt-out",
		description: "Emails of the category may be sent to the address again. Do so only when the person asks for it.",
		example:     map[string]any{"ok": true}, problems: []int{http.StatusNotFound},
	}, e.deleteOptOut)
}

func newOptOutRecord(o *ent.CategoryOptOut) optOutRecord {
	return optOutRecord{ID: o.ID, Email: o.Email, Category: o.Category, CategoryLabel: o.CategoryLabel, Source: o.Source, EmailID: o.EmailID,
		CreatedAt: timestamp(o.CreatedAt)}
}

func (e *suppressionEdge) listOptOuts(ctx context.Context, c *call, in *optOutQuery) (*optOutList, error) {
	found, err := e.list.OptOuts(ctx, c.AccountID, suppression.OptOutFilter{
		Request: page.Request{Limit: in.Limit, Cursor: in.Cursor}, Email: in.Email, Category: in.Category})
	if err != nil {
		return nil, err
	}
	out := optOutList{CategoryOptOuts: []optOutRecord{}, HasMore: found.HasMore, NextCursor: nextCursor(found.NextCursor)}
	for _, row := range found.Items {
		out.CategoryOptOuts = append(out.CategoryOptOuts, newOptOutRecord(row))
	}
	return &out, nil
}

func (e *suppressionEdge) getOptOut(ctx context.Context, c *call, in *optOutID) (*optOutAnswer, error) {
	if !id.Is(id.OptOut, in.ID) {
		return nil, fault.Missing("category opt-out", shown(in.ID))
	}
	row, err := e.list.OptOut(ctx, c.AccountID, in.ID)
	if err != nil {
		return nil, err
	}
	return &optOutAnswer{newOptOutRecord(row)}, nil
}

func (e *suppressionEdge) deleteOptOut(ctx context.Context, c *call, in *optOutID) (*okAnswer, error) {
	if !id.Is(id.OptOut, in.ID) {
		return nil, fault.Missing("category opt-out", shown(in.ID))
	}
	if err := e.list.RemoveOptOut(ctx, c.AccountID, in.ID); err != nil {
		return nil, err
	}
	return &okAnswer{OK: true}, nil
}

func optOutExample() map[string]any {
	return map[string]any{"id": "opt_01kf0m4w7he6x8q2v5b3n9c1ta", "email": "bob@example.net", "category": "product-news", "category_label": "Product news",
		"source": "one_click", "email_id": "msg_01kf0m4w7he6x8q2v5b3n9c1ta", "created_at": "2026-01-15T09:30:00.000Z"}
}
