package templates

import (
	"context"
	"net/http"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/templates"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/wire"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/mail/lint"
	"github.com/postrider/postrider/runtime/storage/page"
)

// publishing is the part of templates that the operations on versions use.
type publishing interface {
	Publish(ctx context.Context, accountID, idOrAlias, author string,
		keep templates.StorePublicationResponse) (templates.Publication, error)
	Rollback(ctx context.Context, accountID, idOrAlias string, number int, author string,
		keep templates.StorePublicationResponse) (templates.Publication, error)
	Preview(ctx context.Context, accountID, idOrAlias string, in templates.PreviewInput) (templates.Rendered, error)
	Versions(ctx context.Context, accountID, idOrAlias string, r page.Request) (page.Page[*ent.TemplateVersion], error)
	Version(ctx context.Context, accountID, idOrAlias string, number int) (*ent.TemplateVersion, error)
}

type publicationAnswer struct {
	Template templateRecord `json:"template" doc:"The template after publication."`
	Warnings []string       `json:"warnings" nullable:"false" doc:"Problems that did not prevent publishing, one sentence each. Empty if there are none."`
}

type renderedTemplate struct {
	Locale  *string `json:"locale" doc:"The language of the translation; null if the content is that of the template."`
	Subject *string `json:"subject" doc:"null if the template has none."`
	HTML    *string `json:"html" doc:"null if the template has none."`
	Text    *string `json:"text" doc:"null if the template has none. Each email then gets a text part generated from its HTML."`
}

type renderedAnswer struct {
	Rendered renderedTemplate `json:"rendered" doc:"The rendered template."`
	Findings []wire.Finding   `json:"findings" nullable:"false" doc:"Problems of the rendered content, the worst first, as in POST /emails/check. Header fields and the number of recipients are not known yet. Empty if there are none."`
}

type versionAnswer struct {
	Version versionRecord `json:"version" doc:"The version."`
}

func (e *edge) addPublishing(g *api.TagGroup) {
	published := map[string]any{"template": templateExample(), "warnings": []any{}}
	api.Once(g, api.Operation{
		Path: "/templates/{id}/publish", ID: "publishTemplate", Needs: rights.Write, Slow: true,
		Summary: "Publish a template",
		Description: "Publishes the draft as the version that sends use: immediately in this process and within a " +
			"second in others. `html` or `text` is required, and every variable used must be declared. CSS in " +
			"`<style>` is inlined if that does not change the structure of the HTML; otherwise `warnings` contains " +
			"the reason. Media query rules stay in `<style>`. If the template has no text, each email gets a text " +
			"part generated from its HTML. The layout and the partials of the draft " +
			"become a part of the version, as they are published now. A draft without changes creates no new version, " +
			"unless one of them has a newer one.",
		Example: published, Problems: []int{http.StatusNotFound}, Of: OfTemplate,
	}, e.publishTemplate)
	api.OnceBody(g, api.Operation{
		Path: "/templates/{id}/rollback", ID: "rollbackTemplate", Needs: rights.Write,
		Summary: "Roll a template back",
		Description: "Publishes the content of an earlier version as a new version and replaces the draft with it. " +
			"Unpublished changes are lost. `alias` and `name` do not change. The version keeps its layout and partials.",
		Body: &api.Body{About: "The version to restore.",
			Examples: map[string]any{"first": map[string]any{"version": 1}}},
		Example: published, Problems: []int{http.StatusNotFound}, Of: OfTemplate,
	}, rollbackBody, e.rollBackTemplate)
	api.HandleBody(g, api.Operation{
		Method: http.MethodPost, Path: "/templates/{id}/render", ID: "renderTemplate", Needs: rights.Read, Quiet: true, Slow: true,
		Summary: "Render a template",
		Description: "Renders the draft or a version as it would be sent, without sending it. Variables are checked " +
			"as for a send. `{{unsubscribe_url}}` is not replaced, because only a sent email has a link. With " +
			"`draft`, it renders the draft with changes that are not saved, and `details` contains the line and " +
			"column of each error.",
		Body: &api.Body{Limit: bodyLimit, About: "The values and the version.",
			Examples: map[string]any{"draft": map[string]any{"variables": renderVariablesExample()},
				"unsaved": map[string]any{"draft": map[string]any{"html": "<p>Thank you, {{customer.name}}.</p>"},
					"variables": renderVariablesExample()},
				"within":  map[string]any{"within": "receipt", "variables": renderVariablesExample()},
				"version": map[string]any{"version": 1, "variables": renderVariablesExample()}}},
		Example: map[string]any{"rendered": map[string]any{"locale": nil, "subject": "Your receipt, Ada",
			"html": "<p>Thank you, Ada.</p>", "text": "Thank you, Ada."}, "findings": []any{wire.FindingExample()}},
		Problems: []int{http.StatusNotFound}, Of: OfTemplate,
	}, renderBody, e.renderTemplate)
	api.ListBy(g, api.Operation{
		Path: "/templates/{id}/versions", ID: "listTemplateVersions", Needs: rights.Read,
		Summary: "List a template's versions", Description: "Lists the versions of a template, newest first, " +
			"without `html` and `text`.",
		Example:  versionExample(false),
		Problems: []int{http.StatusNotFound}, Of: OfTemplate,
	}, api.Plural{Member: "versions", Schema: "VersionList"}, e.listVersions, newVersionSummary)
	api.Handle(g, api.Operation{
		Method: http.MethodGet, Path: "/templates/{id}/versions/{version}", ID: "getTemplateVersion",
		Needs:   rights.Read,
		Summary: "Retrieve a version of a template", Description: "Returns a version of a template as it is sent. A " +
			"version never changes.",
		Example: map[string]any{"version": versionExample(true)}, Problems: []int{http.StatusNotFound}, Of: OfTemplate,
	}, e.getVersion)
}

func newPublicationAnswer(p templates.Publication) publicationAnswer {
	return publicationAnswer{newTemplateRecord(p.Template), wire.List(p.Warnings)}
}

func (e *edge) publishTemplate(ctx context.Context, c *api.Call, in *api.Item,
	keep api.StoreResponse) (publicationAnswer, error) {
	return answerPublished(ctx, c)(e.templates.Publish(ctx, c.AccountID, in.ID, c.Caller.ID(),
		api.AdaptStore(keep, newPublicationAnswer)))
}

func (e *edge) rollBackTemplate(ctx context.Context, c *api.Call, in *api.Item, number int,
	keep api.StoreResponse) (publicationAnswer, error) {
	return answerPublished(ctx, c)(e.templates.Rollback(ctx, c.AccountID, in.ID, number, c.Caller.ID(),
		api.AdaptStore(keep, newPublicationAnswer)))
}

// answerPublished returns the response to a publication. It also charges the bytes of the version, which the request
// did not contain: source and result, in two forms each.
func answerPublished(ctx context.Context, c *api.Call) func(templates.Publication, error) (publicationAnswer, error) {
	return func(p templates.Publication, err error) (publicationAnswer, error) {
		// a draft without changes creates no version
		if err == nil && p.Template.PublishedAt != nil && time.Since(*p.Template.PublishedAt).Abs() < time.Minute {
			c.Debit(ctx, max(2*bodySize(p.Template), p.Size))
		}
		return api.As(newPublicationAnswer)(p, err)
	}
}

// bodySize returns the bytes of a template's draft.
func bodySize(t templates.Template) (bytes int) {
	for _, text := range []*string{t.HTML, t.Text} {
		if text != nil {
			bytes += len(*text)
		}
	}
	for _, translated := range t.Translations {
		bytes += len(translated.HTML) + len(translated.Text)
	}
	return bytes
}

func (e *edge) renderTemplate(ctx context.Context, c *api.Call, in *api.Item,
	preview templates.PreviewInput) (renderedAnswer, error) {
	done, err := e.templates.Preview(ctx, c.AccountID, in.ID, preview)
	if err != nil {
		return renderedAnswer{}, err
	}
	found, _ := lint.Inspect(lint.Mail{Subject: done.Subject, HTML: done.HTML, Text: done.Text,
		Domain: domainOf(done.From), NoSubject: true, AutoText: true, Managed: done.Unsubscribe})
	found = append(found, done.Findings...)
	lint.Sort(found)
	return renderedAnswer{renderedTemplate{Locale: wire.OrNull(done.Locale), Subject: wire.OrNull(done.Subject), HTML: wire.OrNull(done.HTML),
		Text: wire.OrNull(done.Text)}, wire.Findings(found)}, nil
}

// domainOf returns the domain of a mailbox, or "" if the mailbox is invalid.
func domainOf(mailbox string) string {
	parsed, err := address.Parse(mailbox)
	if err != nil {
		return ""
	}
	return parsed.Domain
}
