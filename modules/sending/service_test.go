package sending

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/sending/sendingtest"
	"github.com/postrider/postrider/runtime/work/event"
)

func TestAcceptedMessageIsStoredCompletely(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	m := simpleMessage("Bob <bob@example.net>", "carol@bücher.example")
	m.CC, m.BCC, m.ReplyTo = []Mailbox{{Email: "d@example.net", Name: `Dan, "the man"`}}, []Mailbox{{Text: "e@example.net"}}, []Mailbox{{Text: "help@example.com"}}
	m.HTML, m.Tags, m.Headers = "<p>Hello</p>", []shape.Tag{{Name: "kind", Value: "x"}},
		[]shape.Header{{Name: "X-B", Value: "2"}, {Name: "X-A", Value: "1"}}
	m.Attachments = []Attachment{{Name: "a.pdf", Data: []byte("%PDF")},
		{Name: "b.png", ContentType: "image/png", ContentID: "logo", Data: []byte{0, 1, 2, 255}}}
	id := f.send(t, m)

	got, err := f.records.Get(t.Context(), sendingtest.Account, id)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"Bob <bob@example.net>", "carol@bücher.example"}, got.To); diff != "" {
		t.Errorf("to (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(m.Headers, got.Headers); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
	if got.Status != email.StatusSent || got.LastEvent != "email.sent" || got.SentAt == nil || got.MessageID != id+
		"@example.com" || *got.HTML != m.HTML {
		t.Errorf("email: %+v", got)
	}
	recipients, err := f.records.Recipients(t.Context(), sendingtest.Account, id)
	if err != nil {
		t.Fatal(err)
	}
	var addresses []string
	for _, r := range recipients[id] {
		addresses = append(addresses, string(r.Kind)+" "+r.Address+" "+r.Destination)
	}
	want := []string{"to bob@example.net example.net", "to carol@xn--bcher-kva.example xn--bcher-kva.example",
		"cc d@example.net example.net", "bcc e@example.net example.net"}
	if diff := cmp.Diff(want, addresses); diff != "" {
		t.Errorf("recipients (-want +got):\n%s", diff)
	}
	var data []byte
	if err := f.DB.SQL.QueryRowContext(t.Context(), `SELECT data FROM attachments WHERE email_id = $1 AND name = 'b.png'`, id).Scan(&data); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]byte{0, 1, 2, 255}, data); diff != "" {
		t.Errorf("attachment (-want +got):\n%s", diff)
	}
	facts, err := f.records.Timeline(t.Context(), sendingtest.Account, id)
	if err != nil {
		t.Fatal(err)
	}
	var payload event.Email
	if len(facts[id]) != 1 || json.Unmarshal(facts[id][0].Data, &payload) != nil || payload.EmailID != id ||
		payload.Status != "sent" {
		t.Errorf("facts: %+v", facts[id])
	}
}
