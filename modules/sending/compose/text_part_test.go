package compose

import (
	"strings"
	"testing"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/modules/sending/sendingtest"
)

func TestHTMLOnlyMessageGetsTextPart(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	on := true
	for name, c := range map[string]struct {
		change func(*sending.Message)
		want   string
	}{
		"only html":          {func(*sending.Message) {}, "Thank you, Bob."},
		"text part disabled": {func(m *sending.Message) { m.NoText = true }, ""},
		"html and text":      {func(m *sending.Message) { m.Text = "Mine" }, "Mine"},
		"only text":          {func(m *sending.Message) { m.Text, m.NoText = "Mine", true }, "Mine"},
		"html without text":  {func(m *sending.Message) { m.HTML = `<img src="x.png">` }, ""},
		"an unsubscribe link": {func(m *sending.Message) {
			m.HTML, m.Unsubscribe = `<a href="%7B%7Bunsubscribe_url%7D%7D">Stop</a>`, &on
		}, "Stop (https://mail.example.com/u/"},
	} {
		m := simpleMessage("bob@example.net")
		m.HTML, m.Text = "<p>Thank you, <b>Bob</b>.</p>", ""
		c.change(&m)
		if got := strings.TrimSpace(f.parseSent(t, f.send(t, m)).Text); got != c.want &&
			(!strings.HasSuffix(c.want, "/") || !strings.HasPrefix(got, c.want)) {
			t.Errorf("%s: the text part is %q, want %q", name, got, c.want)
		}
	}
}

func TestEveryMessageHasFeedbackID(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const end = ":dom_01kf0m4w7he6x8q2v5b3n9c1ta:" + sendingtest.Account + ":postrider"
	for name, c := range map[string]struct {
		change func(*sending.Message)
		want   string
	}{
		"neither": {func(*sending.Message) {}, "none" + end},
		"tag": {func(m *sending.Message) {
			m.Tags = []shape.Tag{{Name: "kind", Value: "receipt"}, {Name: "shop", Value: "7"}}
		}, "receipt" + end},
		"category":         {func(m *sending.Message) { m.Category = "Product: news & more" }, "Product--news---more" + end},
		"tag and category": {func(m *sending.Message) { m.Category, m.Tags = "News", []shape.Tag{{Name: "kind", Value: "receipt"}} }, "receipt" + end},
	} {
		m := simpleMessage("bob@example.net")
		c.change(&m)
		o := &StoredEmail{DomainID: "dom_01kf0m4w7he6x8q2v5b3n9c1ta", accountID: sendingtest.Account, tags: m.Tags,
			category: m.Category}
		if got := o.feedbackID(); got != c.want {
			t.Errorf("%s: the value is %q, want %q", name, got, c.want)
		}
		if got := f.parseSent(t, f.send(t, m)).Get(feedbackField); got != c.want {
			t.Errorf("%s: the message has %q, want %q", name, got, c.want)
		}
	}
}
