package rest

import (
	"context"
	"net/http"
	"reflect"
	"strconv"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/templates"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/idempotency"
	"github.com/postrider/postrider/runtime/page"
)

// TemplateService is what the template operations need of templates. A template
// is named by its id or its alias.
type TemplateService interface {
	Add(ctx context.Context, accountID string, in templates.AddInput) (templates.Template, error)
	List(ctx context.Context, accountID string, q templates.ListQuery) (page.Page[templates.Template], error)
	Get(ctx context.Context, accountID, idOrAlias string) (templates.Template, error)
	Update(ctx context.Context, accountID, idOrAlias string, c templates.Change) (templates.Template, error)
	Delete(ctx context.Context, accountID, idOrAlias string) error
	Duplicate(ctx context.Context, accountID, idOrAlias string, keep templates.Keep) (templates.Template, error)
	templatePublishing
}

var _ TemplateService = (*templates.Service)(nil)

const tagTemplates = "Templates"

// templateSummary is a template in a list.
type templateSummary struct {
	ID                    string             `json:"id" example:"tpl_01kf0m4w7he6x8q2v5b3n9c1ta"`
	Alias                 *string            `json:"alias" doc:"Your own name for it, for programs; null without one."`
	Name                  string             `json:"name"`
	Subject               *string            `json:"subject" doc:"null leaves it to the send."`
	From                  *string            `json:"from" doc:"null leaves it to the send."`
	ReplyTo               []string           `json:"reply_to" nullable:"false"`
	Variables             []templateVariable `json:"variables" nullable:"false"`
	UnsubscribeEnabled    bool               `json:"unsubscribe_enabled" doc:"What holds for sends that do not say unsubscribe themselves."`
	Category              *string            `json:"category" doc:"What holds for sends that name none."`
	Status                string             `json:"status" enum:"draft,published" doc:"draft: never published, no send can use it."`
	Version               *int               `json:"version" doc:"Number of the published version; null for a draft."`
	PublishedAt           optionalTimestamp  `json:"published_at"`
	HasUnpublishedChanges bool               `json:"has_unpublished_changes" doc:"Whether the fields here say something else than the published version."`
	CreatedAt             timestamp          `json:"created_at"`
	UpdatedAt             timestamp          `json:"updated_at"`
}

// templateRecord is a template as callers see it: its draft.
type templateRecord struct {
	templateSummary

	HTML *string `json:"html" doc:"As it was written; null without one."`
	Text *string `json:"text" doc:"As it was written; null without one: publishing makes it from html then."`
}

type templateVariable struct {
	Key      string `json:"key" example:"customer.name"`
	Type     string `json:"type" enum:"string,number,boolean,list,object"`
	Required bool   `json:"required" doc:"A send without it is refused."`
	Fallback any    `json:"fallback" doc:"What stands there when a send does not give it."`
}

func newTemplateSummary(t templates.Template) templateSummary {
	return templateSummary{ID: t.ID, Alias: t.Alias, Name: t.Name, Subject: filled(t.Subject), From: filled(t.From), ReplyTo: listed(t.ReplyTo),
		Variables: variablesOf(t.Variables), UnsubscribeEnabled: t.UnsubscribeEnabled, Category: t.Category, Status: t.Status(), Version: t.Version,
		PublishedAt: optionalTimestamp{t.PublishedAt}, HasUnpublishedChanges: t.HasUnpublishedChanges,
		CreatedAt: timestamp(t.CreatedAt), UpdatedAt: timestamp(t.UpdatedAt)}
}

func newTemplateRecord(t templates.Template) templateRecord {
	return templateRecord{templateSummary: newTemplateSummary(t), HTML: t.HTML, Text: t.Text}
}

func variablesOf(list []shape.Variable) []templateVariable {
	out := make([]templateVariable, 0, len(list))
	for _, v := range list {
		out = append(out, templateVariable(v))
	}
	return out
}

// filled is null for what is stored as an empty string.
func filled(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

type templateAnswer struct {
	Template templateRecord `json:"template"`
}

type templateList struct {
	Templates  []templateSummary `json:"templates" nullable:"false"`
	HasMore    bool              `json:"has_more"`
	NextCursor *string           `json:"next_cursor" doc:"Give it as cursor to get the next page; null on the last."`
}

type templateRef struct {
	ID string `path:"id" doc:"Id or alias of the template." example:"tpl_01kf0m4w7he6x8q2v5b3n9c1ta"`
}

// isTemplate spares the service what can be no template.
func isTemplate(ref string) error {
	if !templates.IsRef(ref) {
		return fault.Missing("template", shown(ref))
	}
	return nil
}

type templatesInput struct { // Huma looks into no embedded struct, so pageInput is written out
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"25" doc:"How many to return."`
	Cursor string `query:"cursor" doc:"next_cursor of the page before; opaque. Left out: the newest."`
	Alias  string `query:"alias" doc:"The template of exactly this alias."`
	Status string `query:"status" enum:"draft,published" doc:"Only those."`
	Q      string `query:"q" doc:"A part of the name, in upper or lower case."`
}

type templateEdge struct {
	api       *API
	templates TemplateService
	store     Idempotency
}

// Templates makes the routes of the resource templates.
func Templates(service TemplateService, store Idempotency) Routes {
	return Routes{name: "templates", add: func(a *API) {
		e := &templateEdge{api: a, templates: service, store: store}
		a.describeTag(tagTemplates, templatesDoc)
		for name, schema := range templateSchemas() {
			a.describeBody(name, schema)
		}
		one := map[string]any{"template": templateExample()}
		add(a, operation{
			method: http.MethodPost, path: "/templates", id: "addTemplate", tag: tagTemplates, needs: accounts.Write, idempotent: true,
			summary: "Create a template",
			description: "Makes a draft; publish it before a send uses it. The sources are judged: `details` names the line of what is wrong. " +
				"An `alias` that another template of the account has is 409 `conflict`.",
			body:   &requestBody{limit: templateBodyLimit, description: "The template.", schema: "AddTemplate", examples: map[string]any{"receipt": addTemplateExample()}},
			answer: reflect.TypeFor[templateAnswer](), example: one,
		}, e.create)
		register(a, operation{
			method: http.MethodGet, path: "/templates", id: "listTemplates", tag: tagTemplates, needs: accounts.Read,
			summary: "List templates", description: "Newest first, without `html` and `text`.",
			example: map[string]any{"templates": []any{templateSummaryExample()}, "has_more": false, "next_cursor": nil},
		}, e.list)
		register(a, operation{
			method: http.MethodGet, path: "/templates/{id}", id: "getTemplate", tag: tagTemplates, needs: accounts.Read,
			summary: "Retrieve a template", description: "The draft. What is published is among the versions.", example: one, problems: []int{http.StatusNotFound},
		}, e.get)
		register(a, operation{
			method: http.MethodPatch, path: "/templates/{id}", id: "updateTemplate", tag: tagTemplates, needs: accounts.Write,
			summary: "Change a template",
			description: "Changes the draft; sends go on with the published version until it is published. `alias` and `name` change at once. A field that is left out stays. " +
				"`null` takes `alias`, `subject`, `from`, `reply_to`, `html`, `text` or `category` away; for others it is refused.",
			body: &requestBody{limit: templateBodyLimit, description: "What to change, at least one field.", schema: "UpdateTemplate",
				examples: map[string]any{"subject": map[string]any{"subject": "Your receipt for {{order}}"}}},
			example: one, problems: []int{http.StatusNotFound, http.StatusConflict},
		}, e.update)
		register(a, operation{
			method: http.MethodDelete, path: "/templates/{id}", id: "deleteTemplate", tag: tagTemplates, needs: accounts.Write,
			summary: "Delete a template", description: "Takes it away with its versions. Emails that were sent with it stay as they are.",
			example: map[string]any{"ok": true}, problems: []int{http.StatusNotFound},
		}, e.delete)
		add(a, operation{
			method: http.MethodPost, path: "/templates/{id}/duplicate", id: "duplicateTemplate", tag: tagTemplates, needs: accounts.Write, idempotent: true,
			summary: "Duplicate a template", description: "Makes a new draft of the draft: without an alias, and with `(copy)` behind its name.",
			answer: reflect.TypeFor[templateAnswer](), example: one, problems: []int{http.StatusNotFound},
		}, e.duplicate)
		e.publishing(a)
	}}
}

// create keeps its answer under the key in the transaction that makes the template.
func (e *templateEdge) create(ctx context.Context, _ *none) (*stored, error) {
	c := callOf(ctx)
	body, err := parseObject(c.body)
	if err != nil {
		return nil, e.api.fail(ctx, c.requestID, err)
	}
	return e.once(ctx, c, "", func(keep keeper) (any, error) {
		in, err := decodeAddTemplate(body)
		if err != nil {
			return nil, err
		}
		in.Keep = func(ctx context.Context, tx idempotency.Execer, t templates.Template) error {
			return keep(ctx, tx, templateAnswer{newTemplateRecord(t)})
		}
		return e.made(e.templates.Add(ctx, c.AccountID, in))
	})
}

func (e *templateEdge) duplicate(ctx context.Context, in *templateRef) (*stored, error) {
	c := callOf(ctx)
	return e.once(ctx, c, "/"+in.ID+"/duplicate", func(keep keeper) (any, error) {
		if err := isTemplate(in.ID); err != nil {
			return nil, err
		}
		return e.made(e.templates.Duplicate(ctx, c.AccountID, in.ID, func(ctx context.Context, tx idempotency.Execer, t templates.Template) error {
			return keep(ctx, tx, templateAnswer{newTemplateRecord(t)})
		}))
	})
}

func (e *templateEdge) made(t templates.Template, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return templateAnswer{newTemplateRecord(t)}, nil
}

// keeper stores an answer under the caller's key, in the transaction of its effect.
type keeper func(ctx context.Context, tx idempotency.Execer, answer any) error

// once runs a change below /templates, or replays it.
func (e *templateEdge) once(ctx context.Context, c *call, path string, run func(keeper) (any, error)) (*stored, error) {
	if len(c.body) == 0 {
		c.body = []byte("{}") // it takes none; the key needs something to be compared with
	}
	return e.api.once(ctx, e.store, c, "POST "+Prefix+"/templates"+path, func(claim *idempotency.Claim) (idempotency.Answer, error) {
		answer, err := run(func(ctx context.Context, tx idempotency.Execer, answer any) error {
			if claim == nil {
				return nil
			}
			encoded, err := marshal(answer)
			if err != nil {
				return err
			}
			return e.store.Keep(ctx, tx, claim, idempotency.Answer{Status: http.StatusOK, Body: encoded})
		})
		if err != nil {
			return idempotency.Answer{}, err
		}
		encoded, err := marshal(answer)
		return idempotency.Answer{Status: http.StatusOK, Body: encoded}, err
	})
}

func (e *templateEdge) list(ctx context.Context, c *call, in *templatesInput) (*templateList, error) {
	found, err := e.templates.List(ctx, c.AccountID, templates.ListQuery{Page: page.Request{Limit: in.Limit, Cursor: in.Cursor},
		Alias: in.Alias, Status: in.Status, Name: in.Q})
	if err != nil {
		return nil, err
	}
	out := templateList{Templates: []templateSummary{}, HasMore: found.HasMore, NextCursor: nextCursor(found.NextCursor)}
	for _, t := range found.Items {
		out.Templates = append(out.Templates, newTemplateSummary(t))
	}
	return &out, nil
}

func (e *templateEdge) answer(t templates.Template, err error) (*templateAnswer, error) {
	if err != nil {
		return nil, err
	}
	return &templateAnswer{newTemplateRecord(t)}, nil
}

func (e *templateEdge) get(ctx context.Context, c *call, in *templateRef) (*templateAnswer, error) {
	if err := isTemplate(in.ID); err != nil {
		return nil, err
	}
	return e.answer(e.templates.Get(ctx, c.AccountID, in.ID))
}

func (e *templateEdge) update(ctx context.Context, c *call, in *templateRef) (*templateAnswer, error) {
	body, err := parseObject(c.body)
	if err != nil {
		return nil, err
	}
	change, err := decodeTemplateChange(body)
	if err != nil {
		return nil, err
	}
	if err := isTemplate(in.ID); err != nil {
		return nil, err
	}
	return e.answer(e.templates.Update(ctx, c.AccountID, in.ID, change))
}

func (e *templateEdge) delete(ctx context.Context, c *call, in *templateRef) (*okAnswer, error) {
	if err := isTemplate(in.ID); err != nil {
		return nil, err
	}
	if err := e.templates.Delete(ctx, c.AccountID, in.ID); err != nil {
		return nil, err
	}
	return &okAnswer{OK: true}, nil
}

// versionNumber reads the number of a version in a path.
func versionNumber(text string) (int, error) {
	number, err := strconv.Atoi(text)
	if err != nil || number < 1 || number > 1<<30 || strconv.Itoa(number) != text {
		return 0, fault.Missing("version", shown(text))
	}
	return number, nil
}

type versionRecord struct {
	versionSummary

	HTML *string `json:"html" doc:"As it is sent, with its CSS inlined."`
	Text *string `json:"text" doc:"As it is sent; made from html where none was given."`
}

type versionSummary struct {
	TemplateID         string             `json:"template_id"`
	Version            int                `json:"version"`
	Subject            *string            `json:"subject"`
	From               *string            `json:"from"`
	ReplyTo            []string           `json:"reply_to" nullable:"false"`
	Variables          []templateVariable `json:"variables" nullable:"false"`
	UnsubscribeEnabled bool               `json:"unsubscribe_enabled"`
	Category           *string            `json:"category"`
	PublishedAt        timestamp          `json:"published_at"`
}

func newVersionSummary(v *ent.TemplateVersion) versionSummary {
	return versionSummary{TemplateID: v.TemplateID, Version: v.Number, Subject: filled(v.Subject), From: filled(v.From), ReplyTo: listed(v.ReplyTo),
		Variables: variablesOf(v.Variables), UnsubscribeEnabled: v.UnsubscribeEnabled, Category: v.Category, PublishedAt: timestamp(v.CreatedAt)}
}
