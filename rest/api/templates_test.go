package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/templates"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/page"
)

const templateID = "tpl_01kf0m4w7he6x8q2v5b3n9c1ta"

// fakeTemplates has one template, of templateID and the alias receipt.
type fakeTemplates struct {
	fail      error
	list      templates.ListQuery
	changes   []templates.TemplateChange
	forced    []bool // deletions, and changes with a force
	previews  []templates.PreviewInput
	published int
}

func withTemplates(t *testing.T) (*bundle, *fakeTemplates) {
	t.Helper()
	b := newBundleFor(t, "/api/templates")
	return b, b.templates
}

func sampleTemplate() templates.Template {
	created := time.Date(2026, 1, 15, 9, 30, 0, 0, time.UTC)
	alias, html, category, version := "receipt", "<p>Thank you, {{customer.name}} & all.</p>", "Receipts", 3
	used := templates.UsedComponent{Component: shape.Component{Kind: "layout", TemplateID: templateID, Version: 2}, Name: "Base",
		LatestVersion: &version}
	return templates.Template{HasUnpublishedChanges: true, Used: []templates.UsedComponent{used}, Template: &ent.Template{ID: templateID, AccountID: accountID, Kind: "template",
		Alias: &alias, Name: "Receipt", Subject: "Your receipt, {{customer.name}}",
		From: "Ada <ada@example.com>", ReplyTo: []string{"help@example.com"}, HTML: &html, Category: &category,
		Version: &version, PublishedAt: &created,
		Translations: []shape.Translation{{Locale: "pt-BR", Subject: "Seu recibo"}},
		Locales:      []shape.TranslationSummary{{Locale: "pt-BR", Subject: true}},
		Variables: []shape.Variable{{Key: "customer.name", Type: "string", Required: true},
			{Key: "amount", Type: "number", Fallback: 5}}, CreatedAt: created, UpdatedAt: created}}
}

func sampleVersion() *ent.TemplateVersion {
	t, html, text := sampleTemplate(), "<p>Thank you.</p>", "Thank you."
	return &ent.TemplateVersion{TemplateID: t.ID, Number: 3, Subject: t.Subject, HTML: &html, Text: &text,
		Components:   []shape.Component{t.Used[0].Component},
		Translations: t.Translations, Variables: t.Variables, UnsubscribeEnabled: true, Author: "usr_ada", CreatedAt: t.CreatedAt}
}

func (f *fakeTemplates) find(ref string) (templates.Template, error) {
	if ref != templateID && ref != "receipt" {
		return templates.Template{}, fault.NoSuch("template", ref)
	}
	return sampleTemplate(), f.fail
}

func (f *fakeTemplates) Add(ctx context.Context, _ string, in templates.NewTemplate) (templates.Template, error) {
	if f.fail != nil {
		return templates.Template{}, f.fail
	}
	return sampleTemplate(), in.Keep(ctx, nil, sampleTemplate())
}

func (f *fakeTemplates) List(_ context.Context, _ string,
	q templates.ListQuery) (page.Page[templates.Template], error) {
	f.list = q
	if err := q.Validate().Err(); err != nil {
		return page.Page[templates.Template]{}, err
	}
	draft := templates.Template{HasUnpublishedChanges: true, Template: &ent.Template{ID: templateID, Kind: "layout", Name: "Draft"}}
	return page.Page[templates.Template]{Items: []templates.Template{sampleTemplate(), draft}, HasMore: true,
		NextCursor: "next"}, f.fail
}

func (f *fakeTemplates) Get(_ context.Context, _, ref string) (templates.Template, error) {
	return f.find(ref)
}

func (f *fakeTemplates) Update(_ context.Context, _, ref string, c templates.TemplateChange,
	by templates.Revision) (templates.Template, error) {
	if by.Etag == "stale" {
		return templates.Template{}, fmt.Errorf("update template: %w",
			fault.Conflictf(fault.CodeConflict, "The draft has changed since you read it; read it again").
				With(fault.DetailChangedAt, "2026-01-15T09:30:00Z"))
	}
	f.changes = append(f.changes, c)
	f.forced = append(f.forced, by.Force)
	return f.find(ref)
}

func (f *fakeTemplates) Delete(_ context.Context, _, ref string, force bool) error {
	f.forced = append(f.forced, force)
	_, err := f.find(ref)
	return err
}

func (f *fakeTemplates) Duplicate(ctx context.Context, _, ref string,
	keep templates.StoreTemplateResponse) (templates.Template, error) {
	t, err := f.find(ref)
	if err != nil {
		return t, err
	}
	return t, keep(ctx, nil, t)
}

func (f *fakeTemplates) Publish(ctx context.Context, _, ref, _ string,
	keep templates.StorePublicationResponse) (templates.Publication, error) {
	t, err := f.find(ref)
	if err != nil {
		return templates.Publication{}, err
	}
	f.published++
	p := templates.Publication{Template: t, Warnings: []string{"CSS was not inlined: it is too large"}}
	return p, keep(ctx, nil, p)
}

func (f *fakeTemplates) Rollback(ctx context.Context, _, ref string, number int, _ string,
	keep templates.StorePublicationResponse) (templates.Publication, error) {
	if number != 1 {
		return templates.Publication{}, fault.InvalidField("version", "the template has no version %d", number)
	}
	t, err := f.find(ref)
	if err != nil {
		return templates.Publication{}, err
	}
	f.published++
	return templates.Publication{Template: t}, keep(ctx, nil, templates.Publication{Template: t})
}

func (f *fakeTemplates) Preview(_ context.Context, _, ref string,
	in templates.PreviewInput) (templates.Rendered, error) {
	f.previews = append(f.previews, in)
	_, err := f.find(ref)
	return templates.Rendered{HTML: `<p>Thank you, Ada.</p><img src="cid:logo">`}, err
}

func (f *fakeTemplates) Versions(_ context.Context, _, ref string,
	_ page.Request) (page.Page[*ent.TemplateVersion], error) {
	_, err := f.find(ref)
	return page.Page[*ent.TemplateVersion]{Items: []*ent.TemplateVersion{sampleVersion()}, HasMore: true,
		NextCursor: "next"}, err
}

func (f *fakeTemplates) Version(_ context.Context, _, _ string, number int) (*ent.TemplateVersion, error) {
	if number != 3 {
		return nil, fault.NoSuch("version", "4")
	}
	return sampleVersion(), f.fail
}

const wholeTemplate = `{"alias":"receipt","name":"Receipt","subject":"Hi {{customer.name}}","from":{"email":"ada@example.com","name":"Ada"},"replyTo":"help@example.com",
"htmlBody":"<p>{{customer.name}}</p>","plain_body":"{{customer.name}}","variables":[{"key":"customer.name","type":"string","required":true},{"key":"o","type":"object","fallback":{"a":[1,2.5]}}],
"unsubscribe_enabled":true,"category":"Receipts"}`

func sampleEdit() *ent.TemplateEdit {
	t := sampleTemplate()
	return &ent.TemplateEdit{TemplateID: t.ID, Number: 2, Author: "usr_ada", Subject: t.Subject, From: t.From, HTML: t.HTML,
		Translations: t.Translations,
		Variables:    t.Variables, CreatedAt: t.CreatedAt, UpdatedAt: t.CreatedAt.Add(time.Minute)}
}

func (f *fakeTemplates) Edits(_ context.Context, _, ref string, _ page.Request) (page.Page[*ent.TemplateEdit], error) {
	if _, err := f.find(ref); err != nil {
		return page.Page[*ent.TemplateEdit]{}, err
	}
	first := sampleEdit()
	first.Number, first.Author = 1, ""
	return page.Page[*ent.TemplateEdit]{Items: []*ent.TemplateEdit{sampleEdit(), first}}, nil
}

func (f *fakeTemplates) Edit(_ context.Context, _, _ string, number int) (*ent.TemplateEdit, error) {
	if number != 2 {
		return nil, fault.NoSuch("edit", strconv.Itoa(number))
	}
	return sampleEdit(), nil
}

func (f *fakeTemplates) RestoreEdit(ctx context.Context, _, ref string, number int, _ string,
	keep templates.StoreTemplateResponse) (templates.Template, error) {
	if _, err := f.Edit(ctx, "", ref, number); err != nil {
		return templates.Template{}, err
	}
	return sampleTemplate(), keep(ctx, nil, sampleTemplate())
}

// pixelPNG is one blue pixel.
const pixelPNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGOQj98PAAHeAT6KpYphAAAAAElFTkSuQmCC"

const imageID = "img_01kf0m4w7he6x8q2v5b3n9c1ta"

func sampleImage() templates.Image {
	return templates.Image{ID: imageID, Name: "logo.png", ContentType: "image/png", Size: 73, Width: 1, Height: 1,
		CreatedAt: sampleTemplate().CreatedAt}
}

func (f *fakeTemplates) ExportStrings(_ context.Context, _, ref, locale, source string) ([]byte, error) {
	if locale == "x" {
		return nil, fault.InvalidField("locale", "must be a BCP 47 tag")
	}
	_, err := f.find(ref)
	return []byte("<xliff>" + locale + source + "</xliff>"), err
}

func (f *fakeTemplates) ImportStrings(_ context.Context, _, ref, content, _ string) (templates.ImportedStrings, error) {
	if content == "wrong" {
		return templates.ImportedStrings{}, fault.InvalidField("xliff.html-2", "lacks the code 1 of the source")
	}
	found, err := f.find(ref)
	return templates.ImportedStrings{Template: found, Locale: "de", Untranslated: []string{"html-1"}}, err
}

func (f *fakeTemplates) AddImage(ctx context.Context, _ string, in templates.NewImage) (templates.Image, error) {
	return sampleImage(), in.Keep(ctx, nil, sampleImage())
}

func (f *fakeTemplates) Images(context.Context, string) ([]templates.Image, error) {
	return []templates.Image{sampleImage()}, nil
}

func (f *fakeTemplates) DeleteImage(_ context.Context, _, id string) error {
	if id != imageID {
		return fault.NoSuch("image", id)
	}
	return nil
}

// fakeNames knows one user.
type fakeNames struct{}

func (fakeNames) NamesOf(context.Context, string, ...string) (map[string]string, error) {
	return map[string]string{"usr_ada": "ada@example.com"}, nil
}

func TestTemplateAnswers(t *testing.T) {
	t.Parallel()
	const one = "/api/templates/" + templateID
	taken := fault.Conflictf(fault.CodeConflict, "This account already has a template with the alias receipt")
	for name, c := range map[string]struct {
		request request
		fail    error
		status  int
	}{
		"template_added": {request: request{method: "POST", path: "/api/templates", body: wholeTemplate}, status: 200},
		"template_taken": {request: request{method: "POST", path: "/api/templates", body: wholeTemplate}, fail: taken, status: 409},
		"template_empty": {request: request{method: "POST", path: "/api/templates", body: `{}`}, status: 400},
		"template_types": {request: request{method: "POST", path: "/api/templates",
			body: `{"alias":1,"name":[],"subject":{},"from":5,"reply_to":6,"html":7,"text":8,"variables":{},"unsubscribe_enabled":"yes","category":9,"body":"x"}`}, status: 400},
		"template_bad": {request: request{method: "POST", path: "/api/templates",
			body: `{"alias":"No!","name":"n","subject":"a\nb","from":"x","reply_to":["y"],"html":"a\n{{ b","text":"{% assign a = 1 %}","category":"!","variables":[{"key":"a b","type":"text","fallbak":1},{"key":"n","type":"number","fallback":"x"},{"type":"list"}]}`}, status: 400},
		"template_html_twice": {request: request{method: "POST", path: "/api/templates", body: `{"name":"n","html":"a","htmlBody":"b"}`}, status: 400},
		"template_scope":      {request: request{method: "POST", path: "/api/templates", body: wholeTemplate, key: "sending"}, status: 403},
		"template_one":        {request: request{method: "GET", path: one, key: "read"}, status: 200},
		"template_by_alias":   {request: request{method: "GET", path: "/api/templates/receipt"}, status: 200},
		"template_unknown":    {request: request{method: "GET", path: "/api/templates/other"}, status: 404},
		"template_garbage":    {request: request{method: "GET", path: "/api/templates/No%00%20such"}, status: 404},
		"templates": {request: request{method: "GET",
			path: "/api/templates?limit=2&alias=receipt&status=published&q=rec", key: "read"}, status: 200},
		"templates_bad":  {request: request{method: "GET", path: "/api/templates?alias=N&limit=0"}, status: 400},
		"templates_kind": {request: request{method: "GET", path: "/api/templates?kind=page"}, status: 400},
		"template_kind":  {request: request{method: "POST", path: "/api/templates", body: `{"name":"n","kind":"page"}`}, status: 400},
		"template_partial": {request: request{method: "POST", path: "/api/templates",
			body: `{"name":"n","kind":"partial","html":"{% block \"x\" %}{% endblock %}"}`}, status: 400},
		"templates_status": {request: request{method: "GET", path: "/api/templates?status=live"}, status: 400},
		"template_changed": {request: request{method: "PATCH", path: one, body: `{"subject":"x","category":null}`}, status: 200},
		"template_change_null": {request: request{method: "PATCH", path: one,
			body: `{"name":null,"variables":null,"unsubscribe_enabled":null,"alias":"","category":""}`}, status: 400},
		"template_change_empty":   {request: request{method: "PATCH", path: one, body: `{}`}, status: 200},
		"template_change_bad":     {request: request{method: "PATCH", path: one, body: `{"html":"{{","subjekt":"x"}`}, status: 400},
		"template_change_unknown": {request: request{method: "PATCH", path: "/api/templates/other", body: `{"name":"x"}`}, status: 404},
		"template_change_taken":   {request: request{method: "PATCH", path: one, body: `{"alias":"receipt"}`}, fail: taken, status: 409},
		"template_change_scope":   {request: request{method: "PATCH", path: one, body: `{"name":"x"}`, key: "read"}, status: 403},
		"template_deleted":        {request: request{method: "DELETE", path: "/api/templates/receipt"}, status: 200},
		"template_delete_unknown": {request: request{method: "DELETE", path: "/api/templates/other"}, status: 404},
		"template_delete_scope":   {request: request{method: "DELETE", path: one, key: "read"}, status: 403},
		"template_duplicated":     {request: request{method: "POST", path: one + "/duplicate"}, status: 200},
		"template_published":      {request: request{method: "POST", path: one + "/publish"}, status: 200},
		"template_publish_bad": {request: request{method: "POST", path: one + "/publish"},
			fail: fault.InvalidField("html", "line 2: uses {{b}}, which is not declared in variables"), status: 400},
		"template_publish_unknown":  {request: request{method: "POST", path: "/api/templates/other/publish"}, status: 404},
		"template_publish_body":     {request: request{method: "POST", path: one + "/publish", body: `{"version":1}`}, status: 400},
		"template_rolled_back":      {request: request{method: "POST", path: one + "/rollback", body: `{"version":1}`}, status: 200},
		"template_rollback_version": {request: request{method: "POST", path: one + "/rollback", body: `{"version":9}`}, status: 400},
		"template_rollback_bad":     {request: request{method: "POST", path: one + "/rollback", body: `{"version":"1"}`}, status: 400},
		"template_rollback_none":    {request: request{method: "POST", path: one + "/rollback", body: `{}`}, status: 400},
		"template_rendered":         {request: request{method: "POST", path: one + "/render", body: `{"variables":{"customer":{"name":"Ada"}}}`}, status: 200},
		"template_render_bad":       {request: request{method: "POST", path: one + "/render", body: `{"variables":[],"version":"live"}`}, status: 400},
		"template_render_scope":     {request: request{method: "POST", path: one + "/render", body: `{}`, key: "read"}, status: 200},
		"template_render_unsaved": {request: request{method: "POST", path: one + "/render",
			body: `{"draft":{"html":"<p>x</p>","category":null},"variables":{}}`, key: "read"}, status: 200},
		"template_render_unsaved_bad": {request: request{method: "POST", path: one + "/render",
			body: `{"draft":{"alias":"x","html":5,"variables":null}}`}, status: 400},
		"template_edits":           {request: request{method: "GET", path: one + "/edits", key: "read"}, status: 200},
		"template_edits_unknown":   {request: request{method: "GET", path: "/api/templates/other/edits"}, status: 404},
		"template_edit":            {request: request{method: "GET", path: one + "/edits/2", key: "read"}, status: 200},
		"template_edit_unknown":    {request: request{method: "GET", path: one + "/edits/9"}, status: 404},
		"template_edit_garbage":    {request: request{method: "GET", path: one + "/edits/02"}, status: 404},
		"template_restored":        {request: request{method: "POST", path: one + "/edits/2/restore"}, status: 200},
		"template_restore_unknown": {request: request{method: "POST", path: one + "/edits/9/restore"}, status: 404},
		"template_restore_scope":   {request: request{method: "POST", path: one + "/edits/2/restore", key: "read"}, status: 403},
		"template_images":          {request: request{method: "GET", path: "/api/template-images", key: "read"}, status: 200},
		"template_image_added": {request: request{method: "POST", path: "/api/template-images",
			body: `{"name":"logo.png","content":"` + pixelPNG + `"}`}, status: 200},
		"template_image_bad": {request: request{method: "POST", path: "/api/template-images",
			body: `{"name":"a\nb","content":"PHN2Zy8+"}`}, status: 400},
		"template_image_none":       {request: request{method: "POST", path: "/api/template-images", body: `{}`}, status: 400},
		"template_image_scope":      {request: request{method: "POST", path: "/api/template-images", body: `{}`, key: "read"}, status: 403},
		"template_image_deleted":    {request: request{method: "DELETE", path: "/api/template-images/" + imageID}, status: 200},
		"template_image_unknown":    {request: request{method: "DELETE", path: "/api/template-images/x"}, status: 404},
		"template_versions":         {request: request{method: "GET", path: one + "/versions", key: "read"}, status: 200},
		"template_versions_unknown": {request: request{method: "GET", path: "/api/templates/other/versions"}, status: 404},
		"template_version":          {request: request{method: "GET", path: one + "/versions/3"}, status: 200},
		"template_version_unknown":  {request: request{method: "GET", path: one + "/versions/4"}, status: 404},
		"template_version_garbage":  {request: request{method: "GET", path: one + "/versions/03"}, status: 404},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, f := withTemplates(t)
			f.fail = c.fail
			got := b.do(t, c.request)
			if got.status != c.status || got.header.Get("Content-Type") != "application/json" {
				t.Errorf("status %d, want %d, %s: %s", got.status, c.status, got.header.Get("Content-Type"), got.body)
			}
			expect.Golden(t, "answers/"+name+".json", got.body)
		})
	}
}

func TestTemplateRequestsReachTheService(t *testing.T) {
	t.Parallel()
	b, f := withTemplates(t)
	b.do(t, request{method: "PATCH", path: "/api/templates/receipt",
		body: `{"replyTo":null,"alias":null,"from":null,"htmlBody":null,"variables":[],"text":"é","unsubscribe_enabled":false,
			"translations":[{"locale":"pt-BR","subject":"Oi","htmlBody":"<p>","text":null}]}`})
	nothing, text, off := "", "é", false
	want := templates.TemplateChange{Alias: &nothing, HTML: &nothing, From: &templates.Mailbox{},
		ReplyTo: &[]templates.Mailbox{}, Variables: new([]shape.Variable), Text: &text, UnsubscribeEnabled: &off,
		Translations: &[]shape.Translation{{Locale: "pt-BR", Subject: "Oi", HTML: "<p>"}}}
	if diff := cmp.Diff([]templates.TemplateChange{want}, f.changes); diff != "" {
		t.Error(diff)
	}
	for _, body := range []string{`{"version":2,"variables":{"n":12345678901234567890,"l":[null,true]}}`,
		`{"version":"draft","locale":"pt-BR","time_zone":"UTC","within":"receipt"}`, `{"draft":{"html":null,"subject":"s"}}`} {
		b.do(t, request{method: "POST", path: "/api/templates/receipt/render", body: body})
	}
	if diff := cmp.Diff([]templates.PreviewInput{{Version: 2,
		Variables: map[string]any{"n": json.Number("12345678901234567890"), "l": []any{nil, true}}}, {Locale: "pt-BR", TimeZone: "UTC",
		Within: "receipt"},
		{Draft: &templates.TemplateChange{HTML: &nothing, Subject: new("s")}}},
		f.previews); diff != "" {
		t.Error(diff)
	}
	b.do(t, request{method: "GET", path: "/api/templates?limit=2&cursor=c&alias=receipt&status=draft&q=a%20b&kind=layout&has_newer_components=true"})
	if diff := cmp.Diff(templates.ListQuery{Page: page.Request{Limit: 2, Cursor: "c"}, Alias: "receipt",
		Status: "draft", Name: "a b", Kind: "layout", HasNewerComponents: true}, f.list); diff != "" {
		t.Error(diff)
	}
}

// Only callers that may change the account can delete a template in use, or move its alias.
func TestForceRequiresRightToChangeAccount(t *testing.T) {
	t.Parallel()
	b, _ := newPeopleBundle(t)
	for _, path := range []string{"/api/templates/receipt", "/api/templates/receipt?force=true"} {
		force := strings.HasSuffix(path, "true")
		for role, allowed := range map[string]bool{"owner": true, "admin": true, "developer": !force} {
			b.templates.forced = nil
			for _, q := range []request{as(role, "DELETE", path, ""), as(role, "PATCH", path, `{"alias":"x"}`)} {
				got := b.do(t, q)
				if (got.status == http.StatusOK) != allowed || !allowed && got.status != http.StatusForbidden {
					t.Errorf("%s %s as %s returned %d: %s", q.method, path, role, got.status, got.body)
				}
			}
			if diff := cmp.Diff(allowed && force, slices.Equal(b.templates.forced, []bool{true, true})); diff != "" {
				t.Errorf("%s by %s reached the service as %v", path, role, b.templates.forced)
			}
		}
	}
}

func TestTemplateIsPublishedOncePerKey(t *testing.T) {
	t.Parallel()
	b, f := withTemplates(t)
	for _, path := range []string{"/api/templates", "/api/templates/receipt/publish", "/api/templates/receipt/rollback",
		"/api/templates/receipt/duplicate", "/api/templates/receipt/edits/2/restore"} {
		q := request{method: "POST", path: path, header: map[string]string{"Idempotency-Key": path}}
		switch {
		case strings.HasSuffix(path, "templates"):
			q.body = wholeTemplate
		case strings.HasSuffix(path, "rollback"):
			q.body = `{"version":1}`
		}
		first, second := b.do(t, q), b.do(t, q)
		if first.status != 200 || first.body != second.body || first.header.Get("Idempotent-Replayed") != "" ||
			second.header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("%s: %d %q then %d %q", path, first.status, first.body, second.status, second.body)
		}
	}
	if f.published != 2 {
		t.Errorf("published %d times", f.published)
	}
}
