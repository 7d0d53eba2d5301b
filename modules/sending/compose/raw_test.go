package compose

import (
	"bytes"
	"errors"
	"io"
	"net/mail"
	"strings"
	"testing"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/modules/sending/sendingtest"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
)

// sentMessage returns the message of an email as sent, without its signature.
func (f *fixture) sentMessage(t *testing.T, emailID string) []byte {
	t.Helper()
	signed, done, err := f.Sign(t.Context(), f.load(t, emailID))
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	verifySignature(t, signed.Raw)
	at := bytes.Index(signed.Raw, []byte("\r\n")) // continuation lines start with a space
	for signed.Raw[at+2] == ' ' || signed.Raw[at+2] == '\t' {
		at += 2 + bytes.Index(signed.Raw[at+2:], []byte("\r\n"))
	}
	if !bytes.HasPrefix(signed.Raw, []byte("DKIM-Signature:")) {
		t.Fatalf("the message does not begin with its signature: %.60q", signed.Raw)
	}
	return bytes.Clone(signed.Raw[at+2:])
}

// A message composed again equals the sent one byte for byte, except for the signature. This holds for every
// kind of message, in memory or in a file.
func TestRawEqualsSentMessage(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.rewriter = &tracker{}
	yes := true
	rich := simpleMessage("Bob <bob@example.net>", "carol@example.net")
	rich.Subject, rich.HTML, rich.Unsubscribe, rich.Tags = "Grüße {{unsubscribe_url}}",
		"<p>Grüße</p> {{unsubscribe_url}}", &yes, []shape.Tag{{Name: "kind", Value: "news"}}
	rich.Headers = []shape.Header{{Name: "X-Order", Value: "17"}}
	rich.Attachments = []sending.Attachment{{Name: "one.txt", Data: []byte("one")}}
	long := simpleMessage("bob@example.net")
	long.Text = strings.Repeat("a line\r\n", inlineBody/7)
	heavy := simpleMessage("bob@example.net")
	heavy.Attachments = []sending.Attachment{{Name: "one.bin",
		Data: bytes.Repeat([]byte("one\n"), sending.HeavyFrom/4)}}
	relayed := func(body string) sending.Message {
		m := simpleMessage("bob@example.net")
		m.Relayed = &sending.RelayedMessage{MIME: []byte("X-First: 1\r\nFrom: ada@example.com\r\nsubject:  s\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n" + body)}
		return m
	}
	for what, m := range map[string]sending.Message{"simple": simpleMessage("bob@example.net"), "rich": rich,
		"long": long, "heavy": heavy,
		"relayed": relayed("grüße\r\n"), "long and relayed": relayed(strings.Repeat("grüße\r\n", inlineBody/8)),
		"heavy and relayed": relayed(strings.Repeat("grüße\r\n", sending.HeavyFrom/8))} {
		f.Near.Sender.ClickTracking = m.Relayed == nil // it rewrites texts
		emailID := f.send(t, m)
		want := f.sentMessage(t, emailID)
		got, err := f.Raw(t.Context(), sendingtest.Account, emailID)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: Raw returned %v, %d bytes; want the %d sent: %.200q", what, err, len(got), len(want), got)
			continue
		}
		parsed, err := mail.ReadMessage(bytes.NewReader(got))
		if err != nil || parsed.Header.Get("From") == "" || parsed.Header.Get("Date") == "" ||
			parsed.Header.Get("Message-Id") == "" || parsed.Header.Get("Dkim-Signature") != "" {
			t.Errorf("%s: net/mail reads %v, %v", what, parsed, err)
		}
		if m.Relayed != nil {
			fields, body, _ := bytes.Cut(m.Relayed.MIME, []byte("\r\n\r\n"))
			if !bytes.HasPrefix(got, fields) || !bytes.Contains(got, body[:7]) {
				t.Errorf("%s: the sender's fields have changed: %.200q", what, got)
			}
		}
		content, err := f.RawContent(t.Context(), sendingtest.Account, emailID)
		if err != nil {
			t.Fatal(err)
		}
		streamed, err := io.ReadAll(content.Reader())
		content.Close()
		if err != nil || !bytes.Equal(streamed, want) {
			t.Errorf("%s: the stream has %d bytes, %v; want %d", what, len(streamed), err, len(want))
		}
	}
	if !f.isBudgetFree() {
		t.Errorf("%+v is still held afterwards", f.Budget.Usage())
	}
}

// A deleted email, or one of another account, has no raw message. An email of a domain that can no longer send
// has one, without tracking.
func TestRawOfMissingMessages(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := &tracker{}
	f.rewriter = r
	f.Near.Sender.ClickTracking = true
	emailID := f.send(t, simpleMessage("bob@example.net"))
	for account, unknown := range map[string]string{sendingtest.Account: id.New(id.Email), "acc_other": emailID} {
		if raw, err := f.Raw(t.Context(), account, unknown); fault.KindOf(err) != fault.NotFound || raw != nil {
			t.Errorf("Raw of %s for %s returned %q, %v; want not found", unknown, account, raw, err)
		}
	}
	f.Near.SenderErr = fault.Forbiddenf("domain_not_verified", "no")
	if raw, err := f.Raw(t.Context(), sendingtest.Account, emailID); err != nil ||
		!bytes.Contains(raw, []byte("Hello")) || len(r.asked) != 0 {
		t.Errorf("Raw for a domain that can no longer send returned %q, %v", raw, err)
	}
	f.Near.SenderErr = errors.New("away")
	if raw, err := f.Raw(t.Context(), sendingtest.Account, emailID); err == nil {
		t.Errorf("Raw without an answer about the domain returned %q", raw)
	}
	f.Near.SenderErr = nil
	f.Exec(t, `UPDATE emails SET html = NULL, text = NULL, mime = NULL, headers = '[]', body_purged_at = now() WHERE id = $1`, emailID)
	if content, err := f.RawContent(t.Context(), sendingtest.Account, emailID); err != nil || content != nil {
		t.Errorf("RawContent of a deleted body returned %v, %v; want nil", content, err)
	}
	if raw, err := f.Raw(t.Context(), sendingtest.Account, emailID); err != nil || raw != nil || !f.isBudgetFree() {
		t.Errorf("Raw of a deleted body returned %q, %v; want nil", raw, err)
	}
}

// Raw rejects messages above the limit for bodies.
func TestRawLimitsMemory(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	m := simpleMessage("bob@example.net")
	for range 3 {
		m.Attachments = append(m.Attachments,
			sending.Attachment{Name: "one.bin", Data: bytes.Repeat([]byte{1}, records.MaxBodies/4)})
	}
	emailID := f.send(t, m)
	if raw, err := f.Raw(t.Context(), sendingtest.Account, emailID); fault.KindOf(err) != fault.TooLarge {
		t.Errorf("Raw returned %d bytes, %v; want an error", len(raw), err)
	}
	content, err := f.RawContent(t.Context(), sendingtest.Account, emailID)
	if err != nil || content.Size() < records.MaxBodies || content.InMemory() {
		t.Fatalf("RawContent returned %v", err)
	}
	content.Close()
	if !f.isBudgetFree() {
		t.Errorf("%+v is still held afterwards", f.Budget.Usage())
	}
}
