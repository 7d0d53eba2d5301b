package graph

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/graph/model"
	"github.com/postrider/postrider/modules/inbound"
	"github.com/postrider/postrider/modules/inbound/addressrules"
	"github.com/postrider/postrider/rest/pages/dashboard"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/page"
)

// fakeReceived has an email of ada, another whose content was deleted, and one of bob.
type fakeReceived struct{ *calls }

func someReceived() []*ent.ReceivedEmail {
	score, answered := 0.4, "1@example.com"
	whole := &ent.ReceivedEmail{ID: "inb_001", AccountID: ada, DomainID: "dom_001", RcptTo: "support@example.com",
		MailFrom: "bob@example.net", From: "Bob <bob@example.net>",
		To: []string{"support@example.com"}, Cc: []string{"carol@example.net"},
		ReplyTo: []string{"answers@example.net"}, Subject: "Hello", MessageID: "2@example.net", InReplyTo: &answered,
		References: []string{answered}, Authentication: shape.Authentication{SPF: "pass", DKIM: "none", DMARC: "fail",
			IPRev: "pass", DMARCPolicy: "reject"},
		SpamStatus: "ham", SpamScore: &score, AutoSubmitted: true, Size: 120,
		Attachments: []shape.ReceivedFile{{Filename: "a.pdf", ContentType: "application/pdf", ContentID: "a",
			Inline: true, Size: 9}},
		Defects: []string{"A multipart has no boundary."}, RemoteIP: "203.0.113.7", Helo: "mx.example.net",
		TLS: "TLS 1.3", ReceivedAt: day}
	return []*ent.ReceivedEmail{whole, {ID: "inb_002", AccountID: ada, SpamStatus: "unknown", ReceivedAt: day},
		{ID: "inb_003", AccountID: bob, SpamStatus: "spam", ReceivedAt: day}}
}

// heavyMail has as much data in its headers as an outside sender can put there.
func heavyMail(n int) (out []*ent.ReceivedEmail) {
	long := func(octets int) string { return strings.Repeat("x", octets) }
	for i := range n {
		out = append(out, &ent.ReceivedEmail{ID: fmt.Sprintf("inb_%03d", i), AccountID: ada, SpamStatus: "unknown",
			Subject: long(16 << 10), From: long(2000), References: slices.Repeat([]string{long(998)}, 260),
			To:          slices.Repeat([]string{long(250)}, 1000),
			Attachments: slices.Repeat([]shape.ReceivedFile{{Filename: long(1024), ContentType: "text/plain"}}, 500)})
	}
	return out
}

func (f fakeReceived) List(_ context.Context, accountID string,
	q inbound.ListQuery) (page.Page[*ent.ReceivedEmail], error) {
	rows := someReceived()
	if q.Filter.Q == "heavy" {
		rows = heavyMail(q.Page.Limit)
	}
	out, err := paged(rows, func(e *ent.ReceivedEmail) (string, string) { return e.AccountID, e.ID }, "received",
		accountID, q.Page)
	if q.Filter.Q == "nothing" {
		out = page.Page[*ent.ReceivedEmail]{}
	}
	return out, err
}

func (f fakeReceived) Count(ctx context.Context, accountID string, of inbound.Filter, most int) (int, error) {
	n, err := lengthOf(f.List(ctx, accountID, inbound.ListQuery{Page: whole, Filter: of}))
	return min(n, most), err
}

func (f fakeReceived) Get(_ context.Context, accountID, id string) (*ent.ReceivedEmail, error) {
	for _, e := range someReceived() {
		if e.ID == id && e.AccountID == accountID {
			return e, nil
		}
	}
	return nil, fault.NoSuch("received email", id)
}

func (f fakeReceived) Open(_ context.Context, e *ent.ReceivedEmail) (*inbound.Content, error) {
	if e.ID == "inb_002" {
		return nil, inbound.ErrPurged
	}
	return inbound.NewContent([]byte("From: Bob <bob@example.net>\r\nSubject: Hello\r\n\r\nA text.\r\n"), func() {}),
		f.call("received.Open")
}

func (f fakeReceived) Rules(_ context.Context, accountID, domainID string) (addressrules.Rules, error) {
	if accountID != ada || domainID != "dom_001" {
		return addressrules.Rules{}, fault.NoSuch("domain", domainID)
	}
	return addressrules.Rules{Rules: []shape.AddressRule{{Match: "support*", Action: addressrules.Accept},
		{Match: "x", Action: addressrules.Reject}}}, nil
}

// Mail from outside cannot make the dashboard's query for a page of received mail exceed the response
// limit.
func TestTheListOfReceivedMailTakesHeavyMail(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{})
	documents, err := dashboard.Documents()
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, text := range documents {
		if !strings.Contains(text, "query ReceivedList") && !strings.Contains(text, "query ReceivedThread") {
			continue
		}
		found++
		if a := s.ask(t, text, map[string]any{"filter": map[string]any{"query": "heavy"}}); a.status != 200 ||
			len(a.Errors) != 0 {
			t.Errorf("%.40s: a page of heavy mail got status %d and %.300s, want 200 without errors", text,
				a.status, a.body)
		}
	}
	if found != 2 {
		t.Errorf("of ReceivedList and ReceivedThread the dashboard has %d, want both", found)
	}
}

// Of many references the first and the last ones remain, and few references remain unchanged.
func TestOuterReferences(t *testing.T) {
	t.Parallel()
	var all []string
	for i := range 30 {
		all = append(all, fmt.Sprintf("%d@example.com", i))
	}
	for n, want := range map[int][]string{0: {}, 1: all[:1], 11: all[:11], 12: append([]string{all[0]}, all[2:12]...),
		30: append([]string{all[0]}, all[20:]...)} {
		e := model.ReceivedEmail{ReceivedEmail: &ent.ReceivedEmail{References: all[:n]}}
		same(t, fmt.Sprintf("of %d", n), want, e.OuterReferences())
	}
}

func TestReceivedMailAnswersEveryField(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{})
	a := s.ask(t, `{ receivedEmail(id: "inb_001") `+everything(t, "ReceivedEmail")+` receivedEmails(first: 1) `+
		everything(t, "ReceivedEmailConnection")+
		` gone: receivedEmail(id: "inb_002") { content { text } } addressRules(domainId: "dom_001") `+
		everything(t, "AddressRules")+` }`, nil)
	if a.status != 200 || len(a.Errors) != 0 {
		t.Fatalf("asking every field of received mail got status %d and %s, want 200 without errors", a.status, a.body)
	}
	expect.Golden(t, "received.json", indented(t, a.body))
	a = s.ask(t,
		`{ receivedEmail(id: "inb_003") { id } addressRules(domainId: "dom_999") { catchAll } receivedEmails(filter: {query: "nothing"}) { nodes { id } } }`, nil)
	same(t, "bob's, and none", map[string]any{"receivedEmail": nil, "addressRules": nil,
		"receivedEmails": map[string]any{"nodes": []any{}}}, a.Data)
	if a := s.askAs(t, "svc_sending", `{ receivedEmails { nodes { id } } }`, nil); a.codes() != "insufficient_scope" {
		t.Errorf("a key for sending: %s", a.body)
	}
}
