package suppressions

import (
	"context"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/suppression"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/wire"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/page"
)

// optOuts is the part of suppression that the operations on category opt-outs use.
type optOuts interface {
	OptOuts(ctx context.Context, accountID string, f suppression.OptOutFilter) (page.Page[*ent.CategoryOptOut], error)
	OptOut(ctx context.Context, accountID, optOutID string) (*ent.CategoryOptOut, error)
	RemoveOptOut(ctx context.Context, accountID, optOutID string) error
}

const tagOptOuts = "Category opt-outs"

type optOutRecord struct {
	ID            string    `json:"id" doc:"The ID of the opt-out." example:"opt_01kf0m4w7he6x8q2v5b3n9c1ta"`
	Email         *string   `json:"email" example:"bob@example.net" doc:"The address in lower case, with an internationalized domain in A-labels; null if it was erased. It remains opted out."`
	Category      string    `json:"category" example:"product-news" doc:"The key that is matched against the category of emails."`
	CategoryLabel string    `json:"category_label" example:"Product news" doc:"The category as written in the email whose link was used."`
	Source        string    `json:"source" enum:"one_click,page" doc:"one_click: the unsubscribe button of the mail client (RFC 8058). page: the page that the link opens."`
	EmailID       *string   `json:"email_id" example:"msg_01kf0m4w7he6x8q2v5b3n9c1ta" doc:"ID of the email whose link was used."`
	CreatedAt     wire.Time `json:"created_at" doc:"When the recipient opted out."`
}

type optOutAnswer struct {
	CategoryOptOut optOutRecord `json:"category_opt_out" doc:"The category opt-out."`
}

type optOutQuery struct {
	api.Page

	Email    string `query:"email" doc:"Return only this suppressed address." example:"bob@example.net"`
	Category string `query:"category" doc:"Return only opt-outs of this category, given by its key or a label." example:"product-news"`
}

var optOut = api.Noun{Name: "category opt-out", About: "ID of the opt-out.", Example: "opt_01kf0m4w7he6x8q2v5b3n9c1ta",
	Is: func(word string) bool { return id.Is(id.OptOut, word) }}

func (e *edge) optOuts(a *api.API) {
	g := a.Tag(tagOptOuts, "Addresses that opted out of one category of your mail. They still receive other mail.")
	api.ListBy(g, api.Operation{
		Path: "/category-opt-outs", ID: "listCategoryOptOuts", Needs: rights.Read,
		Summary: "List category opt-outs", Description: "Lists category opt-outs, newest first. Filters can be " +
			"combined; send the same filters with each cursor.",
		Example: optOutExample(),
	}, api.Plural{Member: "category_opt_outs", Schema: "OptOutList"}, e.findOptOuts, newOptOutRecord)
	api.Get(g, api.Operation{
		Path: "/category-opt-outs/{id}", ID: "getCategoryOptOut", Needs: rights.Read,
		Summary: "Retrieve a category opt-out", Description: "Returns the address and category of an opt-out, and " +
			"the email through which it was requested.",
		Example: map[string]any{"category_opt_out": optOutExample()}, Of: optOut,
	}, e.list.OptOut, newOptOutAnswer)
	api.Delete(g, api.Operation{
		Path: "/category-opt-outs/{id}", ID: "deleteCategoryOptOut", Needs: rights.Write,
		Summary: "Delete a category opt-out",
		Description: "Deletes a category opt-out, so that emails of the category can be sent to the address again. " +
			"Do this only at the recipient's request.",
		Example: map[string]any{"ok": true}, Of: optOut,
	}, e.list.RemoveOptOut)
}

func newOptOutRecord(o *ent.CategoryOptOut) optOutRecord {
	return optOutRecord{ID: o.ID, Email: o.Email, Category: o.Category, CategoryLabel: o.CategoryLabel,
		Source: o.Source, EmailID: o.EmailID,
		CreatedAt: wire.Time(o.CreatedAt)}
}

func newOptOutAnswer(o *ent.CategoryOptOut) optOutAnswer { return optOutAnswer{newOptOutRecord(o)} }

func (e *edge) findOptOuts(ctx context.Context, c *api.Call, in *optOutQuery) (page.Page[*ent.CategoryOptOut], error) {
	return e.list.OptOuts(ctx, c.AccountID,
		suppression.OptOutFilter{Request: in.Request(), Email: api.QueryAddress(in.Email), Category: in.Category})
}

func optOutExample() map[string]any {
	return map[string]any{"id": "opt_01kf0m4w7he6x8q2v5b3n9c1ta", "email": "bob@example.net",
		"category": "product-news", "category_label": "Product news",
		"source": "one_click", "email_id": "msg_01kf0m4w7he6x8q2v5b3n9c1ta", "created_at": "2026-01-15T09:30:00.000Z"}
}
