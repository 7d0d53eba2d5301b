package smtpclient_test

import (
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/mail/smtpclient"
	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
)

func TestInjectedEnvelopeAddressesAreRejected(t *testing.T) {
	t.Parallel()
	server, w := newOneHost(t, smtptest.Config{})
	bad := []string{"", "bob", "@example.test", "bob@", "bob@example.test\r\nRCPT TO:<eve@example.test>",
		"bob@example.test> SIZE=1", "a b@example.test",
		"bob@exa mple.test", "bob@example.test\x00", "<bob@example.test>", "bob@[127.0.0.1]", "\"a\r\n\"@example.test",
		"\"a\x00b\"@example.test", "bob@127.0.0.1"}
	for _, address := range bad {
		got := w.Deliver(t.Context(), smtpclient.Envelope{From: "a@sender.test", To: address}, []byte(message), nil)
		expect(t, got, smtpclient.Failed, smtpclient.ReasonPolicy, smtpclient.PhaseEnvelope)
		if address == "" {
			continue // the null sender is valid
		}
		got = w.Deliver(t.Context(), smtpclient.Envelope{From: address, To: "bob@example.test"}, []byte(message), nil)
		expect(t, got, smtpclient.Failed, smtpclient.ReasonPolicy, smtpclient.PhaseEnvelope)
	}
	got := w.Deliver(t.Context(), smtpclient.Envelope{To: "bob@example.test", TLSMode: "sometimes"}, []byte(message),
		nil)
	expect(t, got, smtpclient.Failed, smtpclient.ReasonPolicy, smtpclient.PhaseEnvelope)
	if server.Stats().Connections != 0 {
		t.Error("a server was contacted")
	}
}

func TestQuotedLocalPartsStayQuoted(t *testing.T) {
	t.Parallel()
	server, w := newOneHost(t, smtptest.Config{})
	got := w.Deliver(t.Context(), smtpclient.Envelope{From: envelope.From, To: `"a> SIZE=1"@example.test`},
		[]byte(message), nil)
	expect(t, got, smtpclient.Delivered, "", smtpclient.PhaseDot)
	if !strings.Contains(server.Transcript(), `RCPT TO:<"a> SIZE=1"@example.test>`+"\r\n") {
		t.Errorf("said %q", server.Transcript())
	}
}

func TestMessagesWithInvalidLineEndsAreRejected(t *testing.T) {
	t.Parallel()
	server, w := newOneHost(t, smtptest.Config{})
	for _, msg := range []string{"", "no end", "ends in\n", "bare\nlf\r\n", "bare\rcr\r\n", "cr\r\r\n", "\n",
		"a\r\n.\n\r\n"} {
		got := w.Deliver(t.Context(), envelope, []byte(msg), nil)
		expect(t, got, smtpclient.Failed, smtpclient.ReasonPolicy, smtpclient.PhaseEnvelope)
	}
	if server.Stats().Connections != 0 {
		t.Error("a server was contacted")
	}
}

func TestMessagesAboveTheAnnouncedSizeAreNotSent(t *testing.T) {
	t.Parallel()
	server, w := newOneHost(t, smtptest.Config{MaxSize: 1000})
	got := w.Deliver(t.Context(), envelope, []byte(strings.Repeat("x", 1000)+"\r\n"), nil)
	expect(t, got, smtpclient.Failed, smtpclient.ReasonMessageTooLarge, smtpclient.PhaseMail)
	if !strings.Contains(got.Diagnostic(), "1002 bytes, mx1.example.test accepts at most 1000") {
		t.Errorf("diagnostic %q", got.Diagnostic())
	}
	expect(t, w.send(t), smtpclient.Delivered, "", smtpclient.PhaseDot)
	if s := server.Stats(); s.Connections != 1 || s.Messages != 1 ||
		!strings.Contains(server.Transcript(), " SIZE=69\r\n") {
		t.Errorf("%+v, said %q", s, server.Transcript())
	}
}

func TestInternationalAddresses(t *testing.T) {
	t.Parallel()
	plain, w := newOneHost(t, smtptest.Config{})
	jose := smtpclient.Envelope{From: envelope.From, To: "josé@example.test"}
	got := w.Deliver(t.Context(), jose, []byte(message), nil)
	expect(t, got, smtpclient.Failed, smtpclient.ReasonSMTPUTF8Required, smtpclient.PhaseMail)
	got = w.Deliver(t.Context(), smtpclient.Envelope{From: envelope.From, To: envelope.To, SMTPUTF8: true},
		[]byte(message), nil)
	expect(t, got, smtpclient.Failed, smtpclient.ReasonSMTPUTF8Required, smtpclient.PhaseMail)
	if plain.Stats().Messages != 0 {
		t.Error("a message arrived")
	}
	able, w := newOneHost(t, smtptest.Config{SMTPUTF8: true})
	expect(t, w.Deliver(t.Context(), jose, []byte(message), nil), smtpclient.Delivered, "", smtpclient.PhaseDot)
	if m := able.Messages(); len(m) != 1 || !m[0].SMTPUTF8 || m[0].To[0] != "josé@example.test" {
		t.Errorf("arrived: %+v", m)
	}
	w.hosts(t, "xn--bcher-kva.test", able.Host())
	got = w.Deliver(t.Context(), smtpclient.Envelope{From: envelope.From, To: "bob@Bücher.test"}, []byte(message), nil)
	expect(t, got, smtpclient.Delivered, "", smtpclient.PhaseDot)
	if m := able.Messages(); len(m) != 2 || m[1].SMTPUTF8 || m[1].To[0] != "bob@xn--bcher-kva.test" {
		t.Errorf("arrived: %+v", m)
	}
}

func TestEightBitContentIsDeclared(t *testing.T) {
	t.Parallel()
	server, w := newOneHost(t, smtptest.Config{})
	got := w.Deliver(t.Context(), envelope, []byte("Subject: x\r\n\r\nGrüße\r\n"), nil)
	expect(t, got, smtpclient.Delivered, "", smtpclient.PhaseDot)
	if !strings.Contains(server.Transcript(), " BODY=8BITMIME\r\n") {
		t.Errorf("said %q", server.Transcript())
	}
	p := newPeer(t, "220 peer.test\r\n", map[string]string{"EHLO": "250 peer.test\r\n", "DATA": "354 go\r\n"})
	got = p.world(t).Deliver(t.Context(), envelope, []byte("Grüße\r\n"), nil)
	expect(t, got, smtpclient.Failed, smtpclient.ReasonPolicy, smtpclient.PhaseMail)
}
