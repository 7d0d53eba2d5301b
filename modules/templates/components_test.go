package templates

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/templates/language"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/page"
)

var (
	baseLayout = NewTemplate{Kind: language.KindLayout, Alias: "base", Name: "Base",
		HTML: `<style>.box{color:red}</style><div class="box">{% block "content" %}{% endblock %}</div>{{company}}` +
			`{% render "footer", year: 2026 %}`,
		Variables: []shape.Variable{{Key: "company", Type: language.TypeString, Fallback: "Acme"},
			{Key: "unused", Type: language.TypeString, Required: true}}}
	footerPartial = NewTemplate{Kind: language.KindPartial, Alias: "footer", Name: "Footer", HTML: "<p>{{year}}</p>",
		Variables:    []shape.Variable{{Key: "year", Type: language.TypeNumber, Required: true}},
		Translations: []shape.Translation{{Locale: "de", HTML: "<p>Jahr {{year}}</p>"}}}
	invitation = NewTemplate{Alias: "welcome", Name: "Welcome", Subject: "Hi",
		HTML:         `{% layout "base" %}{% block "content" %}<b class="box">Hi {{name}}</b>{% endblock %}`,
		Translations: []shape.Translation{{Locale: "de", HTML: `{% layout "base" %}{% block "content" %}Hallo{% endblock %}`}},
		Variables:    []shape.Variable{{Key: "name", Type: language.TypeString, Required: true}}}
)

// addComponents adds and publishes the components and a template that uses them.
func addComponents(t *testing.T, w *world) (layout, footer, outer Template) {
	t.Helper()
	footer = w.add(t, footerPartial)
	w.publish(t, footer.ID)
	layout = w.add(t, baseLayout)
	w.publish(t, layout.ID)
	outer = w.add(t, invitation)
	return layout, footer, w.publish(t, outer.ID).Template
}

func TestPublishesWithLayoutAndPartials(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	layout, footer, outer := addComponents(t, w)
	values := map[string]any{"name": "Ada"}
	got, err := w.Render(t.Context(), ada, Ref{Alias: "welcome"}, values)
	if want := `<div class="box" style="color:red"><b class="box" style="color:red">Hi Ada</b></div>Acme<p>2026</p>`; err != nil ||
		!strings.Contains(got.HTML, want) {
		t.Errorf("it renders as %q, %v, want %s", got.HTML, err, want)
	}
	german, err := w.Render(t.Context(), ada, Ref{Alias: "welcome", Locale: "de-AT"}, values)
	if err != nil || !strings.Contains(german.HTML, `>Hallo</div>Acme<p>Jahr 2026</p>`) {
		t.Errorf("it renders in German as %q, %v, want the German partial", german.HTML, err)
	}
	v, err := w.Version(t.Context(), ada, outer.ID, 1)
	if err != nil || len(v.Variables) != 2 || v.Variables[1].Key != "company" || len(v.SourceVariables) != 1 {
		t.Errorf("version 1 is %+v, %v, want the variable of the layout that is used", v, err)
	}
	if diff := cmp.Diff([]shape.Component{{Kind: "partial", TemplateID: footer.ID, Version: 1},
		{Kind: "layout", TemplateID: layout.ID, Version: 1}}, v.Components); diff != "" {
		t.Errorf("the pins differ (-want +got):\n%s", diff)
	}
	if outer.HasUnpublishedChanges || outer.HasNewerComponents() {
		t.Errorf("the published template is %+v, want no changes", outer)
	}

	// A new version of a layout changes published templates only when they are published again.
	html := strings.Replace(baseLayout.HTML, "{{company}}", "{{company}}!", 1)
	if _, err := w.Update(t.Context(), ada, "base", TemplateChange{HTML: &html}, Revision{}); err != nil {
		t.Fatal(err)
	}
	w.publish(t, "base")
	if got, err := w.Render(t.Context(), ada, Ref{Alias: "welcome"}, values); err != nil || strings.Contains(got.HTML, "Acme!") {
		t.Errorf("after a change of the layout, it renders as %q, %v, want the old layout", got.HTML, err)
	}
	newer, err := w.List(t.Context(), ada, ListQuery{Page: page.Request{Limit: 9}, HasNewerComponents: true})
	if err != nil || len(newer.Items) != 1 || newer.Items[0].ID != outer.ID || !newer.Items[0].HasNewerComponents() {
		t.Errorf("templates with newer components are %+v, %v, want the template", newer.Items, err)
	}
	again := w.publish(t, "welcome")
	if *again.Template.Version != 2 || again.Template.HasNewerComponents() || again.Size == 0 {
		t.Errorf("publishing again returned %+v, want version 2 with the new layout", again)
	}
	if got, err := w.Render(t.Context(), ada, Ref{Alias: "welcome"}, values); err != nil || !strings.Contains(got.HTML, "Acme!") {
		t.Errorf("after publishing again, it renders as %q, %v, want the new layout", got.HTML, err)
	}
	if same := w.publish(t, "welcome"); *same.Template.Version != 2 || same.Size != 0 {
		t.Errorf("publishing without changes returned %+v, want version 2", same)
	}
	back, err := w.Rollback(t.Context(), ada, "welcome", 1, "", nil)
	if err != nil || *back.Template.Version != 3 || !back.Template.HasNewerComponents() ||
		*back.Template.HTML != invitation.HTML || len(back.Template.Variables) != 1 {
		t.Errorf("the rollback returned %+v, %v, want version 3 with the first layout", back, err)
	}
	if got, err := w.Render(t.Context(), ada, Ref{Alias: "welcome"}, values); err != nil || strings.Contains(got.HTML, "Acme!") {
		t.Errorf("after the rollback, it renders as %q, %v, want the first layout", got.HTML, err)
	}
	layouts, err := w.List(t.Context(), ada, ListQuery{Page: page.Request{Limit: 9}, Kind: language.KindLayout})
	if err != nil || len(layouts.Items) != 1 || layouts.Items[0].ID != layout.ID {
		t.Errorf("the layouts are %+v, %v, want one", layouts.Items, err)
	}
	if copied, err := w.Duplicate(t.Context(), ada, "footer", nil); err != nil || copied.Kind != language.KindPartial {
		t.Errorf("a copy of a partial is %+v, %v, want a partial", copied, err)
	}
}

func TestPublishRefusesInvalidComponents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.add(t, invitation)
	refuse := func(ref, field, want string) {
		t.Helper()
		_, err := w.Publish(t.Context(), ada, ref, "", nil)
		if err == nil || !strings.Contains(fault.Classify(err).Fields[field], want) {
			t.Errorf("Publish returned %v (%v), want %s in %s", err, fault.Classify(err).Fields, want, field)
		}
	}
	refuse("welcome", "html", "line 1, column 1: there is no layout with the alias base")
	w.add(t, baseLayout)
	refuse("welcome", "html", "the layout base is not published")
	refuse("base", "html", "there is no partial with the alias footer")
	w.add(t, footerPartial)
	w.publish(t, "footer")
	w.publish(t, "base")
	for name, c := range map[string]struct{ change, field, want string }{
		"wrong kind":   {`{% render "base" %}`, "html", "base is a layout, not a partial"},
		"in a partial": {`{% layout "base" %}{% block "content" %}{{ name }}{% render "footer", year: "x" %}{% endblock %}`, "html", "type number"},
		"undeclared":   {`{% layout "base" %}{% block "content" %}{{ other }}{% endblock %}`, "html", "line 1: uses {{other}}"},
	} {
		if _, err := w.Update(t.Context(), ada, made.ID, TemplateChange{HTML: &c.change, Translations: &[]shape.Translation{}},
			Revision{}); err != nil {
			t.Fatalf("changing the draft to one that is %s failed: %v", name, err)
		}
		refuse("welcome", c.field, c.want)
	}
	text := `{% layout "base" %}`
	if _, err := w.Update(t.Context(), ada, made.ID, TemplateChange{HTML: new(string), Text: &text}, Revision{}); err != nil {
		t.Fatal(err)
	}
	refuse("welcome", "text", "the layout base has no text")
	company := []shape.Variable{{Key: "company", Type: language.TypeNumber}}
	if _, err := w.Update(t.Context(), ada, made.ID, TemplateChange{HTML: &text, Text: new(string), Variables: &company},
		Revision{}); err != nil {
		t.Fatal(err)
	}
	refuse("welcome", "variables", "company is of type number here, and of type string in the layout base")

	_, err := w.Render(t.Context(), ada, Ref{Alias: "base"}, nil)
	if got := fault.Classify(err).Fields["template.alias"]; got != "is a layout; only templates can be sent" {
		t.Errorf("sending a layout returned %v (%s)", err, got)
	}
	if exists, err := w.LockForUse(t.Context(), w.db.SQL, ada, "", "base"); err != nil || exists {
		t.Errorf("an automation can use a layout: %v, %v", exists, err)
	}
	for name, in := range map[string]NewTemplate{
		"kind":             {Kind: "page", Name: "n", HTML: "x"},
		"block in partial": {Kind: language.KindPartial, Name: "n", HTML: `{% block "x" %}{% endblock %}`},
		"cut off":          {Name: "n", HTML: `{% layout "x" %} text`},
	} {
		if _, err := w.Add(t.Context(), ada, in); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: Add returned %v, want Invalid", name, err)
		}
	}
}

func TestPreviewsComponents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	layout, _, _ := addComponents(t, w)
	html := `<i>{% block "content" %}none{% endblock %}</i>{{company}}`
	values := map[string]any{"name": "Ada", "company": "Beta", "unused": "x"}
	alone, err := w.Preview(t.Context(), ada, layout.ID, PreviewInput{Draft: &TemplateChange{HTML: &html}, Variables: values})
	if err != nil || alone.HTML != "<i>none</i>Beta" {
		t.Errorf("the preview of the layout is %+v, %v, want the defaults of its blocks", alone, err)
	}
	in := PreviewInput{Draft: &TemplateChange{HTML: &html}, Variables: values, Within: "welcome"}
	within, err := w.Preview(t.Context(), ada, layout.ID, in)
	if err != nil || within.HTML != `<i><b class="box">Hi Ada</b></i>Beta` {
		t.Errorf("the preview within the template is %+v, %v, want the unsaved layout", within, err)
	}
	footer, err := w.Preview(t.Context(), ada, "footer", PreviewInput{Variables: map[string]any{"year": 2027}})
	if err != nil || footer.HTML != "<p>2027</p>" {
		t.Errorf("the preview of the partial is %+v, %v, want its variable", footer, err)
	}
	for _, ref := range []string{"nothing", "footer", "{}"} {
		in.Within = ref
		_, err := w.Preview(t.Context(), ada, layout.ID, in)
		wantFields(t, err, "within")
	}
	_, err = w.Preview(t.Context(), ada, "welcome", PreviewInput{Variables: values, Within: "welcome"})
	wantFields(t, err, "within")
	wrong := `{% layout "base" %}{% block "nope" %}{% endblock %}`
	_, err = w.Preview(t.Context(), ada, "welcome", PreviewInput{Draft: &TemplateChange{HTML: &wrong}, Variables: values})
	wantFields(t, err, "html")
}

// Two partials that would render each other cannot both be published, in any order.
func TestConcurrentPublicationsCannotFormCycle(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, other := range map[string]string{"a": "b", "b": "a"} {
		w.add(t, NewTemplate{Kind: language.KindPartial, Alias: name, Name: name, HTML: "x"})
		w.publish(t, name)
		html := `{% render "` + other + `" %}`
		if _, err := w.Update(t.Context(), ada, name, TemplateChange{HTML: &html}, Revision{}); err != nil {
			t.Fatal(err)
		}
	}
	errs := map[string]error{}
	var lock sync.Mutex
	var all sync.WaitGroup
	for name, s := range map[string]*Service{"a": w.Service, "b": w.process(t)} {
		all.Go(func() {
			_, err := s.Publish(t.Context(), ada, name, "", nil)
			lock.Lock()
			defer lock.Unlock()
			errs[name] = err
		})
	}
	all.Wait()
	if (errs["a"] == nil) == (errs["b"] == nil) {
		t.Fatalf("the publications returned %v, want one failure", errs)
	}
	for _, err := range errs {
		if err != nil && !strings.Contains(fault.Classify(err).Fields["html"], "the partials form a cycle: ") {
			t.Errorf("the second publication returned %v, want a cycle", err)
		}
	}
}

// A layout or partial in a published template can be deleted, and its alias changed, only by force. Sends do not
// change.
func TestKeepsComponentsInUse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	layout, footer, _ := addComponents(t, w)
	other := "other"
	for name, change := range map[string]func(force bool) error{
		"delete": func(force bool) error { return w.Delete(t.Context(), ada, footer.ID, force) },
		"alias": func(force bool) error {
			_, err := w.Update(t.Context(), ada, layout.ID, TemplateChange{Alias: &other}, Revision{Force: force})
			return err
		},
	} {
		err := change(false)
		f := fault.Classify(err)
		users, want := f.Details[fault.DetailUsedBy], []string{"Base", "Welcome"}
		if name == "alias" {
			want = want[1:]
		}
		if diff := cmp.Diff(any(want), users); f.Kind != fault.Conflict || diff != "" {
			t.Errorf("%s returned %v, want a conflict with the users (-want +got):\n%s", name, err, diff)
		}
		if err := change(true); err != nil {
			t.Errorf("%s by force returned %v", name, err)
		}
	}
	got, err := w.Render(t.Context(), ada, Ref{Alias: "welcome"}, map[string]any{"name": "Ada"})
	if err != nil || !strings.Contains(got.HTML, "<p>2026</p>") {
		t.Errorf("after the changes, it renders as %q, %v, want the same", got.HTML, err)
	}
	now, err := w.Get(t.Context(), ada, "welcome")
	if err != nil || len(now.Used) != 2 || now.HasNewerComponents() {
		t.Fatalf("the template is %+v, %v, want its components", now, err)
	}
	for _, c := range now.Used {
		if deleted := c.TemplateID == footer.ID; deleted != (c.LatestVersion == nil) || deleted != (c.Name == "") {
			t.Errorf("the component is %+v, want the state of each", c)
		}
	}
	// Templates of another account cannot use or keep it.
	if names, err := usesOfComponent(t.Context(), w.db.SQL, eve, layout.ID, other); err != nil || len(names) != 0 {
		t.Errorf("in another account, the layout is used by %v, %v", names, err)
	}
}

func TestLimitsSizeOfComponents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var uses strings.Builder
	for i := range 4 {
		alias := fmt.Sprintf("p%d", i)
		w.add(t, NewTemplate{Kind: language.KindPartial, Alias: alias, Name: "n", HTML: "x"})
		w.publish(t, alias)
		fmt.Fprintf(&uses, `{%% render "%s" %%}`, alias)
	}
	large := `UPDATE template_versions SET source_translations = jsonb_build_array(
		jsonb_build_object('locale', 'fr', 'html', repeat(' ', 3000000)))`
	if _, err := w.db.SQL.ExecContext(t.Context(), large); err != nil {
		t.Fatal(err)
	}
	made := w.add(t, NewTemplate{Name: "n", HTML: uses.String()})
	_, err := w.Publish(t.Context(), ada, made.ID, "", nil)
	if got := fault.Classify(err).Fields["html"]; got !=
		"line 1, column 52: the layouts and partials are larger than 8 MB in all languages" {
		t.Errorf("Publish returned %v (%s), want a limit of the size", err, got)
	}
}

// Only the reported places of outputs are looked up, because each reads the whole source.
func TestReportsManyTrustedOutputsQuickly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	addComponents(t, w)
	html := `{% layout "base" %}{% block "content" %}` + strings.Repeat("{{ name | raw }}"+strings.Repeat(" ", 150)+"\n", 4_900) +
		`{% endblock %}`
	made := w.add(t, NewTemplate{Name: "n", HTML: html, Variables: invitation.Variables})
	var done Publication
	if took := expect.MeasureCPU(t, func() { done = w.publish(t, made.ID) }); took > 10*time.Second {
		t.Errorf("publishing took %s of CPU time", took)
	}
	if len(done.Warnings) != 1 || !strings.HasPrefix(done.Warnings[0], "html, line 1: {{ name | raw }} is inserted") {
		t.Errorf("the warnings are %.300q, want one about line 1", done.Warnings)
	}
}
