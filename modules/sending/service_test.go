package sending

import (
	"context"
	"crypto"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/runtime/bus"
	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/db/dbtest"
	"github.com/postrider/postrider/runtime/event"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/idempotency"
	"github.com/postrider/postrider/runtime/intake"
	"github.com/postrider/postrider/runtime/mail/dkim"
	"github.com/postrider/postrider/runtime/mail/lane"
	"github.com/postrider/postrider/runtime/mail/returnpath"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
	"github.com/postrider/postrider/runtime/page"
)

const testAccount = "acc_01kf0m4w7he6x8q2v5b3n9c1ta"

// testKey is made once: a key costs more than most tests.
var testKey = sync.OnceValue(func() crypto.Signer {
	key, err := dkim.GenerateKey()
	if err != nil {
		panic(err)
	}
	return key
})

// peer is the receiving side of the world: it answers what the test scripted.
type peer struct {
	mu      sync.Mutex
	answers map[string]smtpclient.Outcome // by recipient; Delivered without one
	seen    []string
}

func (p *peer) Deliver(_ context.Context, e smtpclient.Envelope, _ []byte, beforeFinalDot func() error) smtpclient.Outcome {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := beforeFinalDot(); err != nil {
		return smtpclient.Outcome{Kind: smtpclient.Temporary, Err: err}
	}
	p.seen = append(p.seen, e.To)
	if out, scripted := p.answers[e.To]; scripted {
		return out
	}
	return smtpclient.Outcome{Kind: smtpclient.Delivered, Code: 250, Reply: "250 Ok"}
}

// nobody listens: tests nudge workers themselves.
type nobody struct{}

func (nobody) Wake(string)                                {}
func (nobody) Subscribe(string) (<-chan struct{}, func()) { return nil, func() {} }

type fixture struct {
	*Service
	db   *db.DB
	idem *idempotency.Store
	near *neighbours
	peer *peer

	params Params
}

func newFixture(t *testing.T, change ...func(*Params)) *fixture {
	t.Helper()
	d := dbtest.New(t)
	log := slog.New(slog.DiscardHandler)
	b := bus.New(d, log, bus.Options{})
	idem, err := idempotency.New(idempotency.Params{DB: d.Hot, Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	paths, err := returnpath.New(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{db: d, idem: idem, peer: &peer{answers: map[string]smtpclient.Outcome{}}, near: &neighbours{
		suppressed: map[string]string{}, left: -1,
		account: accounts.Account{ID: testAccount, Email: "owner@example.com"},
		identity: domains.Identity{DomainID: "dom_01kf0m4w7he6x8q2v5b3n9c1ta", Domain: "example.com", Selector: "pr1", Key: testKey(),
			TLSMode: smtpclient.TLSOpportunistic},
	}}
	held, err := intake.New(intake.Config{Dir: t.TempDir(), Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	p := Params{Config: DefaultConfig(), DB: d, Budget: held, Bus: b, Timeline: b.Log(), Accounts: f.near, Domains: f.near, Suppression: f.near, Templates: f.near, Quota: f.near, Idempotency: idem,
		Ways: f.near, Lanes: lane.New(lane.Config{Smarthost: &lane.Set{Name: "peer", Own: true}}), Transport: f.peer, ReturnPaths: paths, Signals: nobody{}, Pages: page.NewCodec([]byte("0123456789abcdef")), Logger: log}
	for _, set := range change {
		set(&p)
	}
	f.params = p
	if f.Service, err = New(p); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return f
}

func (f *fixture) caller() accounts.Caller {
	return accounts.Caller{AccountID: testAccount, KeyID: "key_01kf0m4w7he6x8q2v5b3n9c1ta"}
}

func simple(to ...string) Message {
	m := Message{From: Mailbox{Text: "Ada <ada@example.com>"}, Subject: "Hello", Text: "Hello"}
	for _, a := range to {
		m.To = append(m.To, Mailbox{Text: a})
	}
	return m
}

func render(r Receipt) idempotency.Answer {
	return idempotency.Answer{Status: 200, Body: fmt.Appendf(nil, `{"id":%q,"status":%q}`, r.ID, r.Status)}
}

func (f *fixture) send(t *testing.T, m Message) string {
	t.Helper()
	receipt, err := f.Send(t.Context(), f.caller(), Request{Message: m})
	if err != nil {
		t.Fatal(err)
	}
	return receipt.ID
}

func TestAcceptedMessageIsStoredWhole(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	m := simple("Bob <bob@example.net>", "carol@bücher.example")
	m.CC, m.BCC, m.ReplyTo = []Mailbox{{Email: "d@example.net", Name: `Dan, "the man"`}}, []Mailbox{{Text: "e@example.net"}}, []Mailbox{{Text: "help@example.com"}}
	m.HTML, m.Tags, m.Headers = "<p>Hello</p>", []shape.Tag{{Name: "kind", Value: "x"}}, []shape.Header{{Name: "X-B", Value: "2"}, {Name: "X-A", Value: "1"}}
	m.Attachments = []Attachment{{Name: "a.pdf", Data: []byte("%PDF")}, {Name: "b.png", ContentType: "image/png", ContentID: "logo", Data: []byte{0, 1, 2, 255}}}
	id := f.send(t, m)

	got, err := f.Get(t.Context(), testAccount, id)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"Bob <bob@example.net>", "carol@bücher.example"}, got.To); diff != "" {
		t.Errorf("to (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(m.Headers, got.Headers); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
	if got.Status != email.StatusSent || got.LastEvent != "email.sent" || got.SentAt == nil || got.MessageID != id+"@example.com" || *got.HTML != m.HTML {
		t.Errorf("email: %+v", got)
	}
	recipients, err := f.Recipients(t.Context(), testAccount, id)
	if err != nil {
		t.Fatal(err)
	}
	var addresses []string
	for _, r := range recipients[id] {
		addresses = append(addresses, string(r.Kind)+" "+r.Address+" "+r.Destination)
	}
	want := []string{"to bob@example.net example.net", "to carol@xn--bcher-kva.example xn--bcher-kva.example", "cc d@example.net example.net", "bcc e@example.net example.net"}
	if diff := cmp.Diff(want, addresses); diff != "" {
		t.Errorf("recipients (-want +got):\n%s", diff)
	}
	var data []byte
	if err := f.db.SQL.QueryRowContext(t.Context(), `SELECT data FROM attachments WHERE email_id = $1 AND name = 'b.png'`, id).Scan(&data); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]byte{0, 1, 2, 255}, data); diff != "" {
		t.Errorf("attachment (-want +got):\n%s", diff)
	}
	facts, err := f.Timeline(t.Context(), testAccount, id)
	if err != nil {
		t.Fatal(err)
	}
	var payload event.Email
	if len(facts[id]) != 1 || json.Unmarshal(facts[id][0].Data, &payload) != nil || payload.EmailID != id || payload.Status != "sent" {
		t.Errorf("facts: %+v", facts[id])
	}
}

func TestAnotherAccountSeesNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.send(t, simple("bob@example.net"))
	const stranger = "acc_01kf0m4w7he6x8q2v5b3n9c1tb"
	if _, err := f.Get(t.Context(), stranger, id); fault.KindOf(err) != fault.NotFound {
		t.Errorf("Get: %v", err)
	}
	list, err := f.List(t.Context(), stranger, ListQuery{Page: page.Request{Limit: 10}})
	if err != nil || len(list.Items) != 0 {
		t.Errorf("List: %v %v", list.Items, err)
	}
	own, err := f.List(t.Context(), testAccount, ListQuery{Page: page.Request{Limit: 10}})
	if err != nil || len(own.Items) != 1 {
		t.Fatalf("own list: %v %v", own.Items, err)
	}
	if _, err := f.List(t.Context(), stranger, ListQuery{Page: page.Request{Limit: 10, Cursor: f.Cursor(testAccount, id)}}); fault.KindOf(err) != fault.Invalid {
		t.Errorf("a cursor of another account: %v", err)
	}
	recipients, err := f.Recipients(t.Context(), stranger, id)
	if err != nil || len(recipients) != 0 {
		t.Errorf("Recipients: %v %v", recipients, err)
	}
	facts, err := f.Timeline(t.Context(), stranger, id)
	if err != nil || len(facts) != 0 {
		t.Errorf("Timeline: %v %v", facts, err)
	}
	bodies, err := f.Bodies(t.Context(), stranger, id)
	if err != nil || len(bodies) != 0 {
		t.Errorf("Bodies: %v %v", bodies, err)
	}
}

func TestListPagesThroughEverythingOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var want []string
	for range 7 {
		want = append([]string{f.send(t, simple("bob@example.net"))}, want...)
	}
	var got []string
	q := ListQuery{Page: page.Request{Limit: 3}}
	for {
		p, err := f.List(t.Context(), testAccount, q)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range p.Items {
			got = append(got, e.ID)
			if e.HTML != nil || e.Text != nil {
				t.Error("a list carries bodies")
			}
		}
		if !p.HasMore {
			break
		}
		f.send(t, simple("late@example.net")) // rows that come in between move nothing
		q.Page.Cursor = p.NextCursor
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ids (-want +got):\n%s", diff)
	}
}
