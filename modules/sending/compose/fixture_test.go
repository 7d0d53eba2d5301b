package compose

import (
	"bytes"
	"context"
	"crypto/rsa"
	"strings"
	"testing"

	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/modules/sending/sendingtest"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/mail/dkim"
	"github.com/postrider/postrider/runtime/mail/message"
)

type fixture struct {
	*Composer
	*sendingtest.Parts

	accepting *sending.Service
	records   *records.Service
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{Parts: sendingtest.New(t)}
	var err error
	if f.records, err = records.New(records.Params{Usage: f.Near, DB: f.DB, Bus: f.Bus, Timeline: f.Bus.Log(),
		Budget: f.Budget, Pages: f.Pages}); err != nil {
		t.Fatal(err)
	}
	if f.accepting, err = sending.New(sending.Params{DB: f.DB, Bus: f.Bus, Accounts: f.Near, Domains: f.Near,
		Suppression: f.Near, Templates: f.Near, Quota: f.Near,
		Records: f.records, Idempotency: f.Idempotency, Signals: sendingtest.NoSignals{}}); err != nil {
		t.Fatal(err)
	}
	if f.Composer, err = New(Params{DB: f.DB, Domains: f.Near, Links: f.Near, Contents: f.records,
		Budget: f.Parts.Budget}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.accepting.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Errorf("stop accepting: %v", err)
		}
	})
	return f
}

func simpleMessage(to ...string) sending.Message {
	m := sending.Message{From: sending.Mailbox{Text: "Ada <ada@example.com>"}, Subject: "Hello", Text: "Hello"}
	for _, a := range to {
		m.To = append(m.To, sending.Mailbox{Text: a})
	}
	return m
}

func (f *fixture) send(t *testing.T, m sending.Message) string {
	t.Helper()
	receipt, err := f.accepting.Send(t.Context(), f.Caller(), sending.Request{Message: m})
	if err != nil {
		t.Fatalf("send: %v", err)
	}
	return receipt.ID
}

// load loads an accepted email as a claim does.
func (f *fixture) load(t *testing.T, id string) *StoredEmail {
	t.Helper()
	emails, err := Load(t.Context(), f.DB.Prepared, []string{id})
	if err != nil || emails[id] == nil {
		t.Fatalf("Load returned %v, %v; want the email %s", emails, err, id)
	}
	return emails[id]
}

// isBudgetFree reports whether none of the budget is in use.
func (f *fixture) isBudgetFree() bool { return f.Budget.Usage() == intake.Usage{} }

// parseSent returns the message as sent, after verifying it.
func (f *fixture) parseSent(t *testing.T, id string) *message.FullMessage {
	t.Helper()
	signed, done, err := f.Sign(t.Context(), f.load(t, id))
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	verifySignature(t, signed.Raw)
	signature, _, _ := bytes.Cut(signed.Raw, []byte("\r\nFrom:"))
	for _, name := range []string{"list-unsubscribe:", "list-unsubscribe-post:"} {
		if bytes.Contains(signed.Raw, []byte("\r\nList-Unsubscribe:")) &&
			!strings.Contains(strings.ToLower(unfoldField(signature)), name) {
			t.Errorf("%s is not signed: %s", name, signature)
		}
	}
	parsed, err := message.ReadFull(bytes.NewReader(signed.Raw), message.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// verifySignature checks that there is exactly one valid signature.
func verifySignature(t *testing.T, raw []byte) {
	t.Helper()
	record := dkim.PublicRecord(sendingtest.Key().(*rsa.PrivateKey))
	seen, err := dkim.Verify(raw, func(string) ([]string, error) { return []string{record}, nil })
	if err != nil || len(seen) != 1 || seen[0].Err != nil {
		t.Fatalf("signatures: %+v, %v", seen, err)
	}
}

func unfoldField(field []byte) string {
	return strings.Join(strings.Fields(string(field)), "") + ":"
}
