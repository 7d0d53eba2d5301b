package sending

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/ent/recipient"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/sending/sendingtest"
	"github.com/postrider/postrider/modules/templates"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/work/event"
)

// onlyFact returns the payload of the email's only fact.
func (f *fixture) onlyFact(t *testing.T, id string, want event.Type) event.Email {
	t.Helper()
	facts, err := f.records.Timeline(t.Context(), sendingtest.Account, id)
	if err != nil {
		t.Fatal(err)
	}
	var data event.Email
	if len(facts[id]) != 1 || facts[id][0].Type != want || json.Unmarshal(facts[id][0].Data, &data) != nil {
		t.Fatalf("facts are %+v, want one %s", facts[id], want)
	}
	return data
}

func TestScheduledMessageIsStoredWithoutDueRecipients(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Near.Left = 1
	m := simpleMessage("bob@example.net", "carol@example.net")
	m.ScheduledAt, m.Category = sendingtest.At(time.Hour), "Product news"
	receipt, err := f.Send(t.Context(), f.Caller(), Request{Message: m})
	if err != nil || receipt.Status != "scheduled" {
		t.Fatalf("sending a scheduled message returned %+v, %v; want it scheduled", receipt, err)
	}
	e, recipients, _, _ := f.state(t, receipt.ID)
	if e.Status != email.StatusScheduled || e.LastEvent != "email.scheduled" || e.SentAt != nil ||
		!e.ScheduledAt.Equal(*m.ScheduledAt) ||
		e.ReleaseAt == nil || !e.ReleaseAt.Equal(*m.ScheduledAt) || *e.Uncommon != "scheduled" ||
		*e.Category != "Product news" || e.Unsubscribe || *e.Text != m.Text {
		t.Errorf("email: %+v", e)
	}
	for _, r := range recipients {
		if r.State != recipient.StateQueued || r.DueAt != nil || r.SettledAt != nil {
			t.Errorf("recipient: %+v", r)
		}
	}
	if jobs := f.claimAll(t); len(recipients) != 2 || len(jobs) != 0 {
		t.Errorf("%d recipients, %d of them claimed", len(recipients), len(jobs))
	}
	if data := f.onlyFact(t, receipt.ID, event.EmailScheduled); data.Status != "scheduled" || data.ScheduledAt == nil ||
		!data.ScheduledAt.Equal(*m.ScheduledAt) {
		t.Errorf("fact: %+v", data)
	}
	if f.Near.Left != 0 {
		t.Errorf("the caps have %d left after a scheduled message used the last one, want 0", f.Near.Left)
	}
	f.Near.Left = 0
	if _, err := f.Send(t.Context(), f.Caller(), Request{Message: m}); fault.KindOf(err) != fault.Limit {
		t.Errorf("scheduled although the cap is reached: %v", err)
	}
}

func TestSuppressedRecipientFailsTheWholeMessage(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Near.Left, f.Near.Suppressed = 1, map[string]string{"carol@example.net": "bounce"}
	for _, scheduled := range []*time.Time{nil, sendingtest.At(time.Hour)} {
		m := simpleMessage("bob@example.net")
		m.BCC, m.ScheduledAt = []Mailbox{{Text: "Carol <carol@example.net>"}}, scheduled
		receipt, err := f.Send(t.Context(), f.Caller(), Request{Message: m})
		if err != nil || receipt.Status != "failed" {
			t.Fatalf("sending to a suppressed recipient returned %+v, %v; want a failed message", receipt, err)
		}
		e, recipients, _, _ := f.state(t, receipt.ID)
		if e.Status != email.StatusFailed || e.LastEvent != "email.suppressed" || e.SentAt != nil ||
			e.ReleaseAt != nil || *e.Uncommon != "failed" {
			t.Errorf("email: %+v", e)
		}
		var said []string
		for _, r := range recipients {
			if r.State != recipient.StateFailed || r.DueAt != nil || r.SettledAt == nil {
				t.Errorf("recipient: %+v", r)
			}
			said = append(said, *r.Diagnostic)
		}
		if diff := cmp.Diff([]string{"not sent: another recipient of the message is suppressed", "suppressed: bounce"},
			said); diff != "" {
			t.Errorf("diagnostics (-want +got):\n%s", diff)
		}
		data := f.onlyFact(t, receipt.ID, event.EmailSuppressed)
		if diff := cmp.Diff([]string{"carol@example.net"}, data.SuppressedRecipients); diff != "" ||
			data.Status != "failed" || data.ScheduledAt != nil {
			t.Errorf("fact: %+v", data)
		}
	}
	if jobs := f.claimAll(t); len(jobs) != 0 || f.Near.Left != 1 {
		t.Errorf("%d deliveries, caps leave %d", len(jobs), f.Near.Left)
	}
}

func TestMessageOverTheCapIsNotStored(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Near.Left = 1
	if _, err := f.sendWithKey(t, "first", []byte(`{}`)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.sendWithKey(t, "second", []byte(`{}`)); !errors.Is(err, sendingtest.ErrCap) {
		t.Errorf("over the cap: %v", err)
	}
	f.Near.Left = 1
	if _, err := f.sendWithKey(t, "second", []byte(`{}`)); err != nil {
		t.Errorf("a refusal by the cap was stored under the key: %v", err)
	}
	if emails := f.Count(t, "emails"); emails != 2 {
		t.Errorf("%d emails are stored", emails)
	}
}

func TestSuspendedAccountCannotSend(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Near.Owner.Suspended = true
	_, err := f.Send(t.Context(), f.Caller(), Request{Message: simpleMessage("bob@example.net")})
	if refused := fault.Classify(err); refused.Kind != fault.Forbidden || refused.Code != fault.CodeAccountSuspended {
		t.Errorf("sending from a suspended account returned %v, want account_suspended", err)
	}
}

func TestMessageValidation(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	receipt := &TemplateRef{Alias: "receipt"}
	for name, c := range map[string]struct {
		change func(*Message)
		want   []string
	}{
		"late":                   {func(m *Message) { m.ScheduledAt = sendingtest.At(-61 * time.Second) }, []string{"scheduled_at"}},
		"a moment late":          {func(m *Message) { m.ScheduledAt = sendingtest.At(-20 * time.Second) }, nil},
		"a year ahead":           {func(m *Message) { m.ScheduledAt = sendingtest.At(MaxAhead - time.Minute) }, nil},
		"more than a year ahead": {func(m *Message) { m.ScheduledAt = sendingtest.At(MaxAhead + time.Minute) }, []string{"scheduled_at"}},
		"scheduled with a file": {func(m *Message) {
			m.ScheduledAt, m.Attachments = sendingtest.At(time.Hour), []Attachment{{Name: "a.txt", Data: []byte("a")}}
		}, []string{"attachments"}},
		"category without a letter": {func(m *Message) { m.Category = "---" }, []string{"category"}},
		"category of two lines":     {func(m *Message) { m.Category = "a\nb" }, []string{"category"}},
		"long category":             {func(m *Message) { m.Category = strings.Repeat("é", 101) }, []string{"category"}},
		"own header":                {func(m *Message) { m.Headers = []shape.Header{{Name: "List-Unsubscribe", Value: "<mailto:a@b.c>"}} }, nil},
		"own header, off": {func(m *Message) {
			m.Unsubscribe, m.Headers = &no, []shape.Header{{Name: "list-unsubscribe", Value: "x"}}
		}, nil},
		"own header, managed": {func(m *Message) {
			m.Unsubscribe, m.Headers = &yes, []shape.Header{{Name: "list-unsubscribe", Value: "x"}}
		}, []string{"headers.list-unsubscribe"}},
		"template with both":         {func(m *Message) { m.Template = &TemplateRef{ID: "tpl_1", Alias: "receipt"} }, []string{"template"}},
		"template with neither":      {func(m *Message) { m.Template = &TemplateRef{} }, []string{"template"}},
		"template and nothing":       {func(m *Message) { *m = Message{To: m.To, Template: receipt} }, nil},
		"template and no recipients": {func(m *Message) { *m = Message{Template: receipt} }, []string{"to"}},
		"template and a bad sender":  {func(m *Message) { m.Template, m.From = receipt, Mailbox{Text: "x"} }, []string{"from"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := simpleMessage("bob@example.net")
			c.change(&m)
			var got []string
			for field := range m.Validate() {
				got = append(got, field)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("wrong fields (-want +got):\n%s", diff)
			}
		})
	}
}

// Values from the template and from the request.
func TestTemplateFillsMissingFields(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Near.Rendered = templates.Rendered{TemplateID: "tpl_1", Version: 3, Subject: "From the template",
		From: "Shop <shop@example.com>", HTML: "<p>Hi", Text: "Hi",
		ReplyTo: []string{"help@example.com"}, Unsubscribe: true, Category: "Receipts"}
	bare := Message{To: []Mailbox{{Text: "bob@example.net"}}, Template: &TemplateRef{Alias: "receipt"}}
	stored := func(m Message) *ent.Email {
		e, err := f.records.Get(t.Context(), sendingtest.Account, f.send(t, m))
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	bare.Template.Locale, bare.Template.TimeZone = "pt-BR", "America/Recife"
	if e := stored(bare); e.Subject != "From the template" || e.From != "Shop <shop@example.com>" ||
		*e.HTML != "<p>Hi" || *e.Text != "Hi" ||
		e.ReplyTo[0] != "help@example.com" || !e.Unsubscribe || *e.Category != "Receipts" || *e.TemplateID != "tpl_1" ||
		*e.TemplateVersion != 3 {
		t.Errorf("all from the template: %+v", e)
	}
	want := templates.Ref{Alias: "receipt", Locale: "pt-BR", TimeZone: "America/Recife"}
	if got := f.Near.TemplateRef; got != want {
		t.Errorf("rendered %+v, want %+v", got, want)
	}
	own := bare
	own.Subject, own.From, own.ReplyTo, own.Unsubscribe, own.Category = "Mine", Mailbox{Text: "me@example.com"},
		[]Mailbox{{Text: "us@example.com"}}, new(bool), "Mine too"
	if e := stored(own); e.Subject != "Mine" || e.From != "me@example.com" || len(e.ReplyTo) != 1 ||
		e.ReplyTo[0] != "us@example.com" || e.Unsubscribe || *e.Category != "Mine too" || *e.Text != "Hi" {
		t.Errorf("the request wins: %+v", e)
	}
	refused := func(m Message) fault.Fields {
		_, err := f.Send(t.Context(), f.Caller(), Request{Message: m})
		return fault.Classify(err).Fields
	}
	own.Text = "Mine"
	if diff := cmp.Diff(fault.Fields{"text": "cannot be combined with a template that has a body"},
		refused(own)); diff != "" {
		t.Errorf("a body in both template and request (-want +got):\n%s", diff)
	}
	f.Near.Rendered = templates.Rendered{TemplateID: "tpl_1", Version: 4}
	if diff := cmp.Diff(fault.Fields{"from": "is required", "subject": "is required",
		"html": "html or text is required"}, refused(bare)); diff != "" {
		t.Errorf("an empty template (-want +got):\n%s", diff)
	}
	f.Near.Rendered = templates.Rendered{Unsubscribe: true, Subject: "s", Text: "t", From: "a@example.com"}
	withHeader := bare
	withHeader.Headers = []shape.Header{{Name: "List-Unsubscribe", Value: "x"}}
	if got := refused(withHeader); got["headers.List-Unsubscribe"] == "" {
		t.Errorf("List-Unsubscribe header with a template that manages it: %v", got)
	}
	// Errors in the template and in other fields are reported together.
	f.Near.RenderErr = fault.InvalidField("template.variables.name", "is required by the template")
	withHeader.Headers[0].Name, withHeader.To = "Date", []Mailbox{{Text: "bob"}}
	got := refused(withHeader)
	if len(got) != 3 || got["template.variables.name"] == "" || got["headers.Date"] == "" || got["to[0]"] == "" {
		t.Errorf("wrong fields: %v", got)
	}
}
