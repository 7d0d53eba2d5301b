package templates

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/templates/language"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/page"
)

func (w *world) edit(t *testing.T, id, author, html string) {
	t.Helper()
	if _, err := w.Update(t.Context(), ada, id, TemplateChange{HTML: &html}, Revision{Author: author}); err != nil {
		t.Fatal(err)
	}
}

// history returns the edits of a template as "number author html", newest first.
func (w *world) history(t *testing.T, id string) (out []string) {
	t.Helper()
	found, err := w.Edits(t.Context(), ada, id, page.Request{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range found.Items {
		e, err := w.Edit(t.Context(), ada, id, row.Number)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprintf("%d %s %s", e.Number, e.Author, *e.HTML))
	}
	return out
}

// endSession lets the next change begin another edit.
func (w *world) endSession(t *testing.T) {
	t.Helper()
	if _, err := db.Exec(t.Context(), w.db.SQL,
		`UPDATE template_edits SET created_at = created_at - interval '11 minutes'`); err != nil {
		t.Fatal(err)
	}
}

func TestEditsAreRecordedWithTheirAuthors(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.add(t, NewTemplate{Name: "n", HTML: "<p>new</p>"})
	if got := w.history(t, made.ID); got != nil {
		t.Errorf("an unchanged template has the history %q, want none", got)
	}
	w.edit(t, made.ID, "usr_1", "a")
	w.edit(t, made.ID, "usr_1", "b") // replaces the last edit
	w.edit(t, made.ID, "usr_2", "c")
	w.edit(t, made.ID, "usr_1", "d")
	w.edit(t, made.ID, "usr_1", "d") // changes nothing
	w.endSession(t)
	w.edit(t, made.ID, "usr_1", "e")
	renamed := "renamed"
	if _, err := w.Update(t.Context(), ada, made.ID, TemplateChange{Name: &renamed}, Revision{Author: "usr_3"}); err != nil {
		t.Fatal(err)
	}
	want := []string{"5 usr_1 e", "4 usr_1 d", "3 usr_2 c", "2 usr_1 b", "1  <p>new</p>"}
	if diff := cmp.Diff(want, w.history(t, made.ID)); diff != "" {
		t.Error("history:", diff)
	}
}

func TestRestoredEditIsSeparate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.add(t, NewTemplate{Name: "n", HTML: "one", Subject: "One"})
	w.edit(t, made.ID, "usr_1", "two")
	now, err := w.RestoreEdit(t.Context(), ada, made.ID, 1, "usr_1", nil)
	if err != nil || *now.HTML != "one" || now.Subject != "One" || now.Name != "n" {
		t.Errorf("RestoreEdit returned %+v, %v, want the first draft", now.Template, err)
	}
	if diff := cmp.Diff([]string{"3 usr_1 one", "2 usr_1 two", "1  one"}, w.history(t, made.ID)); diff != "" {
		t.Error("history after a restore:", diff)
	}
	if _, err := w.RestoreEdit(t.Context(), ada, made.ID, 7, "", nil); fault.KindOf(err) != fault.NotFound {
		t.Errorf("restoring an unknown edit returned %v, want NotFound", err)
	}
	w.publish(t, made.ID)
	w.edit(t, made.ID, "usr_1", "three")
	if _, err := w.Rollback(t.Context(), ada, made.ID, 1, "usr_2", nil); err != nil {
		t.Fatal(err)
	}
	if got := w.history(t, made.ID); got[0] != "4 usr_2 one" || got[1] != "3 usr_1 three" {
		t.Errorf("history after a rollback: %q, want the draft before it and the rollback", got)
	}
}

func TestHistoryIsBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.add(t, NewTemplate{Name: "n", HTML: "first"})
	for i := range MaxEdits + 5 {
		w.edit(t, made.ID, fmt.Sprintf("usr_%d", i), fmt.Sprint(i))
	}
	if got := w.history(t, made.ID); len(got) != MaxEdits || got[0] != fmt.Sprintf("%d usr_%d %d", MaxEdits+6, MaxEdits+4, MaxEdits+4) {
		t.Errorf("after many edits the history has %d entries, newest %q, want %d", len(got), got[0], MaxEdits)
	}
	for i := range 12 {
		w.edit(t, made.ID, fmt.Sprintf("usr_%d", i), strings.Repeat("x", 1_000_000-i))
	}
	found, err := w.Edits(t.Context(), ada, made.ID, page.Request{Limit: 100})
	if err != nil || len(found.Items) != maxEditBytes/1_000_000 {
		t.Errorf("large edits leave %d entries, %v, want %d", len(found.Items), err, maxEditBytes/1_000_000)
	}
}

func TestEditsOfAnotherAccountAreHidden(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.add(t, NewTemplate{Name: "n", HTML: "one"})
	w.edit(t, made.ID, "usr_1", "two")
	for name, do := range map[string]func() error{
		"Edits":       func() error { _, err := w.Edits(t.Context(), eve, made.ID, page.Request{Limit: 10}); return err },
		"Edit":        func() error { _, err := w.Edit(t.Context(), eve, made.ID, 1); return err },
		"RestoreEdit": func() error { _, err := w.RestoreEdit(t.Context(), eve, made.ID, 1, "", nil); return err },
	} {
		if err := do(); fault.KindOf(err) != fault.NotFound {
			t.Errorf("%s of another account's template returned %v, want NotFound", name, err)
		}
	}
	if err := w.Delete(t.Context(), ada, made.ID, false); err != nil {
		t.Fatal(err)
	}
	left, err := db.One(t.Context(), w.db.SQL, db.Value[int], `SELECT count(*) FROM template_edits`)
	if err != nil || left != 0 {
		t.Errorf("a deleted template leaves %d edits, %v, want none", left, err)
	}
}

func TestPreviewTakesExamples(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.add(t, NewTemplate{Name: "Order", HTML: "{{customer.name}} {{customer.city}} {{total}} {{note}}",
		Variables: []shape.Variable{{Key: "customer.name", Type: language.TypeString, Required: true, Example: "Ada"},
			{Key: "customer.city", Type: language.TypeString, Fallback: "nowhere", Example: "Turin"},
			{Key: "total", Type: language.TypeNumber, Example: 12.5}, {Key: "note", Type: language.TypeString, Fallback: "-"}}})
	w.publish(t, made.ID)
	in := PreviewInput{Version: 1, Examples: true, Variables: map[string]any{"customer": map[string]any{"name": "Bob"}}}
	if got, err := w.Preview(t.Context(), ada, made.ID, in); err != nil || got.HTML != "Bob Turin 12.5 -" {
		t.Errorf("a preview with examples returned %q, %v, want them where no value is given", got.HTML, err)
	}
	in.Examples = false
	if got, err := w.Preview(t.Context(), ada, made.ID, in); err != nil || got.HTML != "Bob nowhere  -" {
		t.Errorf("a preview without examples returned %q, %v, want fallbacks", got.HTML, err)
	}
	_, err := w.Render(t.Context(), ada, Ref{ID: made.ID}, nil)
	wantFields(t, err, "template.variables.customer.name") // sends never take examples
}

func TestPreviewRendersUnsavedChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.add(t, receipt)
	html, subject := "<b>{{ customer.name }}</b>", "For {{ customer.name }}"
	in := PreviewInput{Draft: &TemplateChange{HTML: &html, Subject: &subject},
		Variables: map[string]any{"customer": map[string]any{"name": "Ada"}}}
	got, err := w.Preview(t.Context(), ada, made.ID, in)
	if err != nil || got.HTML != "<b>Ada</b>" || got.Subject != "For Ada" || got.From != "Ada <ada@example.com>" {
		t.Errorf("Preview returned %+v, %v, want the unsaved changes and the stored sender", got, err)
	}
	if saved, err := w.Get(t.Context(), ada, made.ID); err != nil || *saved.HTML != receipt.HTML {
		t.Errorf("after a preview the template is %+v, %v, want no change", saved.Template, err)
	}
	html = "<p>\n  {{ customer.name | nope }}</p>"
	_, err = w.Preview(t.Context(), ada, made.ID, in)
	wantFields(t, err, "draft.html")
	if got := fault.Classify(err).Fields["draft.html"]; got != "line 2, column 3: there is no filter nope" {
		t.Errorf("the error is %q, want its line and column", got)
	}
	_, err = w.Preview(t.Context(), ada, made.ID, PreviewInput{Version: 1, Draft: &TemplateChange{}})
	wantFields(t, err, "draft")
}
