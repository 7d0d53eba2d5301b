package smtpclient_test

import (
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/mail/smtpclient"
	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
)

// A failed handshake costs a second connection, and the next message tries TLS again.
func TestTLSIsTriedAgainAfterAFailedHandshake(t *testing.T) {
	t.Parallel()
	server, w := newOneHost(t, smtptest.Config{TLS: smtptest.BrokenTLS}, withLanes(t, "default 3 3 1 10m -"))
	for i, want := range []int{2, 4, 6} {
		expect(t, w.send(t), smtpclient.Delivered, "", smtpclient.PhaseDot)
		if n := server.Stats().Connections; n != want {
			t.Errorf("%d connections after message %d, want %d", n, i+1, want)
		}
	}
	// Enforced TLS is not sent in plaintext.
	got := w.Deliver(t.Context(), enforced, []byte(message), nil)
	expect(t, got, smtpclient.Failed, smtpclient.ReasonTLSRequired, smtpclient.PhaseStartTLS)
	if n := server.Stats().Messages; n != 3 {
		t.Errorf("%d messages", n)
	}
}

func TestSTARTTLSIsNotSentIfNotOffered(t *testing.T) {
	t.Parallel()
	server, w := newOneHost(t, smtptest.Config{})
	got := w.Deliver(t.Context(), enforced, []byte(message), nil)
	expect(t, got, smtpclient.Failed, smtpclient.ReasonTLSRequired, smtpclient.PhaseStartTLS)
	if !strings.HasSuffix(got.Diagnostic(), "the server does not offer STARTTLS") ||
		strings.Contains(server.Transcript(), "STARTTLS") {
		t.Errorf("diagnostic %q; said %q", got.Diagnostic(), server.Transcript())
	}
}

// The library that opens sessions ends its errors with "transient" or "permanent".
func TestErrorsOmitTransientAndPermanent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tls    smtptest.TLS
		at     smtptest.Phase
		action smtptest.Action
	}{
		"hang-up":         {smtptest.NoTLS, smtptest.Greeting, smtptest.Disconnect()},
		"garbage":         {smtptest.NoTLS, smtptest.Greeting, smtptest.Raw("SSH-2.0-OpenSSH\r\n")},
		"refused":         {smtptest.NoTLS, smtptest.Greeting, smtptest.Reply(554, "5.7.1", "go away")},
		"refused EHLO":    {smtptest.NoTLS, smtptest.EHLO, smtptest.Reply(451, "4.3.0", "not now")},
		"broken TLS":      {smtptest.BrokenTLS, smtptest.Auth, smtptest.Disconnect()},
		"refused the TLS": {smtptest.StartTLS, smtptest.Starttls, smtptest.Reply(454, "4.7.0", "not now")},
	} {
		server, w := newOneHost(t, smtptest.Config{TLS: c.tls})
		server.On(c.at, "", c.action)
		got := w.Deliver(t.Context(), enforced, []byte(message), nil)
		if got.Err == nil {
			t.Fatalf("%s: Deliver returned %+v, want an error", name, got)
		}
		if text := got.Err.Error(); strings.Contains(text, "transient") || strings.Contains(text, "permanent") {
			t.Errorf("%s: the error says %q, want neither transient nor permanent in it", name, text)
		}
	}
}
