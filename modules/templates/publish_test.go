package templates

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/templates/language"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

func TestPublishRequiresCompleteTemplate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, c := range map[string]struct {
		in    NewTemplate
		wrong []string
	}{
		"no body": {NewTemplate{Name: "n", Subject: "s"}, []string{"html"}},
		"undeclared": {NewTemplate{Name: "n", Subject: "{{a}}",
			HTML:      "x\n{{ b.c }}{% for i in l %}{{i.x}}{{forloop.index}}{% endfor %}{{i}}",
			Text:      "{{ok}}{{unsubscribe_url}}",
			Variables: []shape.Variable{{Key: "ok", Type: language.TypeString}}}, []string{"subject", "html"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made := w.add(t, c.in)
			_, err := w.Publish(t.Context(), ada, made.ID, "", nil)
			wantFields(t, err, c.wrong...)
			if name == "undeclared" {
				if got := fault.Classify(err).
					Fields["html"]; got != "line 2: uses {{b.c}}, which is not declared in variables; neither are i, l" {
					t.Error(got)
				}
			}
			if now, err := w.Get(t.Context(), ada, made.ID); err != nil || now.Version != nil {
				t.Errorf("after a failed publication the template is %+v, %v, want no version", now, err)
			}
		})
	}
}

func TestRollbackPublishesOlderVersionAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.add(t, NewTemplate{Name: "n", HTML: "<style>p{color:red}</style><p>one</p>"})
	w.publish(t, made.ID)
	for _, html := range []string{"<p>two</p>", "<p>three</p>"} {
		if _, err := w.Update(t.Context(), ada, made.ID, TemplateChange{HTML: &html}, Revision{}); err != nil {
			t.Fatal(err)
		}
		w.publish(t, made.ID)
	}
	lost := "<p>lost</p>"
	if _, err := w.Update(t.Context(), ada, made.ID, TemplateChange{HTML: &lost}, Revision{}); err != nil {
		t.Fatal(err)
	}
	back, err := w.Rollback(t.Context(), ada, made.ID, 1, "", nil)
	if err != nil || *back.Template.Version != 4 || back.Template.HasUnpublishedChanges ||
		*back.Template.HTML != "<style>p{color:red}</style><p>one</p>" || back.Template.Text != nil {
		t.Fatalf("Rollback to version 1 returned %+v, %v, want its body as version 4, without unpublished changes",
			back, err)
	}
	if now, err := w.Get(t.Context(), ada, made.ID); err != nil || now.HasUnpublishedChanges {
		t.Errorf("after the rollback the template is %+v, %v, want no unpublished changes", now, err)
	}
	got, err := w.Render(t.Context(), ada, Ref{ID: made.ID}, nil)
	if err != nil || !strings.Contains(got.HTML, `<p style="color:red">one</p>`) || got.Text != "" || got.Version != 4 {
		t.Errorf("after the rollback it renders as %+v, %v, want version 4 with the body of version 1", got, err)
	}
	_, err = w.Rollback(t.Context(), ada, made.ID, 9, "", nil)
	wantFields(t, err, "version")

	var numbers []int
	request := page.Request{Limit: 3}
	for {
		list, err := w.Versions(t.Context(), ada, made.ID, request)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range list.Items {
			if numbers = append(numbers, v.Number); v.HTML != nil {
				t.Error("a list reads bodies")
			}
		}
		if request.Cursor = list.NextCursor; !list.HasMore {
			break
		}
	}
	if diff := cmp.Diff([]int{4, 3, 2, 1}, numbers); diff != "" {
		t.Error(diff)
	}
	v, err := w.Version(t.Context(), ada, made.ID, 2)
	if err != nil || *v.HTML != "<p>two</p>" {
		t.Errorf("version 2 is %+v, %v, want the body <p>two</p>", v, err)
	}
	_, err = w.Version(t.Context(), ada, made.ID, 5)
	wantKind(t, err, fault.NotFound)
}

func TestPreviewShowsDraftsAndVersions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.add(t, receipt)
	w.publish(t, made.ID)
	text := "Draft for {{customer.name}} {{nobody.declared.this}}"
	if _, err := w.Update(t.Context(), ada, made.ID, TemplateChange{Text: &text}, Revision{}); err != nil {
		t.Fatal(err)
	}
	values := map[string]any{"customer.name": "Bo"}
	draft, err := w.Preview(t.Context(), ada, "receipt", PreviewInput{Variables: values})
	if err != nil || draft.Text != "Draft for Bo " || draft.Version != 0 {
		t.Errorf("the preview of the draft is %+v, %v, want the text of the draft for Bo", draft, err)
	}
	first, err := w.Preview(t.Context(), ada, "receipt", PreviewInput{Variables: values, Version: 1})
	if err != nil || first.HTML != "<p>Hi Bo, you pay 5.</p>" || first.Text != "" {
		t.Errorf("the preview of version 1 is %+v, %v, want the published html for Bo and no text", first, err)
	}
	_, err = w.Preview(t.Context(), ada, "receipt", PreviewInput{})
	wantFields(t, err, "variables.customer.name")
	_, err = w.Preview(t.Context(), ada, "receipt", PreviewInput{Variables: values, Version: 7})
	wantFields(t, err, "version")
}

func TestStoresAnswersInTransaction(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	broken := errors.New("broken")
	in := receipt
	in.Keep = func(context.Context, idempotency.Execer, Template) error { return broken }
	if _, err := w.Add(t.Context(), ada, in); !errors.Is(err, broken) {
		t.Errorf("Add whose answer cannot be stored returned %v, want the error of Keep", err)
	}
	if n := w.db.Ent.Template.Query().CountX(t.Context()); n != 0 {
		t.Errorf("%d templates", n)
	}
	made := w.add(t, receipt)
	if _, err := w.Publish(t.Context(), ada, made.ID, "",
		func(context.Context, idempotency.Execer, Publication) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("Publish whose answer cannot be stored returned %v, want the error of Keep", err)
	}
	if n := w.db.Ent.TemplateVersion.Query().CountX(t.Context()); n != 0 {
		t.Errorf("%d versions", n)
	}
}

func TestConcurrentPublish(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	other := w.process(t)
	made := w.add(t, NewTemplate{Name: "n", Text: "0"})
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			s := []*Service{w.Service, other}[i%2]
			text := fmt.Sprint(i)
			if _, err := s.Update(t.Context(), ada, made.ID, TemplateChange{Text: &text}, Revision{}); err != nil {
				t.Error(err)
			}
			if _, err := s.Publish(t.Context(), ada, made.ID, "", nil); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	now, err := w.Get(t.Context(), ada, made.ID)
	if err != nil || now.HasUnpublishedChanges {
		t.Fatalf("after concurrent changes and publications the template is %+v, %v, want no unpublished changes", now,
			err)
	}
	versions := w.db.Ent.TemplateVersion.Query().CountX(t.Context())
	if *now.Version != versions || now.LastVersion != versions {
		t.Errorf("the published version is %d of %d, want the last one", *now.Version, versions)
	}
	expect.EventuallyWithin(t, 3*CacheTTL, "the other process sees the published version", func() bool {
		got, err := other.Render(t.Context(), ada, Ref{ID: made.ID}, nil)
		return err == nil && got.Version == versions && got.Text == *now.Text
	})
}

func TestDeletedTemplateIsGoneInAllProcesses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	other := w.process(t)
	made := w.add(t, NewTemplate{Name: "n", Alias: "a", Text: "x"})
	w.publish(t, "a")
	if _, err := other.Render(t.Context(), ada, Ref{Alias: "a"}, nil); err != nil {
		t.Fatal(err)
	}
	if err := w.Delete(t.Context(), ada, "a", false); err != nil {
		t.Fatal(err)
	}
	_, err := w.Render(t.Context(), ada, Ref{Alias: "a"}, nil)
	wantFields(t, err, "template.alias")
	expect.EventuallyWithin(t, 3*CacheTTL, "the other process sees the deletion", func() bool {
		_, err := other.Render(t.Context(), ada, Ref{ID: made.ID}, nil)
		return err != nil
	})
	if n := w.db.Ent.TemplateVersion.Query().CountX(t.Context()); n != 0 {
		t.Errorf("%d versions are left, want none", n)
	}
}

func FuzzPublish(f *testing.F) {
	receipt, err := os.ReadFile("mailhtml/testdata/receipt.html")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(receipt))
	f.Add("<style>p{color:red}</style><p {% if a %}b{% endif %}>{{c}}")
	f.Add("<style>@media x{p{color:red}}</style><table>{% for a in b %}<tr>{% endfor %}")
	f.Fuzz(func(t *testing.T, source string) {
		if len(source) > 4096 {
			return
		}
		if _, err := language.HTML.Compile("html", source); err != nil {
			return
		}
		v, err := newVersionOf(plain(content{html: source}))
		if err != nil {
			return
		}
		if _, err := language.HTML.Compile("html", v.content.html); err != nil {
			t.Errorf("%q was published as %q, which fails with %v", source, v.content.html, err)
		}
	})
}

// VersionBodies reads the bodies of several versions in one call, and only those of the account.
func TestVersionBodies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.add(t, NewTemplate{Name: "n", Subject: "s", HTML: "<style>p{color:red}</style><p>one</p>"})
	w.publish(t, made.ID)
	two := "<p>two</p>"
	if _, err := w.Update(t.Context(), ada, made.ID, TemplateChange{HTML: &two}, Revision{}); err != nil {
		t.Fatal(err)
	}
	w.publish(t, made.ID)
	list, err := w.Versions(t.Context(), ada, made.ID, page.Request{Limit: 9})
	if err != nil || len(list.Items) != 2 {
		t.Fatalf("Versions returned %+v, %v; want 2", list, err)
	}
	newest, oldest := list.Items[0].ID, list.Items[1].ID
	got, err := w.VersionBodies(t.Context(), ada, newest, oldest, 1<<40)
	if err != nil || len(got) != 2 || *got[newest].SourceHTML != two || got[newest].SourceText != nil ||
		got[newest].Text != nil ||
		!strings.Contains(*got[oldest].HTML, `<p style="color:red">one</p>`) || *got[oldest].SourceHTML != *made.HTML {
		t.Errorf("VersionBodies returned %+v, %v", got, err)
	}
	if theirs, err := w.VersionBodies(t.Context(), eve, newest, oldest); err != nil || len(theirs) != 0 {
		t.Errorf("VersionBodies for another account returned %+v, %v", theirs, err)
	}
}

// plain is a content without components.
func plain(c content) expandedContent {
	return expandedContent{source: c, content: c, kind: language.KindTemplate}
}
