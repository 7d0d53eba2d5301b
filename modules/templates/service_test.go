package templates

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/templates/language"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/storage/page"
)

const (
	ada = "acc_01kf0m4w7he6x8q2v5b3n9c1ta"
	eve = "acc_01kf0m4w7he6x8q2v5b3n9c1tb"
)

type world struct {
	*Service
	db *db.DB
}

func newWorld(t testing.TB) *world {
	t.Helper()
	d := dbtest.New(t)
	w := &world{db: d}
	w.Service = w.process(t)
	return w
}

// process returns another Service of the same installation.
func (w *world) process(t testing.TB) *Service {
	t.Helper()
	return New(Params{DB: w.db, Cursors: page.NewCodec(make([]byte, 16)), Logger: slog.New(slog.DiscardHandler)})
}

var receipt = NewTemplate{Alias: "receipt", Name: "Receipt", Subject: "Receipt for {{customer.name}}",
	From:    Mailbox{Email: "ada@example.com", Name: "Ada"},
	ReplyTo: []Mailbox{{Text: "help@example.com"}},
	HTML:    "<p>Hi {{customer.name}}, you pay {{amount}}.</p>{% for i in items %}<i>{{i}}</i>{% endfor %}",
	Variables: []shape.Variable{{Key: "customer.name", Type: language.TypeString, Required: true},
		{Key: "amount", Type: language.TypeNumber, Fallback: 5},
		{Key: "items", Type: language.TypeList}, {Key: "vip", Type: language.TypeBoolean}, {Key: "order", Type: language.TypeObject}},
	UnsubscribeEnabled: true, Category: "Receipts"}

func (w *world) add(t testing.TB, in NewTemplate) Template {
	t.Helper()
	made, err := w.Add(t.Context(), ada, in)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func (w *world) publish(t testing.TB, idOrAlias string) Publication {
	t.Helper()
	done, err := w.Publish(t.Context(), ada, idOrAlias, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	return done
}

func wantFields(t testing.TB, err error, fields ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %v", fields)
	}
	refused := fault.Classify(err)
	if refused.Kind != fault.Invalid || len(refused.Fields) != len(fields) {
		t.Fatalf("%v (%+v), want fields %v", err, refused.Fields, fields)
	}
	for _, f := range fields {
		if refused.Fields[f] == "" {
			t.Errorf("the error %v does not name %s", refused.Fields, f)
		}
	}
}

func wantKind(t testing.TB, err error, kind fault.Kind) {
	t.Helper()
	if err == nil || fault.KindOf(err) != kind {
		t.Errorf("%v, want kind %d", err, kind)
	}
}

func TestPublishesAndRendersDraft(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.add(t, receipt)
	if !id.Is(id.Template, made.ID) || made.Status() != StatusDraft || !made.HasUnpublishedChanges ||
		made.From != "Ada <ada@example.com>" {
		t.Errorf("the new template is %+v, want a draft with unpublished changes and its sender", made)
	}
	values := map[string]any{"customer": map[string]any{"name": "A&B"}, "items": []any{"x", "y"},
		"unknown": "is ignored"}
	_, err := w.Render(t.Context(), ada, Ref{Alias: "receipt"}, values)
	wantFields(t, err, "template.alias")

	done := w.publish(t, "receipt")
	if done.Warnings != nil || done.Template.Status() != StatusPublished || *done.Template.Version != 1 ||
		done.Template.HasUnpublishedChanges || done.Template.PublishedAt == nil {
		t.Errorf("the publication is %+v, want version 1 without warnings or unpublished changes", done)
	}
	want := Rendered{TemplateID: made.ID, Version: 1, Subject: "Receipt for A&B", From: "Ada <ada@example.com>",
		ReplyTo: []string{"help@example.com"},
		HTML:    "<p>Hi A&amp;B, you pay 5.</p><i>x</i><i>y</i>", Unsubscribe: true, Category: "Receipts"}
	for _, ref := range []Ref{{Alias: "receipt"}, {ID: made.ID}} {
		got, err := w.Render(t.Context(), ada, ref, values)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}

	subject := "Another"
	changed, err := w.Update(t.Context(), ada, "receipt", TemplateChange{Subject: &subject}, Revision{})
	if err != nil || !changed.HasUnpublishedChanges || changed.Subject != subject {
		t.Errorf("after changing the subject the template is %+v, %v, want unpublished changes and subject %s",
			changed, err, subject)
	}
	if got, err := w.Render(t.Context(), ada, Ref{ID: made.ID}, values); err != nil || got.Version != 1 ||
		got.Subject != want.Subject {
		t.Errorf("an unpublished edit was rendered: %+v %v", got, err)
	}
	w.publish(t, made.ID)
	if got, err := w.Render(t.Context(), ada, Ref{ID: made.ID}, values); err != nil || got.Version != 2 ||
		got.Subject != subject {
		t.Errorf("a publication is not visible immediately: %+v %v", got, err)
	}
	if again := w.publish(t, made.ID); *again.Template.Version != 2 {
		t.Errorf("publishing without changes created version %d", *again.Template.Version)
	}
}

func TestRejectsInvalidVariables(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(t, receipt)
	w.publish(t, "receipt")
	long := make([]any, language.MaxList+1)
	for name, c := range map[string]struct {
		values map[string]any
		wrong  []string
	}{
		"nothing": {nil, []string{"template.variables.customer.name"}},
		"null":    {map[string]any{"customer.name": nil}, []string{"template.variables.customer.name"}},
		"wrong types": {map[string]any{"customer": map[string]any{"name": 5}, "amount": "5", "items": map[string]any{}, "vip": "yes", "order": []any{}},
			[]string{"template.variables.customer.name", "template.variables.amount", "template.variables.items",
				"template.variables.vip", "template.variables.order"}},
		"a long list":                 {map[string]any{"customer.name": "x", "items": long}, []string{"template.variables.items"}},
		"a NUL":                       {map[string]any{"customer.name": "a\x00b"}, []string{"template.variables.customer.name"}},
		"flat":                        {map[string]any{"customer.name": "x"}, nil},
		"line breaks in other fields": {map[string]any{"customer.name": "x", "items": []any{"a\nb"}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := w.Render(t.Context(), ada, Ref{Alias: "receipt"}, c.values)
			if c.wrong == nil {
				if err != nil {
					t.Error(err)
				}
				return
			}
			wantFields(t, err, c.wrong...)
		})
	}
}

func TestCleansRenderedSubjects(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(t, NewTemplate{Alias: "order", Name: "Order", Subject: "Order of {{customer}}", Text: "T",
		Variables: []shape.Variable{{Key: "customer", Type: language.TypeString, Fallback: "a customer"}}})
	w.publish(t, "order")
	long := strings.Repeat("word ", 300)
	for name, c := range map[string]struct{ value, want string }{
		"a line break":      {"Ada\n", "Order of Ada"},
		"a header":          {"Ada\r\nBcc: x@evil.test", "Order of Ada Bcc: x@evil.test"},
		"a Unicode break":   {"Ada\u2028Byron\u0085King", "Order of Ada Byron King"},
		"controls":          {"Ada\v\x1b\tByron", "Order of Ada Byron"},
		"a no-break space":  {"Ada\u00a0Byron", "Order of Ada\u00a0Byron"},
		"a long value":      {long, "Order of " + strings.TrimSpace(long[:990])},
		"one long word":     {strings.Repeat("é", 2000), "Order of " + strings.Repeat("é", 989)},
		"a blank value":     {" \n ", "Order of"},
		"an unbroken token": {"{{unsubscribe_url}}", "Order of {{unsubscribe\u2060_url}}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := w.Render(t.Context(), ada, Ref{Alias: "order"}, map[string]any{"customer": c.value})
			if err != nil || got.Subject != c.want {
				t.Errorf("the subject is %q (%v), want %q", got.Subject, err, c.want)
			}
			if err := address.ValidateSubject(got.Subject); err != nil {
				t.Errorf("the subject is not valid: %v", err)
			}
		})
	}
}

func TestBlankSubjectUsesFallbacks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(t, NewTemplate{Alias: "title", Name: "Title", Subject: "{{title}}", Text: "T",
		Variables: []shape.Variable{{Key: "title", Type: language.TypeString, Fallback: "News for you"}}})
	w.publish(t, "title")
	for _, value := range []any{nil, "", " \t\n"} {
		got, err := w.Render(t.Context(), ada, Ref{Alias: "title"}, map[string]any{"title": value})
		if err != nil || got.Subject != "News for you" {
			t.Errorf("with the title %q the subject is %q (%v), want the fallback", value, got.Subject, err)
		}
	}
}

func TestRejectsUnknownRefs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.add(t, receipt)
	w.publish(t, "receipt")
	for ref, field := range map[Ref]string{
		{}: "template", {ID: made.ID, Alias: "receipt"}: "template", {ID: "receipt"}: "template.id",
		{ID: id.New(id.Template)}: "template.id",
		{ID: "\x00"}:              "template.id", {Alias: "other"}: "template.alias",
		{Alias: "No Alias\x00"}: "template.alias",
	} {
		_, err := w.Render(t.Context(), ada, ref, map[string]any{"customer.name": "x"})
		wantFields(t, err, field)
	}
	for _, ref := range []Ref{{ID: made.ID}, {Alias: "receipt"}} {
		if _, err := w.Render(t.Context(), ada, ref, map[string]any{"customer.name": "x"}); err != nil {
			t.Fatal(err) // the result is now cached
		}
		_, err := w.Render(t.Context(), eve, ref, map[string]any{"customer.name": "x"})
		wantFields(t, err, map[bool]string{true: "template.id", false: "template.alias"}[ref.ID != ""])
	}
}

func TestReportsAllInvalidFields(t *testing.T) {
	t.Parallel()
	many := make([]shape.Variable, language.MaxVariables+1)
	for name, c := range map[string]struct {
		in    NewTemplate
		wrong []string
	}{
		"empty": {NewTemplate{}, []string{"name"}},
		"all": {NewTemplate{Alias: "No", Name: strings.Repeat("n", 201), Subject: "a\nb", From: Mailbox{Text: "x"},
			ReplyTo: []Mailbox{{Text: "a@b.co"}, {Text: "y"}}, Category: "!!"},
			[]string{"alias", "name", "subject", "from", "reply_to[1]", "category"}},
		"sources":  {NewTemplate{Name: "n", Subject: "{{", HTML: "{% assign a = 1 %}", Text: "{{ a | safe }}"}, []string{"subject", "html", "text"}},
		"large":    {NewTemplate{Name: "n", HTML: strings.Repeat("x", language.MaxSource+1)}, []string{"html"}},
		"alias":    {NewTemplate{Name: "n", Alias: "tpl_x"}, []string{"alias"}},
		"too many": {NewTemplate{Name: "n", Variables: many}, []string{"variables"}},
		"variables": {NewTemplate{Name: "n", Variables: []shape.Variable{{}, {Key: "a b", Type: "x"},
			{Key: "a", Type: "string"}, {Key: "a", Type: "number", Fallback: "x"}, {Key: "unsubscribe_url", Type: "string"}}},
			[]string{"variables[0].key", "variables[0].type", "variables[1].key", "variables[1].type",
				"variables[3].key", "variables[3].fallback", "variables[4].key"}},
		"parts": {NewTemplate{Name: "n", Variables: []shape.Variable{{Key: "a", Type: "string"},
			{Key: "a.b", Type: "string"}, {Key: "o", Type: "object"}, {Key: "o.p", Type: "string"}}}, []string{"variables[1].key"}},
		"reserved": {NewTemplate{Name: "n", Variables: []shape.Variable{{Key: "forloop.x", Type: "string"},
			{Key: "and", Type: "string"}, {Key: "a.b.c.d.e.f", Type: "string"}, {Key: "a.", Type: "string"}}},
			[]string{"variables[0].key", "variables[1].key", "variables[2].key", "variables[3].key"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantFields(t, c.in.Validate().Err(), c.wrong...)
		})
	}
}

func TestAliasIsUniquePerAccount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.add(t, receipt)
	_, err := w.Add(t.Context(), ada, receipt)
	wantKind(t, err, fault.Conflict)
	if _, err := w.Add(t.Context(), eve, receipt); err != nil {
		t.Errorf("using another account's alias returned %v", err)
	}
	other := w.add(t, NewTemplate{Name: "other", Text: "x"})
	alias, none, free := "receipt", "", "free"
	_, err = w.Update(t.Context(), ada, other.ID, TemplateChange{Alias: &alias}, Revision{})
	wantKind(t, err, fault.Conflict)
	if now, err := w.Update(t.Context(), ada, first.ID, TemplateChange{Alias: &none}, Revision{}); err != nil ||
		now.Alias != nil {
		t.Errorf("after its alias was removed the template is %+v, %v, want no alias", now, err)
	}
	if now, err := w.Update(t.Context(), ada, other.ID, TemplateChange{Alias: &free}, Revision{}); err != nil ||
		*now.Alias != "free" {
		t.Errorf("after its alias changed the template is %+v, %v, want the alias free", now, err)
	}
	copied, err := w.Duplicate(t.Context(), ada, "free", nil)
	if err != nil || copied.Alias != nil || copied.Name != "other (copy)" || *copied.Text != "x" ||
		copied.ID == other.ID {
		t.Errorf("the copy is %+v, %v, want another id, no alias and the name other (copy)", copied, err)
	}
}

func TestAccountsAreIsolated(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.add(t, receipt)
	w.publish(t, made.ID)
	name := "x"
	for what, ask := range map[string]func(ref string) error{
		"get": func(ref string) error { _, err := w.Get(t.Context(), eve, ref); return err },
		"update": func(ref string) error {
			_, err := w.Update(t.Context(), eve, ref, TemplateChange{Name: &name}, Revision{})
			return err
		},
		"delete":    func(ref string) error { return w.Delete(t.Context(), eve, ref, false) },
		"duplicate": func(ref string) error { _, err := w.Duplicate(t.Context(), eve, ref, nil); return err },
		"publish":   func(ref string) error { _, err := w.Publish(t.Context(), eve, ref, "", nil); return err },
		"rollback":  func(ref string) error { _, err := w.Rollback(t.Context(), eve, ref, 1, "", nil); return err },
		"preview":   func(ref string) error { _, err := w.Preview(t.Context(), eve, ref, PreviewInput{}); return err },
		"versions": func(ref string) error {
			_, err := w.Versions(t.Context(), eve, ref, page.Request{Limit: 1})
			return err
		},
		"version": func(ref string) error { _, err := w.Version(t.Context(), eve, ref, 1); return err },
	} {
		for _, ref := range []string{made.ID, "receipt", id.New(id.Template), "nobody"} {
			if err := ask(ref); err == nil || fault.KindOf(err) != fault.NotFound ||
				!strings.HasSuffix(fault.Classify(err).Message, "No such template: "+ref) {
				t.Errorf("%s of Ada's template as %s by Eve returned %v, want not found", what, ref, err)
			}
		}
	}
	if list, err := w.List(t.Context(), eve, ListQuery{Page: page.Request{Limit: 10}}); err != nil ||
		len(list.Items) != 0 {
		t.Errorf("Eve's templates are %+v, %v, want none", list, err)
	}
	if now, err := w.Get(t.Context(), ada, made.ID); err != nil || now.Name != "Receipt" {
		t.Errorf("after Eve's attempts Ada's template is %+v, %v, want it unchanged", now, err)
	}
}

func TestListPagesAndFilters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var ids []string
	for i := range 5 {
		in := NewTemplate{Name: fmt.Sprintf("Name %d_%%", i), Text: "x"}
		if i == 2 {
			in.Alias = "two"
		}
		ids = append([]string{w.add(t, in).ID}, ids...)
	}
	w.publish(t, "two")
	all := func(q ListQuery) (out []string) {
		q.Page.Limit = 2
		for {
			list, err := w.List(t.Context(), ada, q)
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range list.Items {
				if out = append(out, row.ID); row.Text != nil {
					t.Error("a list reads bodies")
				}
				if row.HasUnpublishedChanges != (row.Status() == StatusDraft) {
					t.Errorf("in the list, %s has unpublished changes: %t, want %t", row.ID,
						row.HasUnpublishedChanges, row.Status() == StatusDraft)
				}
			}
			if q.Page.Cursor = list.NextCursor; !list.HasMore {
				return out
			}
		}
	}
	for name, c := range map[string]struct {
		q    ListQuery
		want []string
	}{
		"all": {ListQuery{}, ids}, "alias": {ListQuery{Alias: "two"}, ids[2:3]}, "no such alias": {ListQuery{Alias: "three"}, nil},
		"published": {ListQuery{Status: StatusPublished}, ids[2:3]},
		"draft":     {ListQuery{Status: StatusDraft}, append(append([]string{}, ids[:2]...), ids[3:]...)},
		"name":      {ListQuery{Name: "nAME 4"}, ids[:1]}, "wildcards are literal": {ListQuery{Name: "0_%"}, ids[4:]}, "none": {ListQuery{Name: "_____"}, nil},
	} {
		if diff := cmp.Diff(c.want, all(c.q)); diff != "" {
			t.Errorf("%s: listed templates (-want +got):\n%s", name, diff)
		}
	}
	_, err := w.List(t.Context(), ada, ListQuery{Page: page.Request{Limit: 2}, Alias: "No", Status: "x", Name: "a\x00"})
	wantFields(t, err, "alias", "status", "q")
}

// If two callers have read the same draft, the second change fails and reports when the first one was made.
// Publishing does not change the etag.
func TestUpdateRejectsStaleEtag(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.add(t, receipt)
	read, err := w.Get(t.Context(), ada, "receipt")
	if err != nil || read.Etag() == "" || read.Etag() != made.Etag() {
		t.Fatalf("Get returned etag %q, Add returned %q: %v", read.Etag(), made.Etag(), err)
	}
	w.publish(t, made.ID)
	first, second := "What Ada wrote", "What Bob wrote"
	changed, err := w.Update(t.Context(), ada, made.ID, TemplateChange{Subject: &first}, Revision{Etag: read.Etag()})
	if err != nil || changed.Etag() == read.Etag() {
		t.Fatalf("the first change returned etag %q: %v", changed.Etag(), err)
	}
	var conflict *fault.Error
	_, err = w.Update(t.Context(), ada, made.ID, TemplateChange{Name: &second}, Revision{Etag: read.Etag()})
	if !errors.As(err, &conflict) || conflict.Code != fault.CodeConflict ||
		conflict.Details[fault.DetailChangedAt] == nil {
		t.Errorf("the second change returned %v, want a conflict with the time of the first", err)
	}
	now, err := w.Get(t.Context(), ada, made.ID)
	if err != nil || now.Name != receipt.Name || now.Subject != first || now.Etag() != changed.Etag() {
		t.Errorf("now: %q, %q: %v", now.Name, now.Subject, err)
	}
	if now, err = w.Update(t.Context(), ada, made.ID, TemplateChange{Name: &second}, Revision{Etag: now.Etag()}); err != nil ||
		now.Name != second || now.Subject != first {
		t.Errorf("a change with the current etag returned %q, %q: %v", now.Name, now.Subject, err)
	}
	back, none := receipt.Name, ""
	if now, err = w.Update(t.Context(), ada, made.ID, TemplateChange{Name: &back, Subject: &receipt.Subject},
		Revision{}); err != nil ||
		now.Etag() != read.Etag() {
		t.Errorf("after restoring the content the etag is %q, want %q: %v", now.Etag(), read.Etag(), err)
	}
	if now, err = w.Update(t.Context(), ada, made.ID, TemplateChange{Alias: &none}, Revision{}); err != nil ||
		now.Etag() == read.Etag() {
		t.Errorf("removing the alias did not change the etag: %v", err)
	}
}
