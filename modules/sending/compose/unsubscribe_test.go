package compose

import (
	"context"
	"strings"
	"testing"

	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/modules/sending/sendingtest"
	"github.com/postrider/postrider/modules/tracking"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/mail/message"
)

// tracker records the messages that it rewrites.
type tracker struct{ asked []tracking.TrackedEmail }

func (r *tracker) Rewrite(_ context.Context, m tracking.TrackedEmail, html,
	text string) (newHTML, newText string, err error) {
	r.asked = append(r.asked, m)
	return html + "<!-- tracked -->", text + " (tracked)", nil
}

func headerValues(m *message.FullMessage, name string) (values []string) {
	for _, h := range m.Header {
		if strings.EqualFold(h.Name, name) {
			values = append(values, h.Value)
		}
	}
	return values
}

func TestAddsManagedUnsubscribe(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	yes := true
	m := simpleMessage("Bob <Bob@bücher.example>", "carol@example.net")
	m.Unsubscribe, m.Category = &yes, "Product News"
	m.Subject = "News {{unsubscribe_url}} and {{ unsubscribe_url }}"
	m.Text = "Stop: {{\tunsubscribe_url\n}} {{unsubscribe_urls}} {unsubscribe_url}"
	m.HTML = `<a href="{{unsubscribe_url}}">a</a><a href='%7B%7Bunsubscribe_url%7d%7D'>b</a>{{&nbsp;unsubscribe_url&nbsp;}}`
	id := f.send(t, m)
	got := f.parseSent(t, id)
	link := "https://mail.example.com/u/" + sendingtest.Account + "." + id + ".Bob@xn--bcher-kva.example.product-news"
	if list := headerValues(got, "List-Unsubscribe"); len(list) != 1 || list[0] != "<"+link+">" {
		t.Errorf("List-Unsubscribe: %q", list)
	}
	if post := headerValues(got, "List-Unsubscribe-Post"); len(post) != 1 || post[0] != "List-Unsubscribe=One-Click" {
		t.Errorf("List-Unsubscribe-Post: %q", post)
	}
	if want := "News " + link + " and " + link; got.Subject != want {
		t.Errorf("subject %q", got.Subject)
	}
	if want := "Stop: " + link + " {{unsubscribe_urls}} {unsubscribe_url}"; strings.TrimSpace(got.Text) != want {
		t.Errorf("text %q", got.Text)
	}
	if want := `<a href="` + link + `">a</a><a href='` + link + `'>b</a>` + link; strings.TrimSpace(got.HTML) != want {
		t.Errorf("html %q", got.HTML)
	}
}

func TestAddsNothingWithoutManagedUnsubscribe(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	m := simpleMessage("bob@example.net")
	m.Text = "{{unsubscribe_urls}} {unsubscribe_url}"
	got := f.parseSent(t, f.send(t, m))
	if len(headerValues(got, "List-Unsubscribe")) != 0 || strings.TrimSpace(got.Text) != m.Text {
		t.Errorf("the message is %+v, want no List-Unsubscribe and its text unchanged", got)
	}
}

func TestDomainEnablesTracking(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := &tracker{}
	f.rewriter = r
	yes := true
	m := simpleMessage("bob@example.net")
	m.HTML, m.Text, m.Unsubscribe = "{{unsubscribe_url}}", "t", &yes
	if got := f.parseSent(t, f.send(t, m)); len(r.asked) != 0 || strings.Contains(got.Text, "tracked") {
		t.Errorf("the message was tracked although tracking is off for the domain: %+v", r.asked)
	}
	f.Near.Sender.ClickTracking = true
	id := f.send(t, m)
	got := f.parseSent(t, id)
	want := tracking.TrackedEmail{AccountID: sendingtest.Account, EmailID: id, DomainID: f.Near.Sender.DomainID,
		Clicks: true}
	if len(r.asked) != 1 || r.asked[0] != want || strings.TrimSpace(got.Text) != "t (tracked)" ||
		!strings.Contains(got.HTML, "/u/") || !strings.HasSuffix(strings.TrimSpace(got.HTML), "<!-- tracked -->") {
		t.Errorf("the tracker received %+v, text %q, html %q", r.asked, got.Text, got.HTML)
	}
}

// A message that could not be composed is rejected when it is submitted, not when it is delivered.
func TestRejectsOversizedUnsubscribeLinkAtAcceptance(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	yes := true
	m := simpleMessage("bob@example.net")
	m.Unsubscribe, m.Subject = &yes, strings.Repeat("{{unsubscribe_url}}", 40)
	if _, err := f.accepting.Send(t.Context(), f.Caller(), sending.Request{Message: m}); fault.Classify(err).
		Fields["subject"] == "" {
		t.Errorf("a subject of too many links returned %v", err)
	}
	m.Subject = strings.Repeat("{{unsubscribe_url}} ", 7)
	if got := f.parseSent(t, f.send(t, m)); strings.Count(got.Subject, "/u/") != 7 {
		t.Errorf("a subject of as many links as fit returned %q", got.Subject)
	}
}
