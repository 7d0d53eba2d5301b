package automations

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/sending/sendingtest"
	"github.com/postrider/postrider/modules/templates"
	"github.com/postrider/postrider/modules/templates/language"
)

// setText changes and publishes a template, with a translation.
func setText(t *testing.T, store *templates.Service, alias, html, german string) {
	t.Helper()
	change := templates.TemplateChange{HTML: &html}
	if german != "" {
		change.Translations = &[]shape.Translation{{Locale: "de", HTML: german}}
	}
	if _, err := store.Update(t.Context(), sendingtest.Account, alias, change, templates.Revision{}); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Publish(t.Context(), sendingtest.Account, alias, "", nil); err != nil {
		t.Fatal(err)
	}
}

// sentBodies returns the version and HTML of each sent email by the user of its run.
func (w *world) sentBodies(t *testing.T) map[string]string {
	t.Helper()
	list, err := w.DB.Ent.Email.Query().All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, e := range list {
		run, err := w.Run(t.Context(), sendingtest.Account, *e.RunID)
		if err != nil {
			t.Fatal(err)
		}
		html, _, err := w.Records.Texts(t.Context(), sendingtest.Account, e.ID)
		if err != nil || html == nil || e.TemplateVersion == nil {
			t.Fatalf("the body of %s is %v, %v", e.ID, html, err)
		}
		out[orEmpty(run.UserID)] = fmt.Sprintf("%d: %s", *e.TemplateVersion, *html)
	}
	return out
}

func wantBodies(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// A live run sends the template version that was published when it started, with its translations and layout.
func TestLiveRunsKeepTemplateVersion(t *testing.T) {
	t.Parallel()
	w, store, _ := templateWorld(t, "welcome")
	if _, err := store.Add(t.Context(), sendingtest.Account, templates.NewTemplate{Kind: language.KindLayout,
		Alias: "base", Name: "Base", HTML: "empty"}); err != nil {
		t.Fatal(err)
	}
	const body = `{%% layout "base" %%}{%% block "content" %%}%s{%% endblock %%}`
	setText(t, store, "base", `old frame, {% block "content" %}{% endblock %}`, "")
	setText(t, store, "welcome", fmt.Sprintf(body, "old"), fmt.Sprintf(body, "alt"))
	w.activate(t, `{"event": "start"}`, `{"type": "delay", "duration": "PT1H"}, `+
		sendTemplate(`{"alias": "welcome", "locale": "{{event.data.locale}}"}`))
	start := func(user, locale string) {
		w.postAs(t, "start", user, user+"@example.net", `{"locale": "`+locale+`"}`)
	}
	start("before", "en")
	start("german", "de-AT")
	w.drain(t)

	setText(t, store, "base", `new frame, {% block "content" %}{% endblock %}`, "")
	setText(t, store, "welcome", fmt.Sprintf(body, "new"), fmt.Sprintf(body, "neu"))
	start("after", "de")
	if _, err := store.Rollback(t.Context(), sendingtest.Account, "welcome", 2, "", nil); err != nil {
		t.Fatal(err)
	}
	start("restored", "en")
	setText(t, store, "welcome", "last", "zuletzt")
	w.drain(t)
	w.endWaits(t)
	w.drain(t)
	wantBodies(t, "emails", w.sentBodies(t), map[string]string{
		"before": "2: old frame, old", "german": "2: old frame, alt",
		"after": "3: new frame, neu", "restored": "4: old frame, old"})
}

// A retry takes the published version, so that a repaired template repairs the failed runs.
func TestRetryTakesPublishedTemplateVersion(t *testing.T) {
	t.Parallel()
	w, store, _ := templateWorld(t)
	if _, err := store.Add(t.Context(), sendingtest.Account, templates.NewTemplate{Alias: "a", Name: "A", Subject: "S",
		Variables: []shape.Variable{{Key: "event.data.name", Type: language.TypeString, Required: true}}}); err != nil {
		t.Fatal(err)
	}
	setText(t, store, "a", "Hi {{event.data.name}}", "")
	a := w.activate(t, `{"event": "start"}`, sendTemplate(`{"alias": "a"}`))
	w.post(t, "start", `{}`)
	w.drain(t)
	if got := w.countStatuses(t); got["failed"] != 1 {
		t.Fatalf("the runs are %v, want one failed", got)
	}
	if _, err := store.Update(t.Context(), sendingtest.Account, "a",
		templates.TemplateChange{Variables: &[]shape.Variable{{Key: "event.data.name", Type: language.TypeString,
			Fallback: "you"}}}, templates.Revision{}); err != nil {
		t.Fatal(err)
	}
	setText(t, store, "a", "Hello {{event.data.name}}", "")
	if n, err := w.RetryFailed(t.Context(), sendingtest.Account, a.ID,
		Failed{Since: time.Now().Add(-time.Hour)}); err != nil || n != 1 {
		t.Fatalf("retry: %d runs, %v", n, err)
	}
	w.drain(t)
	wantBodies(t, "the email after the retry", w.sentBodies(t), map[string]string{"u1": "2: Hello you"})
}

// Force can delete a template that live runs need. Their steps then fail, unless another template has the alias.
func TestLiveRunsWithoutTheirTemplateVersion(t *testing.T) {
	t.Parallel()
	w, store, ids := templateWorld(t, "gone", "replaced")
	for alias, ref := range map[string]string{"gone": `{"id": "` + ids["gone"] + `"}`, "replaced": `{"alias": "replaced"}`} {
		w.activate(t, `{"event": "`+alias+`"}`, `{"type": "delay", "duration": "PT1H"}, `+sendTemplate(ref))
		w.postAs(t, alias, alias, "bob@example.net", `{}`)
	}
	w.drain(t)
	for alias, id := range ids {
		if err := store.Delete(t.Context(), sendingtest.Account, id, true); err != nil {
			t.Fatal(err)
		}
		if _, err := store.Add(t.Context(), sendingtest.Account,
			templates.NewTemplate{Alias: alias, Name: alias, Subject: "S"}); err != nil {
			t.Fatal(err)
		}
		setText(t, store, alias, "other", "")
		setText(t, store, alias, "published", "")
	}
	w.endWaits(t)
	w.drain(t)
	wantBodies(t, "emails", w.sentBodies(t), map[string]string{"replaced": "2: published"})
	var reason string
	if err := w.DB.SQL.QueryRowContext(t.Context(),
		`SELECT error FROM automation_runs WHERE user_id = 'gone'`).Scan(&reason); err != nil ||
		!strings.HasPrefix(reason, "template_missing: ") {
		t.Errorf("the run whose template was deleted failed with %q, %v", reason, err)
	}
}
