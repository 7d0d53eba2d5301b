package graph

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/templates"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/page"
)

// fakeTemplates has two templates of ada: a published one with the alias receipt, and a draft.
type fakeTemplates struct{ *calls }

func someTemplates() []templates.Template {
	alias, version, latest := "receipt", 2, 5
	return []templates.Template{
		{Used: []templates.UsedComponent{{Component: shape.Component{Kind: "layout", TemplateID: "tpl_3", Version: 4},
			Name: "Base", LatestVersion: &latest}, {Component: shape.Component{Kind: "partial", TemplateID: "tpl_4", Version: 1}}},
			Template: &ent.Template{ID: "tpl_2", Kind: "template", Alias: &alias, Name: "Receipt", Subject: "Hi {{name}}",
				From: "Ada <ada@example.com>", ReplyTo: []string{"help@example.com"}, Version: &version,
				PublishedAt: &day, Variables: []shape.Variable{{Key: "name", Type: "string", Required: true},
					{Key: "items", Type: "list", Fallback: []any{1, "x"}}},
				Locales:            []shape.TranslationSummary{{Locale: "pt-BR", HTML: true}},
				UnsubscribeEnabled: true, CreatedAt: day, UpdatedAt: day}},
		{Template: &ent.Template{ID: "tpl_1", Kind: "partial", Name: "Draft", CreatedAt: day, UpdatedAt: day}, HasUnpublishedChanges: true},
	}
}

func (f fakeTemplates) List(_ context.Context, accountID string,
	q templates.ListQuery) (page.Page[templates.Template], error) {
	if q.Page.Cursor != "" {
		return page.Page[templates.Template]{}, fault.InvalidField("cursor", "is not a cursor of this list")
	}
	if accountID != ada {
		return page.Page[templates.Template]{}, f.call("Templates.List")
	}
	return page.Page[templates.Template]{Items: someTemplates(), HasMore: true, NextCursor: "next",
		Cursors: []string{"first", "next"}}, f.call("Templates.List")
}

func (f fakeTemplates) Count(ctx context.Context, accountID string, _ templates.ListQuery, most int) (int, error) {
	n, err := lengthOf(f.List(ctx, accountID, templates.ListQuery{Page: whole}))
	return min(n, most), err
}

func (f fakeTemplates) CountVersions(ctx context.Context, accountID, ref string, most int) (int, error) {
	n, err := lengthOf(f.Versions(ctx, accountID, ref, whole))
	return min(n, most), err
}

func (f fakeTemplates) GetMany(_ context.Context, accountID string,
	ids ...string) (out []templates.Template, err error) {
	for _, t := range someTemplates() {
		if slices.Contains(ids, t.ID) && accountID == ada {
			out = append(out, t)
		}
	}
	return out, f.call("Templates.Several")
}

func (f fakeTemplates) Get(_ context.Context, accountID, ref string) (templates.Template, error) {
	if accountID == bob && ref == "tpl_bob" {
		return templates.Template{Template: &ent.Template{ID: ref, Kind: "template", Name: "Bob's"}}, f.call("Templates.Get")
	}
	if accountID != ada || ref != "receipt" && ref != "tpl_2" {
		return templates.Template{}, fault.NoSuch("template", ref)
	}
	return someTemplates()[0], f.call("Templates.Get")
}

func (f fakeTemplates) Bodies(_ context.Context, accountID string, ids ...string) (map[string]*ent.Template, error) {
	html, text := "<p>{{name}}</p>", "{{name}}"
	out := map[string]*ent.Template{}
	for _, id := range ids {
		if accountID == ada {
			out[id] = &ent.Template{ID: id, HTML: &html, Text: &text}
		}
	}
	return out, f.call("Templates.Bodies")
}

func (f fakeTemplates) Translations(_ context.Context, accountID string,
	ids ...string) (map[string]*ent.Template, error) {
	out := map[string]*ent.Template{}
	if accountID == ada && slices.Contains(ids, "tpl_2") {
		out["tpl_2"] = &ent.Template{ID: "tpl_2", Translations: []shape.Translation{{Locale: "pt-BR", HTML: "<p>Olá</p>"}}}
	}
	return out, f.call("Templates.Translations")
}

func (f fakeTemplates) Versions(_ context.Context, accountID, ref string,
	_ page.Request) (page.Page[*ent.TemplateVersion], error) {
	if accountID != ada || ref != "tpl_2" {
		return page.Page[*ent.TemplateVersion]{}, f.call("Templates.Versions")
	}
	return page.Page[*ent.TemplateVersion]{Items: []*ent.TemplateVersion{{Number: 2, Subject: "Hi {{name}}",
		Components: []shape.Component{{Kind: "layout", TemplateID: "tpl_3", Version: 4}}, CreatedAt: day}, {Number: 1, CreatedAt: day}}, Cursors: []string{"two", "one"}}, f.call("Templates.Versions")
}

const templateFields = `id kind components{kind templateId alias name version latestVersion} hasNewerComponents alias name status version publishedAt hasUnpublishedChanges subject from replyTo html text translations{locale subject html text} locales{locale missing} variables{key type required fallback}
 unsubscribeEnabled category createdAt updatedAt versions(first:2){nodes{version subject from replyTo variables{key} unsubscribeEnabled category components{kind templateId version} publishedAt} pageInfo{hasNextPage endCursor}}`

func TestTemplatesAreRead(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{})
	got := s.askAs(t, "svc_read", `{templates(first:2){nodes{`+templateFields+
		`} pageInfo{hasNextPage endCursor}} template(id:"receipt"){id status} gone:template(id:"other"){id}}`, nil)
	expect.Golden(t, "templates.json", got.body)
	if n := s.calls.counted()["Templates.Bodies"]; n != 1 {
		t.Errorf("bodies of a page were asked for %d times", n)
	}
	if n := s.calls.counted()["Templates.Translations"]; n != 1 {
		t.Errorf("translations of a page were asked for %d times", n)
	}
}

func TestTemplatesNeedAScopeAndAreOfTheirAccount(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{})
	if got := s.askAs(t, "svc_sending", `{templates{nodes{id}}}`, nil); got.codes() != "insufficient_scope" {
		t.Errorf("a sending key that reads templates got %s, want insufficient_scope", got.body)
	}
	if got := s.askAs(t, "svc_bob", `{templates{nodes{id}} template(id:"tpl_2"){id}}`, nil); strings.Contains(got.body,
		"tpl_2") {
		t.Errorf("Bob asked for the template of another account and got %s, want nothing of tpl_2", got.body)
	}
	if got := s.askAs(t, "svc_read", `{templates(after:"x"){nodes{id}}}`, nil); got.codes() != "validation_error" ||
		!strings.Contains(got.body, "after") {
		t.Errorf("a cursor that does not exist got %s, want validation_error of after", got.body)
	}
	if got := s.askAs(t, "svc_read", `{templates(first:100){nodes{html text}}}`,
		nil); got.codes() != "query_too_complex" {
		t.Errorf("the bodies of 100 templates got %s, want query_too_complex", got.body)
	}
}
