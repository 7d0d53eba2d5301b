package rest

import (
	"context"
	"net/http"
	"reflect"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/templates"
	"github.com/postrider/postrider/runtime/idempotency"
	"github.com/postrider/postrider/runtime/page"
)

// templatePublishing is what the operations on versions need of templates.
type templatePublishing interface {
	Publish(ctx context.Context, accountID, idOrAlias string, keep templates.KeepPublication) (templates.Publication, error)
	Rollback(ctx context.Context, accountID, idOrAlias string, number int, keep templates.KeepPublication) (templates.Publication, error)
	Preview(ctx context.Context, accountID, idOrAlias string, in templates.PreviewInput) (templates.Rendered, error)
	Versions(ctx context.Context, accountID, idOrAlias string, r page.Request) (page.Page[*ent.TemplateVersion], error)
	Version(ctx context.Context, accountID, idOrAlias string, number int) (*ent.TemplateVersion, error)
}

type publicationAnswer struct {
	Template templateRecord `json:"template"`
	Warnings []string       `json:"warnings" nullable:"false" doc:"What was left undone, in sentences; empty when all went well."`
}

type renderedTemplate struct {
	Subject *string `json:"subject" doc:"null where the template has none."`
	HTML    *string `json:"html" doc:"null where the template has none."`
	Text    *string `json:"text" doc:"null where the template has none."`
}

type renderedAnswer struct {
	Rendered renderedTemplate `json:"rendered"`
}

type versionList struct {
	Versions   []versionSummary `json:"versions" nullable:"false"`
	HasMore    bool             `json:"has_more"`
	NextCursor *string          `json:"next_cursor" doc:"Give it as cursor to get the next page; null on the last."`
}

type versionAnswer struct {
	Version versionRecord `json:"version"`
}

type versionsInput struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"25" doc:"How many to return."`
	Cursor string `query:"cursor" doc:"next_cursor of the page before; opaque. Left out: the newest."`
	ID     string `path:"id" doc:"Id or alias of the template." example:"tpl_01kf0m4w7he6x8q2v5b3n9c1ta"`
}

type versionInput struct {
	ID      string `path:"id" doc:"Id or alias of the template." example:"tpl_01kf0m4w7he6x8q2v5b3n9c1ta"`
	Version string `path:"version" doc:"Number of the version." example:"3"`
}

func (e *templateEdge) publishing(a *API) {
	published := map[string]any{"template": templateExample(), "warnings": []any{}}
	add(a, operation{
		method: http.MethodPost, path: "/templates/{id}/publish", id: "publishTemplate", tag: tagTemplates, needs: accounts.Write, idempotent: true,
		summary: "Publish a template",
		description: "Makes the draft the version that sends use: at once in this process, within a second in others. `html` or `text` is required, and every variable " +
			"that is used must be declared. CSS in `<style>` is inlined where that leaves the structure of the HTML alone, otherwise `warnings` says why not; rules of media queries stay " +
			"in `<style>`. A text part is made from `html` when none is given. A draft without changes makes no new version.",
		answer: reflect.TypeFor[publicationAnswer](), example: published, problems: []int{http.StatusNotFound},
	}, e.publish)
	add(a, operation{
		method: http.MethodPost, path: "/templates/{id}/rollback", id: "rollbackTemplate", tag: tagTemplates, needs: accounts.Write, idempotent: true,
		summary: "Roll a template back",
		description: "Publishes what an earlier version said once more, as a new version, and makes it the draft: changes that were not published are gone. " +
			"`alias` and `name` stay.",
		body:   &requestBody{description: "Which version.", schema: "RollbackTemplate", examples: map[string]any{"first": map[string]any{"version": 1}}},
		answer: reflect.TypeFor[publicationAnswer](), example: published, problems: []int{http.StatusNotFound},
	}, e.rollback)
	register(a, operation{
		method: http.MethodPost, path: "/templates/{id}/render", id: "renderTemplate", tag: tagTemplates, needs: accounts.Write,
		summary: "Render a template",
		description: "Fills the gaps and sends nothing: the draft, or a version as it would be sent. Variables are judged as for a send. `{{unsubscribe_url}}` stays as it is, " +
			"because only a send has a link.",
		body: &requestBody{description: "Values, and which version.", schema: "RenderTemplate",
			examples: map[string]any{"draft": map[string]any{"variables": renderVariablesExample()}, "version": map[string]any{"version": 1, "variables": renderVariablesExample()}}},
		example:  map[string]any{"rendered": map[string]any{"subject": "Your receipt, Ada", "html": "<p>Thank you, Ada.</p>", "text": "Thank you, Ada."}},
		problems: []int{http.StatusNotFound},
	}, e.render)
	register(a, operation{
		method: http.MethodGet, path: "/templates/{id}/versions", id: "listTemplateVersions", tag: tagTemplates, needs: accounts.Read,
		summary: "List a template's versions", description: "Newest first, without `html` and `text`.",
		example:  map[string]any{"versions": []any{versionExample(false)}, "has_more": false, "next_cursor": nil},
		problems: []int{http.StatusNotFound},
	}, e.versions)
	register(a, operation{
		method: http.MethodGet, path: "/templates/{id}/versions/{version}", id: "getTemplateVersion", tag: tagTemplates, needs: accounts.Read,
		summary: "Retrieve a version of a template", description: "As it is sent. It never changes.",
		example: map[string]any{"version": versionExample(true)}, problems: []int{http.StatusNotFound},
	}, e.version)
}

func newPublicationAnswer(p templates.Publication) publicationAnswer {
	return publicationAnswer{newTemplateRecord(p.Template), listed(p.Warnings)}
}

func (e *templateEdge) publish(ctx context.Context, in *templateRef) (*stored, error) {
	c := callOf(ctx)
	return e.once(ctx, c, "/"+in.ID+"/publish", func(keep keeper) (any, error) {
		if err := isTemplate(in.ID); err != nil {
			return nil, err
		}
		done, err := e.templates.Publish(ctx, c.AccountID, in.ID, keepPublication(keep))
		if err != nil {
			return nil, err
		}
		return newPublicationAnswer(done), nil
	})
}

func keepPublication(keep keeper) templates.KeepPublication {
	return func(ctx context.Context, tx idempotency.Execer, p templates.Publication) error {
		return keep(ctx, tx, newPublicationAnswer(p))
	}
}

func (e *templateEdge) rollback(ctx context.Context, in *templateRef) (*stored, error) {
	c := callOf(ctx)
	body, err := parseObject(c.body)
	if err != nil {
		return nil, e.api.fail(ctx, c.requestID, err)
	}
	return e.once(ctx, c, "/"+in.ID+"/rollback", func(keep keeper) (any, error) {
		number, err := decodeRollback(body)
		if err != nil {
			return nil, err
		}
		if err := isTemplate(in.ID); err != nil {
			return nil, err
		}
		done, err := e.templates.Rollback(ctx, c.AccountID, in.ID, number, keepPublication(keep))
		if err != nil {
			return nil, err
		}
		return newPublicationAnswer(done), nil
	})
}

func (e *templateEdge) render(ctx context.Context, c *call, in *templateRef) (*renderedAnswer, error) {
	body, err := parseObject(c.body)
	if err != nil {
		return nil, err
	}
	preview, err := decodePreview(body)
	if err != nil {
		return nil, err
	}
	if err := isTemplate(in.ID); err != nil {
		return nil, err
	}
	done, err := e.templates.Preview(ctx, c.AccountID, in.ID, preview)
	if err != nil {
		return nil, err
	}
	return &renderedAnswer{renderedTemplate{Subject: filled(done.Subject), HTML: filled(done.HTML), Text: filled(done.Text)}}, nil
}

func (e *templateEdge) versions(ctx context.Context, c *call, in *versionsInput) (*versionList, error) {
	if err := isTemplate(in.ID); err != nil {
		return nil, err
	}
	found, err := e.templates.Versions(ctx, c.AccountID, in.ID, page.Request{Limit: in.Limit, Cursor: in.Cursor})
	if err != nil {
		return nil, err
	}
	out := versionList{Versions: []versionSummary{}, HasMore: found.HasMore, NextCursor: nextCursor(found.NextCursor)}
	for _, v := range found.Items {
		out.Versions = append(out.Versions, newVersionSummary(v))
	}
	return &out, nil
}

func (e *templateEdge) version(ctx context.Context, c *call, in *versionInput) (*versionAnswer, error) {
	if err := isTemplate(in.ID); err != nil {
		return nil, err
	}
	if _, err := e.templates.Get(ctx, c.AccountID, in.ID); err != nil {
		return nil, err // which template it is comes before which version
	}
	number, err := versionNumber(in.Version)
	if err != nil {
		return nil, err
	}
	v, err := e.templates.Version(ctx, c.AccountID, in.ID, number)
	if err != nil {
		return nil, err
	}
	return &versionAnswer{versionRecord{versionSummary: newVersionSummary(v), HTML: v.HTML, Text: v.Text}}, nil
}
