package compose

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/modules/sending/handover"
	"github.com/postrider/postrider/modules/sending/sendingtest"
)

// recorder records the messages that are offered, and claims none.
type recorder struct{ emails []*handover.Email }

func (r *recorder) Offer(_ context.Context, list []handover.Recipient) *handover.Offer {
	for _, one := range list {
		r.emails = append(r.emails, one.Email)
	}
	return nil
}

// An email that is handed over equals the one that a claim would load, in every field.
func TestHandedOverEmailEqualsTheLoadedOne(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var offered recorder
	var err error
	if f.accepting, err = sending.New(sending.Params{DB: f.DB, Bus: f.Bus, Accounts: f.Near, Domains: f.Near,
		Suppression: f.Near, Templates: f.Near, Quota: f.Near, Records: f.records, Idempotency: f.Idempotency,
		Signals: sendingtest.NoSignals{}, Claimer: &offered}); err != nil {
		t.Fatal(err)
	}
	yes := true
	for name, change := range map[string]func(*sending.Message){
		"plain": func(*sending.Message) {},
		"html":  func(m *sending.Message) { m.HTML, m.Text = "<p>ä</p>", "" },
		"html without a text part": func(m *sending.Message) {
			m.HTML, m.Text, m.NoText = "<p>ä</p>", "", true
		},
		"all fields": func(m *sending.Message) {
			m.To = append(m.To, sending.Mailbox{Text: "Second <second@example.net>"})
			m.CC, m.BCC = []sending.Mailbox{{Text: "cc@example.net"}}, []sending.Mailbox{{Text: "bcc@example.net"}}
			m.ReplyTo = []sending.Mailbox{{Text: "Reply <reply@example.com>"}}
			m.Headers = []shape.Header{{Name: "X-Order", Value: "1"}}
			m.Tags = []shape.Tag{{Name: "kind", Value: "receipt"}}
			m.Unsubscribe, m.Category = &yes, "news"
		},
		"two recipients": func(m *sending.Message) {
			m.To = append(m.To, sending.Mailbox{Text: "Second <second@example.net>"})
		},
		"attachment": func(m *sending.Message) {
			m.Attachments = []sending.Attachment{{Name: "a.txt", ContentType: "text/plain", Data: []byte("file")}}
		},
		"relayed": func(m *sending.Message) {
			m.Text = ""
			m.Relayed = &sending.RelayedMessage{MIME: []byte(strings.ReplaceAll(
				"From: ada@example.com\nSubject: s\nMIME-Version: 1.0\nContent-Type: text/plain\n\nHello\n", "\n", "\r\n"))}
		},
	} {
		offered.emails = nil
		m := simpleMessage("Bob <bob@example.net>")
		change(&m)
		receipt, err := f.accepting.Send(t.Context(), f.Caller(), sending.Request{Message: m})
		if err != nil {
			t.Fatalf("%s: the message was refused: %v", name, err)
		}
		loaded, err := Load(t.Context(), f.DB.Hot, []string{receipt.ID})
		if err != nil || len(offered.emails) == 0 {
			t.Fatalf("%s: %d emails were offered, %v; want one", name, len(offered.emails), err)
		}
		if diff := cmp.Diff(loaded[receipt.ID], NewEmail(offered.emails[0]), cmp.AllowUnexported(StoredEmail{}),
			cmpopts.IgnoreFields(StoredEmail{}, "mutex"), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: the email differs (-loaded +handed over):\n%s", name, diff)
		}
	}
}
