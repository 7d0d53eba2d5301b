package templates

import (
	"context"
	"net/http"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/templates"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/wire"
	"github.com/postrider/postrider/runtime/storage/page"
)

// history is the part of templates that the operations on edits use.
type history interface {
	Edits(ctx context.Context, accountID, idOrAlias string, r page.Request) (page.Page[*ent.TemplateEdit], error)
	Edit(ctx context.Context, accountID, idOrAlias string, number int) (*ent.TemplateEdit, error)
	RestoreEdit(ctx context.Context, accountID, idOrAlias string, number int, author string,
		keep templates.StoreTemplateResponse) (templates.Template, error)
}

// EditSummary is an edit in a list. It is exported because it is embedded.
type EditSummary struct {
	TemplateID         string             `json:"template_id" doc:"The ID of the template."`
	Edit               int                `json:"edit" doc:"The number of the edit, starting at 1."`
	Author             *string            `json:"author" doc:"Email address of the member, or name of the API key, that made it. null if unknown."`
	Subject            *string            `json:"subject" doc:"The subject. null if none is set."`
	From               *string            `json:"from" doc:"The sender. null if none is set."`
	ReplyTo            []string           `json:"reply_to" nullable:"false" doc:"The addresses that replies are sent to."`
	Variables          []templateVariable `json:"variables" nullable:"false" doc:"The variables of the draft."`
	UnsubscribeEnabled bool               `json:"unsubscribe_enabled" doc:"Whether Postrider manages unsubscribes."`
	Category           *string            `json:"category" doc:"The kind of mail. null if none is set."`
	StartedAt          wire.Time          `json:"started_at" doc:"When the edit began. Changes by one author within 10 minutes are one edit."`
	SavedAt            wire.Time          `json:"saved_at" doc:"When the edit was last saved."`
}

type editRecord struct {
	EditSummary

	HTML *string `json:"html" doc:"The HTML source; null if there is none."`
	Text *string `json:"text" doc:"The text source; null if there is none."`

	Translations []templateTranslation `json:"translations" nullable:"false" doc:"The content in other languages."`
}

type editAnswer struct {
	Edit editRecord `json:"edit" doc:"The edit."`
}

type editInput struct {
	api.Item

	Edit string `path:"edit" doc:"Number of the edit." example:"12"`
}

func (e *edge) addHistory(g *api.TagGroup) {
	api.ListBy(g, api.Operation{
		Path: "/templates/{id}/edits", ID: "listTemplateEdits", Needs: rights.Read,
		Summary: "List a template's edits",
		Description: "Lists the history of the draft, newest first, without `html` and `text`. The newest edit is the " +
			"draft itself. The newest 50 edits are kept, at most 8 MB of them.",
		Example: editExample(false), Problems: []int{http.StatusNotFound}, Of: OfTemplate,
	}, api.Plural{Member: "edits", Schema: "TemplateEditList"}, e.listEdits, newEditSummary)
	api.Handle(g, api.Operation{
		Method: http.MethodGet, Path: "/templates/{id}/edits/{edit}", ID: "getTemplateEdit", Needs: rights.Read,
		Summary: "Retrieve an edit of a template", Description: "Returns the draft as it was after an edit.",
		Example: map[string]any{"edit": editExample(true)}, Problems: []int{http.StatusNotFound}, Of: OfTemplate,
	}, e.getEdit)
	api.Once(g, api.Operation{
		Path: "/templates/{id}/edits/{edit}/restore", ID: "restoreTemplateEdit", Needs: rights.Write,
		Summary: "Restore an edit of a template",
		Description: "Makes an earlier edit the draft, as a new edit. The present draft stays in the history. `alias` " +
			"and `name` do not change.",
		Example: map[string]any{"template": templateExample()}, Problems: []int{http.StatusNotFound}, Of: OfTemplate,
	}, e.restoreEdit)
}

func (e *edge) listEdits(ctx context.Context, c *api.Call,
	in *versionsQuery) (page.Page[named[*ent.TemplateEdit]], error) {
	found, err := e.templates.Edits(ctx, c.AccountID, in.ID, in.Request())
	if err != nil {
		return page.Page[named[*ent.TemplateEdit]]{}, err
	}
	rows, err := nameAuthors(ctx, e, c, found.Items, func(v *ent.TemplateEdit) string { return v.Author })
	return page.WithItems(found, rows), err
}

func (e *edge) getEdit(ctx context.Context, c *api.Call, in *editInput) (editAnswer, error) {
	n, err := findNumbered(ctx, e, c, in.ID, "edit", in.Edit, e.templates.Edit,
		func(v *ent.TemplateEdit) string { return v.Author })
	if err != nil {
		return editAnswer{}, err
	}
	return editAnswer{editRecord{EditSummary: newEditSummary(n), HTML: n.row.HTML, Text: n.row.Text,
		Translations: translationsOf(n.row.Translations)}}, nil
}

func (e *edge) restoreEdit(ctx context.Context, c *api.Call, in *editInput,
	keep api.StoreResponse) (out templateAnswer, err error) {
	if _, err := e.templates.Get(ctx, c.AccountID, in.ID); err != nil {
		return out, err
	}
	number, err := pathNumber("edit", in.Edit)
	if err != nil {
		return out, err
	}
	now, err := e.templates.RestoreEdit(ctx, c.AccountID, in.ID, number, c.Caller.ID(),
		api.AdaptStore(keep, newTemplateAnswer))
	if err == nil {
		c.Debit(ctx, bodySize(now))
	}
	return api.As(newTemplateAnswer)(now, err)
}

func newEditSummary(n named[*ent.TemplateEdit]) EditSummary {
	e := n.row
	return EditSummary{TemplateID: e.TemplateID, Edit: e.Number, Author: n.author, Subject: wire.OrNull(e.Subject),
		From: wire.OrNull(e.From), ReplyTo: wire.List(e.ReplyTo), Variables: variablesOf(e.Variables),
		UnsubscribeEnabled: e.UnsubscribeEnabled, Category: e.Category, StartedAt: wire.Time(e.CreatedAt),
		SavedAt: wire.Time(e.UpdatedAt)}
}

func editExample(whole bool) map[string]any {
	v := map[string]any{
		"template_id": "tpl_01kf0m4w7he6x8q2v5b3n9c1ta", "edit": 12, "author": "ada@example.com",
		"subject": "Your receipt, {{customer.name}}", "from": "Ada <ada@example.com>",
		"reply_to": []any{"help@example.com"}, "variables": []any{variableExample()}, "unsubscribe_enabled": false,
		"category": "Receipts", "started_at": "2026-01-15T09:25:00.000Z", "saved_at": "2026-01-15T09:30:00.000Z",
	}
	if whole {
		v["html"], v["text"] = "<p>Thank you, {{customer.name}}.</p>", "Thank you, {{customer.name}}."
		v["translations"] = []any{translationExample()}
	}
	return v
}
