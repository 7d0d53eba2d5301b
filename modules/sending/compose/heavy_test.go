package compose

import (
	"bytes"
	"strings"
	"testing"

	"github.com/postrider/postrider/modules/sending"
)

// The recipients of a heavy message share the composed message, and the last one releases it.
func TestReleasesHeavyMessageAfterLastUse(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	m := simpleMessage("bob@example.net", "carol@example.net")
	m.Attachments = []sending.Attachment{{Name: "one.bin", Data: bytes.Repeat([]byte("one\n"), sending.HeavyFrom/4)}}
	email := f.load(t, f.send(t, m))
	if !email.IsHeavy() {
		t.Fatalf("a message of %d bytes is not heavy", email.Size)
	}
	first, firstDone, err := f.Sign(t.Context(), email)
	if err != nil {
		t.Fatalf("signing for the first recipient returned %v", err)
	}
	second, secondDone, err := f.Sign(t.Context(), email)
	if err != nil || &first.Raw[0] != &second.Raw[0] {
		t.Fatalf("signing for the second recipient returned a different message, %v; want that of the first", err)
	}
	verifySignature(t, first.Raw)
	firstDone()
	if email.signed.Raw == nil || f.isBudgetFree() {
		t.Error("the message was released while the second recipient uses it")
	}
	secondDone()
	if email.signed.Raw != nil || !f.isBudgetFree() {
		t.Errorf("after the last use %d bytes are kept and the budget is free: %v; want none kept and a free budget",
			len(email.signed.Raw), f.isBudgetFree())
	}
}

// A heavy relayed message is sent byte for byte in either form, and releases everything that it held.
func TestSendsHeavyRelayedMessageFromFile(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	m := simpleMessage("bob@example.net")
	body := strings.Repeat(strings.Repeat("grüße ", 12)+"\r\n", 20_000)
	m.Relayed = &sending.RelayedMessage{MIME: []byte("From: ada@example.com\r\nSubject: s\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n" + body)}
	email := f.load(t, f.send(t, m))
	if !email.IsHeavy() {
		t.Fatalf("a message of %d bytes is not heavy", email.Size)
	}
	signed, done, err := f.Sign(t.Context(), email)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(string(signed.Raw), "\r\n\r\n"+body) ||
		!strings.HasPrefix(string(signed.Raw), "DKIM-Signature:") {
		t.Errorf("the composed message has %d bytes: %.100q", len(signed.Raw), signed.Raw)
	}
	for range 2 {
		seven, err := signed.SevenBit()
		if err != nil || hasEightBit(seven) {
			t.Errorf("the message for a server without 8BITMIME has %d bytes, %v", len(seven), err)
		}
	}
	if held := f.Budget.Usage(); held.Working != 0 || held.Reads != 0 {
		t.Errorf("%+v is held while sending", held)
	}
	done()
	if !f.isBudgetFree() {
		t.Errorf("%+v is still held after sending", f.Budget.Usage())
	}
}
