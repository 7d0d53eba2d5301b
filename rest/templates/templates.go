package templates

import (
	"context"
	"net/http"
	"strings"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/templates"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/wire"
	"github.com/postrider/postrider/runtime/storage/page"
)

// Service is the part of templates that the template operations use. A template is identified by its ID or its alias.
type Service interface {
	Add(ctx context.Context, accountID string, in templates.NewTemplate) (templates.Template, error)
	List(ctx context.Context, accountID string, q templates.ListQuery) (page.Page[templates.Template], error)
	Get(ctx context.Context, accountID, idOrAlias string) (templates.Template, error)
	Update(ctx context.Context, accountID, idOrAlias string, c templates.TemplateChange,
		by templates.Revision) (templates.Template, error)
	Delete(ctx context.Context, accountID, idOrAlias string, force bool) error
	Duplicate(ctx context.Context, accountID, idOrAlias string,
		keep templates.StoreTemplateResponse) (templates.Template, error)
	publishing
	history
	pictures
	translating
}

var _ Service = (*templates.Service)(nil)

// Names returns the display names of users and API keys by ID.
type Names interface {
	NamesOf(ctx context.Context, accountID string, ids ...string) (map[string]string, error)
}

var _ Names = (*accounts.Service)(nil)

// Tag is the tag of these operations and of those about the statistics of templates.
const Tag = "Templates"

// TemplateSummary is a template in a list. It is exported because it is embedded.
type TemplateSummary struct {
	ID                    string             `json:"id" doc:"The ID of the template." example:"tpl_01kf0m4w7he6x8q2v5b3n9c1ta"`
	Kind                  string             `json:"kind" enum:"template,layout,partial" doc:"layout and partial: a part of templates, which cannot be sent."`
	Alias                 *string            `json:"alias" doc:"Your own identifier for the template; null if there is none."`
	Name                  string             `json:"name" doc:"A human-readable name."`
	Subject               *string            `json:"subject" doc:"The subject; null if the send must provide it."`
	From                  *string            `json:"from" doc:"The default sender; null if the send must provide it."`
	ReplyTo               []string           `json:"reply_to" nullable:"false" doc:"The addresses that replies are sent to."`
	Locales               []templateLocale   `json:"locales" nullable:"false" doc:"The languages of the translations, and what they lack."`
	Variables             []templateVariable `json:"variables" nullable:"false" doc:"The variables of the template."`
	UnsubscribeEnabled    bool               `json:"unsubscribe_enabled" doc:"Whether unsubscribes are managed for sends that do not set unsubscribe."`
	Category              *string            `json:"category" doc:"The category of sends that do not set one."`
	Status                string             `json:"status" enum:"draft,published" doc:"draft: never published, so sends cannot use it."`
	Version               *int               `json:"version" doc:"Number of the published version; null for a draft."`
	PublishedAt           wire.OptionalTime  `json:"published_at" doc:"When the template was last published. null if it never was."`
	Components            []usedComponent    `json:"components" nullable:"false" doc:"The layout and the partials of the published version. Empty if there are none."`
	HasNewerComponents    bool               `json:"has_newer_components" doc:"Whether a newer version of a layout or a partial is published. Publish the template to use it."`
	HasUnpublishedChanges bool               `json:"has_unpublished_changes" doc:"Whether the draft differs from the published version."`
	CreatedAt             wire.Time          `json:"created_at" doc:"When the template was created."`
	UpdatedAt             wire.Time          `json:"updated_at" doc:"When the draft was last changed."`
}

// templateRecord is a template in a response: its draft.
type templateRecord struct {
	TemplateSummary

	HTML *string `json:"html" doc:"The HTML source; null if there is none."`
	Text *string `json:"text" doc:"The text source; null if there is none, and each email then gets a text part generated from its HTML."`

	Translations []templateTranslation `json:"translations" nullable:"false" doc:"The content in other languages."`

	Etag string `json:"etag" doc:"Version tag of the draft, name and alias. Send it in If-Match to update only the state that you have read."`
}

type templateLocale struct {
	Locale  string   `json:"locale" doc:"The language as a BCP 47 tag." example:"pt-BR"`
	Missing []string `json:"missing" enum:"subject,html,text" nullable:"false" doc:"The parts that the template has and the translation lacks. Emails then have the subject or the bodies of the template."`
}

type templateTranslation struct {
	Locale  string  `json:"locale" doc:"The language as a BCP 47 tag." example:"pt-BR"`
	Subject *string `json:"subject" doc:"The subject; null if it is that of the template."`
	HTML    *string `json:"html" doc:"The HTML; null if there is none."`
	Text    *string `json:"text" doc:"The text; null if there is none."`
}

type usedComponent struct {
	Kind          string  `json:"kind" enum:"layout,partial" doc:"The kind of the component."`
	TemplateID    string  `json:"template_id" doc:"The ID of the layout or partial." example:"tpl_01kf0m4w7he6x8q2v5b3n9c1tb"`
	Alias         *string `json:"alias" doc:"Its alias; null if it has none now."`
	Name          *string `json:"name" doc:"Its name; null if it was deleted."`
	Version       int     `json:"version" doc:"Number of the version that the published template contains."`
	LatestVersion *int    `json:"latest_version" doc:"Number of the version that is published now; null if it was deleted."`
}

func componentsOf(list []templates.UsedComponent) []usedComponent {
	out := make([]usedComponent, 0, len(list))
	for _, c := range list {
		out = append(out, usedComponent{c.Kind, c.TemplateID, c.Alias, wire.OrNull(c.Name), c.Version, c.LatestVersion})
	}
	return out
}

type templateVariable struct {
	Key      string `json:"key" doc:"The name of the variable." example:"customer.name"`
	Type     string `json:"type" enum:"string,number,boolean,list,object" doc:"The type of the value."`
	Required bool   `json:"required" doc:"Whether a send without the variable is refused."`
	Fallback any    `json:"fallback" doc:"Any JSON value of the type of the variable: used if a send does not provide one. null if there is none."`
	Example  any    `json:"example" doc:"Any JSON value of the type of the variable, for previews. null if there is none."`
}

func newTemplateSummary(t templates.Template) TemplateSummary {
	return TemplateSummary{ID: t.ID, Kind: t.Kind, Components: componentsOf(t.Used),
		HasNewerComponents: t.HasNewerComponents(), Alias: t.Alias, Name: t.Name, Subject: wire.OrNull(t.Subject),
		From: wire.OrNull(t.From), ReplyTo: wire.List(t.ReplyTo),
		Locales:   localesOf(t.Locales()),
		Variables: variablesOf(t.Variables), UnsubscribeEnabled: t.UnsubscribeEnabled, Category: t.Category,
		Status: t.Status(), Version: t.Version,
		PublishedAt: wire.OptionalTime{At: t.PublishedAt}, HasUnpublishedChanges: t.HasUnpublishedChanges,
		CreatedAt: wire.Time(t.CreatedAt), UpdatedAt: wire.Time(t.UpdatedAt)}
}

func newTemplateRecord(t templates.Template) templateRecord {
	return templateRecord{TemplateSummary: newTemplateSummary(t), HTML: t.HTML, Text: t.Text,
		Translations: translationsOf(t.Translations), Etag: t.Etag()}
}

func localesOf(list []templates.Locale) []templateLocale {
	out := make([]templateLocale, 0, len(list))
	for _, l := range list {
		out = append(out, templateLocale{l.Tag, wire.List(l.Missing)})
	}
	return out
}

func translationsOf(list []shape.Translation) []templateTranslation {
	out := make([]templateTranslation, 0, len(list))
	for _, t := range list {
		out = append(out, templateTranslation{t.Locale, wire.OrNull(t.Subject), wire.OrNull(t.HTML), wire.OrNull(t.Text)})
	}
	return out
}

func variablesOf(list []shape.Variable) []templateVariable {
	out := make([]templateVariable, 0, len(list))
	for _, v := range list {
		out = append(out, templateVariable(v))
	}
	return out
}

type templateAnswer struct {
	Template templateRecord `json:"template" doc:"The template."`
}

type query struct {
	api.Page

	Kind   string `query:"kind" enum:"template,layout,partial" doc:"Return only templates of this kind."`
	Newer  bool   `query:"has_newer_components" default:"false" doc:"With true, return only templates for which a newer version of their layout or of a partial is published."`
	Alias  string `query:"alias" doc:"Return only the template with exactly this alias."`
	Status string `query:"status" enum:"draft,published" doc:"Return only templates with this status."`
	Q      string `query:"q" doc:"Part of the name, ignoring case."`
}

// authorizeForce returns an error if a change is forced by a caller that cannot change the account.
func authorizeForce(c *api.Call, force bool) error {
	if !force {
		return nil
	}
	return c.Authorize(rights.Settings)
}

type deleteItem struct {
	api.Item

	Force bool `query:"force" default:"false" doc:"Delete it even if it is in use. Requires the right settings: owners, admins, and API keys with scope full and without permissions."`
}

func (e *edge) deleteTemplate(ctx context.Context, c *api.Call, in *deleteItem) (api.OkAnswer, error) {
	if err := authorizeForce(c, in.Force); err != nil {
		return api.OkAnswer{}, err
	}
	return api.OkAnswer{OK: true}, e.templates.Delete(ctx, c.AccountID, in.ID, in.Force)
}

type changeItem struct {
	api.Item

	Force   bool   `query:"force" default:"false" doc:"Change the alias even if it is in use. Requires the right settings: owners, admins, and API keys with scope full and without permissions."`
	IfMatch string `header:"If-Match" doc:"The etag of the draft that you read. If it has changed since, the request fails with 409 conflict, with details.changed_at and details.changed_by (a display name)."`
}

const updateTemplate = "updateTemplate"

// OfTemplate is the noun for IDs and aliases of templates.
var OfTemplate = api.Noun{Name: "template", About: "ID or alias of the template.",
	Example: "tpl_01kf0m4w7he6x8q2v5b3n9c1ta", Is: templates.IsRef}

type edge struct {
	templates Service
	names     Names
	baseURL   string
}

// Routes returns the routes of the resource templates. The base URL is that of the links to images.
func Routes(service Service, names Names, baseURL string) api.Routes {
	return api.NewRoutes("templates", func(a *api.API) {
		e := &edge{templates: service, names: names, baseURL: baseURL}
		g := a.Tag(Tag, templatesDoc)
		one := map[string]any{"template": templateExample()}
		api.OnceBody(g, api.Operation{
			Path: "/templates", ID: "addTemplate", Needs: rights.Write,
			Summary: "Create a template",
			Description: "Creates a draft, which must be published before a send can use it. The sources are " +
				"checked: `details` contains the line of each error. An `alias` that another template of the " +
				"account uses fails with 409 `conflict`.",
			Body: &api.Body{Limit: bodyLimit, About: "The template.",
				Examples: map[string]any{"receipt": addTemplateExample()}},
			Example: one,
		}, addBody, e.addTemplate)
		api.ListBy(g, api.Operation{
			Path: "/templates", ID: "listTemplates", Needs: rights.Read,
			Summary: "List templates", Description: "Lists templates, newest first, without `html` and `text`.",
			Example: templateSummaryExample(),
		}, api.Plural{Member: "templates", Schema: "TemplateList"}, e.listTemplates, newTemplateSummary)
		api.Get(g, api.Operation{
			Path: "/templates/{id}", ID: "getTemplate", Needs: rights.Read,
			Summary: "Retrieve a template", Description: "Returns the draft of a template. List its versions for " +
				"the published content.", Example: one, Of: OfTemplate,
		}, e.templates.Get, newTemplateAnswer)
		api.HandleBody(g, api.Operation{
			Method: http.MethodPatch, Path: "/templates/{id}", ID: updateTemplate, Needs: rights.Write,
			Summary: "Change a template",
			Description: "Updates the draft. Sends use the published version until you publish again. `alias` and " +
				"`name` change immediately. Omitted fields keep their value. `null` clears `alias`, `subject`, " +
				"`from`, `reply_to`, `html`, `text`, `translations` or `category`, and is refused for other fields. The alias cannot " +
				"change while an automation or a published template uses it: 409 `conflict`, with the names in " +
				"`details.used_by`, unless `force` is true.",
			Body: &api.Body{Limit: bodyLimit, About: "The fields to change.",
				Examples: map[string]any{"subject": map[string]any{"subject": "Your receipt for {{order}}"}}},
			Example: one, Problems: []int{http.StatusNotFound, http.StatusConflict}, Of: OfTemplate,
		}, changeBody, e.updateTemplate)
		api.Handle(g, api.Operation{
			Method: http.MethodDelete, Path: "/templates/{id}", ID: "deleteTemplate", Needs: rights.Write,
			Summary: "Delete a template", Description: "Deletes a template and its versions. Emails that were sent " +
				"with it do not change, nor do published templates that contain it. While an automation uses a template, " +
				"or a published template contains a layout or partial, it cannot be deleted: 409 `conflict`, with the " +
				"names in `details.used_by`, unless `force` is true.",
			Example:  map[string]any{"ok": true},
			Problems: []int{http.StatusNotFound, http.StatusConflict}, Of: OfTemplate,
		}, e.deleteTemplate)
		api.Once(g, api.Operation{
			Path: "/templates/{id}/duplicate", ID: "duplicateTemplate", Needs: rights.Write,
			Summary: "Duplicate a template", Description: "Creates a new draft from the draft of a template, " +
				"without an alias and with `(copy)` appended to its name.",
			Example: one, Problems: []int{http.StatusNotFound}, Of: OfTemplate,
		}, e.duplicateTemplate)
		e.addPublishing(g)
		e.addHistory(g)
		e.addImages(g)
		e.addStrings(g)
	})
}

func newTemplateAnswer(t templates.Template) templateAnswer {
	return templateAnswer{newTemplateRecord(t)}
}

func (e *edge) addTemplate(ctx context.Context, c *api.Call, _ *api.None, in templates.NewTemplate,
	keep api.StoreResponse) (templateAnswer, error) {
	in.Keep = api.AdaptStore(keep, newTemplateAnswer)
	return api.As(newTemplateAnswer)(e.templates.Add(ctx, c.AccountID, in))
}

func (e *edge) duplicateTemplate(ctx context.Context, c *api.Call, in *api.Item,
	keep api.StoreResponse) (templateAnswer, error) {
	made, err := e.templates.Duplicate(ctx, c.AccountID, in.ID, api.AdaptStore(keep, newTemplateAnswer))
	if err == nil {
		c.Debit(ctx, bodySize(made))
	}
	return api.As(newTemplateAnswer)(made, err)
}

func (e *edge) listTemplates(ctx context.Context, c *api.Call, in *query) (page.Page[templates.Template], error) {
	return e.templates.List(ctx, c.AccountID,
		templates.ListQuery{Page: in.Request(), Kind: in.Kind, HasNewerComponents: in.Newer, Alias: in.Alias,
			Status: in.Status, Name: in.Q})
}

func (e *edge) updateTemplate(ctx context.Context, c *api.Call, in *changeItem,
	change templates.TemplateChange) (templateAnswer, error) {
	if err := authorizeForce(c, in.Force); err != nil {
		return templateAnswer{}, err
	}
	changed, err := e.templates.Update(ctx, c.AccountID, in.ID, change,
		templates.Revision{Etag: strings.Trim(in.IfMatch, `"`), Author: c.Caller.ID(), Force: in.Force})
	return api.As(newTemplateAnswer)(changed, c.AddConflictName(ctx, updateTemplate, in.ID, err))
}
