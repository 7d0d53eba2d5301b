package sending

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/modules/templates"
	"github.com/postrider/postrider/runtime/base/fault"
)

func TestSendsOneCopyToAddressesThatDifferInCase(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	m := simpleMessage("dup@example.net", "DUP@example.net", "other@example.net")
	m.CC, m.BCC = []Mailbox{{Text: "Dup@EXAMPLE.net"}}, []Mailbox{{Text: "dup@example.net"}}
	_, recipients, _, _ := f.state(t, f.send(t, m))
	var got []string
	for _, r := range recipients {
		got = append(got, r.Address)
	}
	if diff := cmp.Diff([]string{"dup@example.net", "other@example.net"}, got); diff != "" {
		t.Errorf("copies of a message with one address in four letter cases (-want +got):\n%s", diff)
	}
}

func TestUnsubscribePlaceholderRequiresUnsubscribe(t *testing.T) {
	t.Parallel()
	const reason = "cannot contain {{unsubscribe_url}} unless unsubscribe is true"
	on, off := true, false
	with := func(subject, html, text string, unsubscribe *bool) Message {
		m := simpleMessage("bob@example.net")
		m.Subject, m.HTML, m.Text, m.Unsubscribe = subject, html, text, unsubscribe
		return m
	}
	for name, c := range map[string]struct {
		message Message
		want    fault.Fields
	}{
		"off": {with("s {{unsubscribe_url}}", `<a href="{{unsubscribe_url}}">`, "{{ unsubscribe_url }}",
			&off), fault.Fields{"subject": reason, "html": reason, "text": reason}},
		"omitted":                 {with("s", "", "Bye: {{unsubscribe_url}}", nil), fault.Fields{"text": reason}},
		"percent-encoded":         {with("s", `<a href="%7B%7Bunsubscribe_url%7D%7D">`, "", nil), fault.Fields{"html": reason}},
		"on":                      {with("s", `<a href="{{unsubscribe_url}}">`, "{{unsubscribe_url}}", &on), fault.Fields{}},
		"the word without braces": {with("unsubscribe_url", "<p>unsubscribe_url</p>", "{unsubscribe_url}", &off), fault.Fields{}},
	} {
		if diff := cmp.Diff(c.want, c.message.Validate()); diff != "" {
			t.Errorf("%s: invalid fields (-want +got):\n%s", name, diff)
		}
	}
}

func TestLimitsUnsubscribePlaceholders(t *testing.T) {
	t.Parallel()
	const reason = "cannot contain {{unsubscribe_url}} more than 100 times"
	on := true
	with := func(html, text string) Message {
		m := simpleMessage("bob@example.net")
		m.HTML, m.Text, m.Unsubscribe = html, text, &on
		return m
	}
	for name, c := range map[string]struct {
		message Message
		want    fault.Fields
	}{
		"100 in each": {with("<p>"+strings.Repeat("%7B%7Bunsubscribe_url%7D%7D", 100), strings.Repeat("{{unsubscribe_url}}", 100)), fault.Fields{}},
		"101": {with("<p>"+strings.Repeat("%7B%7Bunsubscribe_url%7D%7D", 101),
			strings.Repeat("{{unsubscribe_url}}", 101)), fault.Fields{"html": reason, "text": reason}},
		"the word without braces": {with("<p>"+strings.Repeat("unsubscribe_url", 200), "x"), fault.Fields{}},
	} {
		if diff := cmp.Diff(c.want, c.message.Validate()); diff != "" {
			t.Errorf("%s: invalid fields (-want +got):\n%s", name, diff)
		}
	}
}

func TestTemplateEnablesUnsubscribeLink(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	m := Message{From: Mailbox{Text: "ada@example.com"}, To: []Mailbox{{Text: "bob@example.net"}},
		Template: &TemplateRef{Alias: "news"}}
	for _, unsubscribe := range []bool{true, false} {
		f.Near.Rendered = templates.Rendered{Subject: "News", HTML: `<a href="{{unsubscribe_url}}">stop</a>`,
			Unsubscribe: unsubscribe}
		_, err := f.Send(t.Context(), f.Caller(), Request{Message: m})
		if wrong := fault.Classify(err); unsubscribe && err != nil || !unsubscribe &&
			(err == nil || wrong.Fields["html"] == "") {
			t.Errorf("a template with the placeholder and unsubscribe %v returned %v", unsubscribe, err)
		}
	}
}

func TestBlankSubjectIsMissing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, subject := range []string{"", " ", "   ", "\t", "\u00a0 "} {
		m := simpleMessage("bob@example.net")
		m.Subject = subject
		if diff := cmp.Diff(fault.Fields{"subject": "is required"}, m.Validate()); diff != "" {
			t.Errorf("invalid fields with the subject %q (-want +got):\n%s", subject, diff)
		}
		m.Text, m.Template = "", &TemplateRef{Alias: "news"}
		f.Near.Rendered = templates.Rendered{Subject: "Of the template", Text: "News"}
		if e, _, _, _ := f.state(t, f.send(t, m)); e.Subject != "Of the template" {
			t.Errorf("with the subject %q the email has subject %q, want that of the template", subject, e.Subject)
		}
	}
}
