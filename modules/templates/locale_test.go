package templates

import (
	"strings"
	"testing"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/templates/language"
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
