package templates

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/templates/language"
	"github.com/postrider/postrider/runtime/storage/page"
)

var invoice = NewTemplate{Alias: "invoice", Name: "Invoice", Subject: `{{ total | money: "EUR" }}`,
	HTML: `<p>{{ paid_at | datetime: "short" }}</p>`,
	Variables: []shape.Variable{{Key: "total", Type: language.TypeNumber, Required: true},
		{Key: "paid_at", Type: language.TypeString, Fallback: "2026-01-15T22:05:00Z"}, {Key: "note", Type: language.TypeString}}}

func TestRendersForLocaleOfRecipient(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(t, invoice)
	w.publish(t, "invoice")
	values := map[string]any{"total": 1234.5}
	for _, c := range []struct{ locale, zone, subject, html string }{
		{"", "", "€1,234.50", "<p>1/15/26, 10:05\u00a0PM</p>"},
		{"de", "Europe/Berlin", "1.234,50\u00a0€", "<p>15.01.26, 23:05</p>"},
		{"en-GB", "Asia/Tokyo", "€1,234.50", "<p>16/01/2026, 07:05</p>"},
		{"", "", "€1,234.50", "<p>1/15/26, 10:05\u00a0PM</p>"}, // not that of the send before
	} {
		sent, err := w.Render(t.Context(), ada, Ref{Alias: "invoice", Locale: c.locale, TimeZone: c.zone}, values)
		if err != nil || sent.Subject != c.subject || sent.HTML != c.html {
			t.Errorf("%s %s: sent %q, %q (%v), want %q, %q", c.locale, c.zone, sent.Subject, sent.HTML, err, c.subject, c.html)
		}
		seen, err := w.Preview(t.Context(), ada, "invoice", PreviewInput{Variables: values, Locale: c.locale, TimeZone: c.zone})
		if err != nil || seen.Subject != c.subject || seen.HTML != c.html {
			t.Errorf("%s %s: previewed %q, %q (%v), want %q, %q", c.locale, c.zone, seen.Subject, seen.HTML, err, c.subject, c.html)
		}
	}
	_, err := w.Render(t.Context(), ada, Ref{Alias: "invoice", Locale: "german", TimeZone: "Mars/Base"}, nil)
	wantFields(t, err, "template.locale", "template.time_zone", "template.variables.total")
	_, err = w.Preview(t.Context(), ada, "invoice", PreviewInput{Locale: "x", TimeZone: "Local"})
	wantFields(t, err, "locale", "time_zone", "variables.total")
}

func TestReportsRawOutput(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	raw := invoice
	raw.HTML = "<p>{{ total }}</p>\n<div>{{ note | raw }}</div>{{ note | strip | raw }}"
	w.add(t, raw)
	if warnings := w.publish(t, "invoice").Warnings; len(warnings) != 1 || !strings.HasPrefix(warnings[0], "html, line 2: {{ note | raw }} ") {
		t.Errorf("publishing warns of %q, want the output with raw", warnings)
	}
	sent, err := w.Render(t.Context(), ada, Ref{Alias: "invoice"}, map[string]any{"total": 1, "note": "<hr>"})
	if err != nil || !strings.Contains(sent.HTML, "<div><hr></div><hr>") {
		t.Errorf("rendered %q (%v), want the HTML of the note", sent.HTML, err)
	}
	if f := sent.Findings; len(f) != 1 || f[0].Code != "raw_output" || f[0].Count != 2 || f[0].Places[0].Line != 2 {
		t.Errorf("findings are %+v, want raw_output in 2 places", f)
	}
}

var welcome = NewTemplate{Alias: "welcome", Name: "Welcome", Subject: "Welcome",
	HTML: "<p>Hello {{name}}</p>", Text: "Hello",
	Variables: []shape.Variable{{Key: "name", Type: language.TypeString, Fallback: "you"}},
	Translations: []shape.Translation{
		{Locale: "pt", Subject: "Bem-vindo", HTML: "<style>p{color:red}</style><p>Olá {{name}}</p>"},
		{Locale: "de-at", Subject: "Servus"},
		{Locale: "fr", HTML: "<p>Bonjour</p>", Text: "Bonjour"},
		{Locale: "zh-Hans", Subject: "欢迎"},
	}}

func TestRendersBestTranslation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(t, welcome)
	w.publish(t, "welcome")
	for locale, want := range map[string]Rendered{
		"":        {Subject: "Welcome", HTML: "<p>Hello you</p>", Text: "Hello"},
		"en-GB":   {Subject: "Welcome", HTML: "<p>Hello you</p>", Text: "Hello"},
		"ja":      {Subject: "Welcome", HTML: "<p>Hello you</p>", Text: "Hello"},
		"pt-BR":   {Locale: "pt", Subject: "Bem-vindo", HTML: `<html><head></head><body><p style="color:red">Olá you</p></body></html>`},
		"pt-PT":   {Locale: "pt", Subject: "Bem-vindo", HTML: `<html><head></head><body><p style="color:red">Olá you</p></body></html>`},
		"de":      {Locale: "de-AT", Subject: "Servus", HTML: "<p>Hello you</p>", Text: "Hello"},
		"de-CH":   {Locale: "de-AT", Subject: "Servus", HTML: "<p>Hello you</p>", Text: "Hello"},
		"fr-CA":   {Locale: "fr", Subject: "Welcome", HTML: "<p>Bonjour</p>", Text: "Bonjour"},
		"zh-TW":   {Locale: "zh-Hans", Subject: "欢迎", HTML: "<p>Hello you</p>", Text: "Hello"},
		"es":      {Subject: "Welcome", HTML: "<p>Hello you</p>", Text: "Hello"},
		"fr-x-y1": {Locale: "fr", Subject: "Welcome", HTML: "<p>Bonjour</p>", Text: "Bonjour"},
	} {
		got, err := w.Render(t.Context(), ada, Ref{Alias: "welcome", Locale: locale}, nil)
		if err != nil {
			t.Fatalf("rendering for the locale %q failed: %v", locale, err)
		}
		got = Rendered{Locale: got.Locale, Subject: got.Subject, HTML: got.HTML, Text: got.Text}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", locale, diff)
		}
	}
}

func TestVersionsKeepTheirTranslations(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.add(t, welcome)
	w.publish(t, "welcome")
	change := []shape.Translation{{Locale: "pt", Subject: "Oi"}}
	changed, err := w.Update(t.Context(), ada, "welcome", TemplateChange{Translations: &change}, Revision{Etag: made.Etag()})
	if err != nil || !changed.HasUnpublishedChanges || changed.Etag() == made.Etag() {
		t.Fatalf("changed %t, etag %s then %s (%v)", changed.HasUnpublishedChanges, made.Etag(), changed.Etag(), err)
	}
	subject := func(want string) {
		t.Helper()
		if got, err := w.Render(t.Context(), ada, Ref{Alias: "welcome", Locale: "pt-BR"}, nil); err != nil || got.Subject != want {
			t.Errorf("the subject is %q (%v), want %q", got.Subject, err, want)
		}
	}
	subject("Bem-vindo")
	w.publish(t, "welcome")
	subject("Oi")
	back, err := w.Rollback(t.Context(), ada, "welcome", 1, "", nil)
	if err != nil || back.Template.HasUnpublishedChanges {
		t.Fatalf("rolled back with changes %t (%v)", back.Template.HasUnpublishedChanges, err)
	}
	subject("Bem-vindo")
	now, err := w.Get(t.Context(), ada, "welcome")
	if err != nil || len(now.Translations) != 4 || now.Translations[0].HTML != welcome.Translations[0].HTML || now.HasUnpublishedChanges {
		t.Errorf("the draft is %+v (%v), want the translations as they were written", now.Translations, err)
	}
	none := []shape.Translation{}
	if changed, err = w.Update(t.Context(), ada, "welcome", TemplateChange{Translations: &none}, Revision{}); err != nil ||
		len(changed.Locales()) != 0 || !changed.HasUnpublishedChanges {
		t.Errorf("without translations: %+v, changed %t (%v)", changed.Locales(), changed.HasUnpublishedChanges, err)
	}
	edits, err := w.Edits(t.Context(), ada, "welcome", page.Request{Limit: 10})
	if err != nil || len(edits.Items) == 0 || edits.Items[len(edits.Items)-1].Translations != nil {
		t.Fatalf("edits are %+v (%v), want a list without translations", edits.Items, err)
	}
	if _, err := w.RestoreEdit(t.Context(), ada, "welcome", 1, "", nil); err != nil {
		t.Fatal(err)
	}
	if now, err = w.Get(t.Context(), ada, "welcome"); err != nil || len(now.Locales()) != 4 || now.HasUnpublishedChanges {
		t.Errorf("restored %+v, changed %t (%v), want the 4 translations", now.Locales(), now.HasUnpublishedChanges, err)
	}
	copied, err := w.Duplicate(t.Context(), ada, "welcome", nil)
	if err != nil || len(copied.Translations) != 4 {
		t.Errorf("the copy has %d translations (%v), want 4", len(copied.Translations), err)
	}
}

func TestListsMissingParts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(t, welcome)
	w.add(t, invoice)
	want := []Locale{{"pt", []string{"text"}}, {"de-AT", []string{"html", "text"}}, {"fr", []string{"subject"}},
		{"zh-Hans", []string{"html", "text"}}}
	one, err := w.Get(t.Context(), ada, "welcome")
	if diff := cmp.Diff(want, one.Locales()); err != nil || diff != "" {
		t.Errorf("one template (-want +got): %v\n%s", err, diff)
	}
	all, err := w.List(t.Context(), ada, ListQuery{Page: page.Request{Limit: 10}})
	if err != nil || len(all.Items) != 2 {
		t.Fatal(err, all.Items)
	}
	if diff := cmp.Diff(want, all.Items[1].Locales()); diff != "" || all.Items[1].Translations != nil {
		t.Errorf("the list (-want +got):\n%s", diff)
	}
	if locales := all.Items[0].Locales(); len(locales) != 0 {
		t.Errorf("a template without translations has %+v", locales)
	}
}

func TestRejectsInvalidTranslations(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	wrong := welcome
	wrong.Translations = []shape.Translation{{Locale: "pt-br", Subject: "a"}, {Locale: "pt-BR", Subject: "a"}, {Locale: "german", Text: "a"},
		{Locale: "fr"}, {Locale: "es", Subject: "a\nb", HTML: "{{ name", Text: strings.Repeat("a", language.MaxSource+1)}}
	_, err := w.Add(t.Context(), ada, wrong)
	wantFields(t, err, "translations[1].locale", "translations[2].locale", "translations[3]", "translations[4].html",
		"translations[4].subject", "translations[4].text")
	wrong.Translations = make([]shape.Translation, MaxTranslations+1)
	_, err = w.Add(t.Context(), ada, wrong)
	wantFields(t, err, "translations")
	wrong.Translations = nil
	for _, locale := range []string{"de", "fr", "es", "it", "nl"} {
		wrong.Translations = append(wrong.Translations, shape.Translation{Locale: locale, Text: strings.Repeat("a", language.MaxSource)})
	}
	_, err = w.Add(t.Context(), ada, wrong)
	wantFields(t, err, "translations")
	wrong.Translations = []shape.Translation{{Locale: "de", Text: "Hallo {{gone}}"}}
	w.add(t, wrong)
	_, err = w.Publish(t.Context(), ada, "welcome", "", nil)
	wantFields(t, err, "translations[0].text")
}
