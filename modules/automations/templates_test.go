package automations

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/modules/sending/sendingtest"
	"github.com/postrider/postrider/modules/templates"
	"github.com/postrider/postrider/modules/templates/language"
	"github.com/postrider/postrider/runtime/base/fault"
)

// templateWorld returns a world that has the templates service and a published template for each alias.
func templateWorld(t *testing.T, aliases ...string) (*world, *templates.Service, map[string]string) {
	t.Helper()
	w := newWorld(t)
	store := templates.New(templates.Params{DB: w.DB, Cursors: w.Pages, Logger: w.Logger})
	store.RegisterUse(usesOfTemplate)
	w.Templates, w.Near.Templates = store, store
	w.Service = w.newProcess(t)
	ids := map[string]string{}
	for _, alias := range aliases {
		made, err := store.Add(t.Context(), sendingtest.Account,
			templates.NewTemplate{Alias: alias, Name: alias, Subject: "S", Text: "T"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := store.Publish(t.Context(), sendingtest.Account, made.ID, "", nil); err != nil {
			t.Fatal(err)
		}
		ids[alias] = made.ID
	}
	return w, store, ids
}

func sendTemplate(ref string) string {
	return `{"key": "mail", "type": "send_email", "from": "ada@dev.test", "template": ` + ref + `}`
}

func wantUsedBy(t *testing.T, what string, err error, names ...string) {
	t.Helper()
	if len(names) == 0 {
		if err != nil {
			t.Errorf("%s: %v, want no error", what, err)
		}
		return
	}
	f := fault.Classify(err)
	if err == nil || f.Kind != fault.Conflict {
		t.Errorf("%s: %v, want a conflict", what, err)
		return
	}
	if diff := cmp.Diff(names, f.Details[fault.DetailUsedBy]); diff != "" {
		t.Errorf("%s: names of automations (-want +got):\n%s", what, diff)
	}
}

func TestTemplateInUseCannotBeDeleted(t *testing.T) {
	t.Parallel()
	w, store, ids := templateWorld(t, "by-id", "by-alias", "draft", "free")
	byID := w.activate(t, `{"event": "start"}`, `{"type": "delay", "duration": "PT1H"}, `+
		sendTemplate(`{"id": "`+ids["by-id"]+`"}`))
	w.activate(t, `{"event": "start"}`, sendTemplate(`{"alias": "by-alias"}`))
	if _, err := w.Create(t.Context(), sendingtest.Account,
		fmt.Appendf(nil, `{"name": "D", "trigger": {"event": "e"}, "steps": [%s]}`, sendTemplate(`{"alias": "draft"}`)),
		nil); err != nil {
		t.Fatal(err)
	}
	remove := func(ref string) error { return store.Delete(t.Context(), sendingtest.Account, ref, false) }
	rename := func(ref, alias string) error {
		_, err := store.Update(t.Context(), sendingtest.Account, ref, templates.TemplateChange{Alias: &alias}, templates.Revision{})
		return err
	}
	wantUsedBy(t, "delete a template that is used by id", remove("by-id"), "Test")
	wantUsedBy(t, "rename a template that is used by id", rename("by-id", "renamed"))
	wantUsedBy(t, "delete a template that is used by alias", remove("by-alias"), "Test")
	wantUsedBy(t, "rename a template that is used by alias", rename("by-alias", "moved"), "Test")
	wantUsedBy(t, "remove the alias of a template that is used by alias", rename("by-alias", ""), "Test")
	wantUsedBy(t, "set the same alias", rename("by-alias", "by-alias"))
	wantUsedBy(t, "delete a template that only a draft uses", remove("draft"))
	wantUsedBy(t, "delete a template that nothing uses", remove("free"))

	// A live run keeps the template of its version, even after the automation has moved on to another template.
	w.post(t, "start", `{}`)
	w.drain(t)
	if _, err := w.Change(t.Context(), sendingtest.Account, byID.ID, parseMembers(`{"steps": [{"type": "end"}]}`),
		""); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Activate(t.Context(), w.caller(), byID.ID, Activation{}); err != nil {
		t.Fatal(err)
	}
	wantUsedBy(t, "delete a template that a live run uses", remove("renamed"), "Test")
	w.Exec(t, `DELETE FROM automation_works`)
	wantUsedBy(t, "delete the template after the run", remove("renamed"))
}

func TestCheckRejectsTokenWithoutLink(t *testing.T) {
	t.Parallel()
	w, store, _ := templateWorld(t)
	for alias, enabled := range map[string]bool{"with-link": true, "without-link": false} {
		made, err := store.Add(t.Context(), sendingtest.Account, templates.NewTemplate{Alias: alias, Name: alias,
			Subject: "S", HTML: `<a href="{{ unsubscribe_url }}">x</a>`, UnsubscribeEnabled: enabled})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := store.Publish(t.Context(), sendingtest.Account, made.ID, "", nil); err != nil {
			t.Fatal(err)
		}
	}
	for step, refused := range map[string]bool{
		`"subject": "S", "text": "Stop: {{unsubscribe_url}}"`:                        true,
		`"subject": "S", "text": "Stop: {{unsubscribe_url}}", "unsubscribe": false`:  true,
		`"subject": "S", "text": "Stop: {{ unsubscribe_url }}", "unsubscribe": true`: false,
		`"subject": "S", "html": "<a href='%7B%7Bunsubscribe_url%7D%7D'>x</a>"`:      true,
		`"subject": "{{event.data.name}}", "text": "T"`:                              false,
		`"template": {"alias": "with-link"}`:                                         false,
		`"template": {"alias": "with-link"}, "unsubscribe": false`:                   true,
		`"template": {"alias": "without-link"}`:                                      true,
		`"template": {"alias": "without-link"}, "unsubscribe": true`:                 false,
	} {
		document := fmt.Appendf(nil,
			`{"name": "Test", "trigger": {"event": "e"}, "steps": [{"type": "send_email", "from": "ada@dev.test", %s}]}`, step)
		a, err := w.Create(t.Context(), sendingtest.Account, document, nil)
		if err != nil {
			t.Errorf("create an automation with the step %s: %v", step, err)
			continue
		}
		problems, err := w.Check(t.Context(), w.caller(), a.ID)
		if found := slices.ContainsFunc(problems, func(p Problem) bool {
			return p.Path == "steps[0].unsubscribe" &&
				p.Severity == SeverityError
		}); err != nil || found != refused {
			t.Errorf("%s: the problems are %v (%v), want the token rejected: %t", step, problems, err, refused)
		}
	}
}

// A step cannot send a layout or a partial.
func TestCheckRejectsLayouts(t *testing.T) {
	t.Parallel()
	w, store, _ := templateWorld(t)
	made, err := store.Add(t.Context(), sendingtest.Account, templates.NewTemplate{Kind: language.KindLayout, Alias: "base",
		Name: "Base", HTML: "x"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Publish(t.Context(), sendingtest.Account, made.ID, "", nil); err != nil {
		t.Fatal(err)
	}
	a, err := w.Create(t.Context(), sendingtest.Account, []byte(`{"name": "Test", "trigger": {"event": "e"},
		"steps": [{"type": "send_email", "from": "ada@dev.test", "template": {"alias": "base"}}]}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	problems, err := w.Check(t.Context(), w.caller(), a.ID)
	if err != nil || len(problems) != 1 || problems[0].Path != "steps[0].template" ||
		problems[0].Message != "is a layout; only templates can be sent" {
		t.Errorf("the problems of a step with a layout are %+v, %v", problems, err)
	}
}

// A condition that may change is a warning and does not prevent activation. Content that cannot be sent now is
// an error.
func TestCheckWarnsOfTemporaryProblems(t *testing.T) {
	t.Parallel()
	w, store, _ := templateWorld(t, "edited", "published")
	subject := "Another subject"
	if _, err := store.Update(t.Context(), sendingtest.Account, "edited", templates.TemplateChange{Subject: &subject},
		templates.Revision{}); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Add(t.Context(), sendingtest.Account,
		templates.NewTemplate{Alias: "draft", Name: "draft", Subject: "S", Text: "T"}); err != nil {
		t.Fatal(err)
	}
	check := func(alias string) (problems []Problem, activation error) {
		a, err := w.Create(t.Context(), sendingtest.Account, fmt.Appendf(nil,
			`{"name": "Test", "trigger": {"event": "e"}, "steps": [%s]}`, sendTemplate(`{"alias": "`+alias+`"}`)), nil)
		if err != nil {
			t.Fatal(err)
		}
		if problems, err = w.Check(t.Context(), w.caller(), a.ID); err != nil {
			t.Fatal(err)
		}
		_, activation = w.Activate(t.Context(), w.caller(), a.ID, Activation{})
		return problems, activation
	}
	wants := func(what, alias, path, severity string) {
		t.Helper()
		problems, err := check(alias)
		if path == "" && (len(problems) > 0 || err != nil) {
			t.Errorf("%s: the problems are %v and activation returned %v, want none", what, problems, err)
		}
		if path != "" && (len(problems) != 1 || problems[0].Path != path || problems[0].Severity != severity) {
			t.Errorf("%s: the problems are %v, want one %s in %s", what, problems, severity, path)
		}
		if (err != nil) != (severity == SeverityError) {
			t.Errorf("%s: activation returned %v, want an error only if there are errors", what, err)
		}
	}
	wants("a published template", "published", "", "")
	wants("unpublished changes", "edited", "steps[0].template", SeverityWarning)
	wants("a draft", "draft", "steps[0].template", SeverityError)
	w.Near.Sender.Failing = true
	wants("a domain that lost its records", "published", "steps[0].from", SeverityWarning)
	w.Near.SenderErr = fault.Forbiddenf(fault.CodeDomainNotVerified, "The domain is not verified")
	wants("a domain that is not verified", "published", "steps[0].from", SeverityError)
}

// If a template is deleted while an automation is activated, whichever commits second sees the other.
func TestActivationRacesTemplateDeletion(t *testing.T) {
	t.Parallel()
	for range 20 {
		w, store, _ := templateWorld(t, "raced")
		a, err := w.Create(t.Context(), sendingtest.Account,
			fmt.Appendf(nil, `{"name": "Test", "trigger": {"event": "e"}, "steps": [%s]}`,
				sendTemplate(`{"alias": "raced"}`)), nil)
		if err != nil {
			t.Fatal(err)
		}
		var activated, deleted error
		var both sync.WaitGroup
		both.Go(func() { _, activated = w.Activate(t.Context(), w.caller(), a.ID, Activation{}) })
		both.Go(func() { deleted = store.Delete(t.Context(), sendingtest.Account, "raced", false) })
		both.Wait()
		if (activated == nil) == (deleted == nil) {
			t.Errorf("activation returned %v and deletion %v, want exactly one to succeed", activated, deleted)
		}
	}
}
