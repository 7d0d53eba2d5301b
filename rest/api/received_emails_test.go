package api_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/inbound"
	"github.com/postrider/postrider/modules/inbound/addressrules"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/page"
)

const receivedEmailID = "inb_01kf0m4w7he6x8q2v5b3n9c1ta"

var aMessage = strings.ReplaceAll(`From: Bob <bob@example.net>
To: support@example.com
Subject: Two files & "more"
Content-Type: multipart/mixed; boundary=b

--b

Thank <you>.
--b
Content-Type: application/pdf; name=one.pdf
Content-Transfer-Encoding: base64

b25l
--b
Content-Type: image/png; name=two.png
Content-Id: <logo>
Content-Disposition: inline
Content-Transfer-Encoding: base64

dHdv
--b--
`, "\n", "\r\n")

// fakeReceived has one email, and records its calls.
type fakeReceived struct {
	purged bool
	query  inbound.ListQuery
	answer inbound.ReplyRequest
	rules  addressrules.Rules
	closed int
}

func (f *fakeReceived) sample() *ent.ReceivedEmail {
	score, answered := 0.4, "msg_1@example.com"
	return &ent.ReceivedEmail{ID: receivedEmailID, DomainID: domainID, RcptTo: "support@example.com",
		MailFrom: "bob@example.net", From: "Bob <bob@example.net>",
		To: []string{"support@example.com"}, Subject: `Two files & "more"`, MessageID: "1@example.net",
		InReplyTo: &answered, References: []string{answered},
		Authentication: shape.Authentication{SPF: "pass", DKIM: "none", DMARC: "pass", IPRev: "fail",
			SPFDomain: "example.net", DMARCPolicy: "reject", DKIMDomains: []string{"example.net"}},
		SpamStatus: "ham", SpamScore: &score, Size: int64(len(aMessage)), RemoteIP: "203.0.113.7",
		Helo: "mx1.example.net", TLS: "TLS 1.3",
		Attachments: []shape.ReceivedFile{{Filename: "one.pdf", ContentType: "application/pdf", Size: 3},
			{Filename: "two.png", ContentType: "image/png", ContentID: "logo", Inline: true, Size: 3}},
		ReceivedAt: time.Date(2026, 1, 15, 9, 30, 0, 0, time.UTC)}
}

func (f *fakeReceived) List(_ context.Context, _ string, q inbound.ListQuery) (page.Page[*ent.ReceivedEmail], error) {
	f.query = q
	return page.Page[*ent.ReceivedEmail]{Items: []*ent.ReceivedEmail{f.sample()}, HasMore: true, NextCursor: "next"},
		nil
}

func (f *fakeReceived) Get(_ context.Context, _, id string) (*ent.ReceivedEmail, error) {
	return f.sample(), f.known(id)
}

func (f *fakeReceived) known(id string) error {
	if id != receivedEmailID {
		return fault.NoSuch("received email", id)
	}
	return nil
}

func (f *fakeReceived) Open(context.Context, *ent.ReceivedEmail) (*inbound.Content, error) {
	if f.purged {
		return nil, inbound.ErrPurged
	}
	return inbound.NewContent([]byte(aMessage), func() { f.closed++ }), nil
}

func (f *fakeReceived) Delete(_ context.Context, _, id string) error { return f.known(id) }

func (f *fakeReceived) Reply(_ context.Context, _ accounts.Caller, a inbound.ReplyRequest) (sending.Receipt, error) {
	f.answer = a
	return sending.Receipt{ID: emailID, Status: "sent"}, f.known(a.EmailID)
}

func (f *fakeReceived) Forward(ctx context.Context, c accounts.Caller,
	a inbound.ReplyRequest) (sending.Receipt, error) {
	return f.Reply(ctx, c, a)
}

func (f *fakeReceived) Rules(context.Context, string, string) (addressrules.Rules, error) {
	return addressrules.Rules{Rules: []shape.AddressRule{{Match: "sales*", Action: addressrules.Accept}}}, nil
}

func (f *fakeReceived) PutRules(_ context.Context, _, _ string, r addressrules.Rules) (addressrules.Rules, error) {
	f.rules = r
	return r, r.Validate()
}

func TestReceivedEmailAnswers(t *testing.T) {
	t.Parallel()
	const one, rules = "/received-emails/" + receivedEmailID, "/domains/" + domainID + "/address-rules"
	for name, c := range map[string]struct {
		method, path, body string
		status             int
		purged             bool
	}{
		"received_list":          {"GET", "/received-emails?to=support@example.com&since=2026-01-15T09:30:00Z&limit=3", "", 200, false},
		"received_bad_filters":   {"GET", "/received-emails?to=x&from=y&domain=-&since=now&q=.&limit=3", "", 400, false},
		"received":               {"GET", one, "", 200, false},
		"received_purged":        {"GET", one, "", 200, true},
		"received_unknown":       {"GET", "/received-emails/inb_1", "", 404, false},
		"received_raw_purged":    {"GET", one + "/raw", "", 409, true},
		"received_deleted":       {"DELETE", one, "", 200, false},
		"received_answered":      {"POST", one + "/reply", `{"textBody":"Yes","tags":{"kind":"answer"}}`, 200, false},
		"received_bad_answer":    {"POST", one + "/reply", `{"text":1,"to":[2],"template":{"id":"tpl_1"},"scheduled_at":"x"}`, 400, false},
		"received_forwarded":     {"POST", one + "/forward", `{"to":"carol@example.net","with_attachments":false}`, 200, false},
		"received_rules":         {"GET", rules, "", 200, false},
		"received_rules_put":     {"PUT", rules, `{"rules":[{"match":"support","action":"accept"}],"catch_all":false}`, 200, false},
		"received_rules_missing": {"PUT", rules, `{}`, 400, false},
		"received_rules_bad":     {"PUT", rules, `{"rules":[{"match":"a b","action":"drop"},{}],"catch_all":true}`, 400, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBundleFor(t, "/api/received-emails")
			b.received.purged = c.purged
			got := b.do(t, request{method: c.method, path: "/api" + c.path, body: c.body})
			if got.status != c.status || !strings.HasPrefix(got.header.Get("Content-Type"), "application/json") {
				t.Errorf("status %d, want %d: %s", got.status, c.status, got.body)
			}
			expect.Golden(t, "answers/"+name+".json", got.body)
		})
	}
}

func TestTheRawMessageIsWhatCameIn(t *testing.T) {
	t.Parallel()
	b := newBundleFor(t, "/api/received-emails")
	got := b.do(t, request{method: "GET", path: "/api/received-emails/" + receivedEmailID + "/raw"})
	if diff := cmp.Diff(aMessage, got.body); diff != "" || got.header.Get("Content-Type") != "message/rfc822" ||
		b.received.closed != 1 {
		t.Errorf("%v, closed %d times:\n%s", got.header, b.received.closed, diff)
	}
}

func TestAnAnswerArrivesAsItWasAsked(t *testing.T) {
	t.Parallel()
	b := newBundleFor(t, "/api/received-emails")
	b.do(t, request{method: "POST", path: "/api/received-emails/" + receivedEmailID + "/forward",
		body: `{"from":"a@example.com","to":["b@example.net",{"email":"c@example.net","name":"C"}],"subject":"S","html_body":"<p>","with_attachments":false}`})
	want := inbound.ReplyRequest{EmailID: receivedEmailID, WithoutFiles: true,
		Message: sending.Message{From: sending.Mailbox{Text: "a@example.com"},
			To: []sending.Mailbox{{Text: "b@example.net"}, {Email: "c@example.net", Name: "C"}}, Subject: "S",
			HTML: "<p>"}}
	got := b.received.answer
	got.Render = nil
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(sending.Message{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
