package smtpclient_test

import (
	"crypto/x509"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/mail/smtpclient"
	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
)

var enforced = smtpclient.Envelope{From: envelope.From, To: envelope.To, TLSMode: smtpclient.TLSEnforced}

func TestOpportunisticTLS(t *testing.T) {
	t.Parallel()
	stranger := func(c *smtpclient.Config) { c.RootCAs = x509.NewCertPool() }
	for name, c := range map[string]struct {
		tls    smtptest.TLS
		secure bool
	}{
		"offered":              {smtptest.StartTLS, true},
		"not offered":          {smtptest.NoTLS, false},
		"for another name":     {smtptest.WrongName, true},
		"broken, so plaintext": {smtptest.BrokenTLS, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// no certificate is trusted, and none has to be
			server, w := newOneHost(t, smtptest.Config{TLS: c.tls}, stranger)
			got := w.send(t)
			expect(t, got, smtpclient.Delivered, "", smtpclient.PhaseDot)
			if (got.TLS != "") != c.secure || c.secure && got.TLS != "TLS 1.3" {
				t.Errorf("TLS %q", got.TLS)
			}
			if m := server.Messages(); len(m) != 1 || m[0].TLS != c.secure || string(m[0].Data) != message {
				t.Errorf("arrived: %+v", m)
			}
		})
	}
}

func TestRejectedSTARTTLSFallsBackToPlaintext(t *testing.T) {
	t.Parallel()
	for name, action := range map[string]smtptest.Action{
		"454": smtptest.Reply(454, "4.7.0", "TLS not available"), "garbage": smtptest.Raw("220 go\r\nnot a handshake\r\n"), "hang-up": smtptest.Disconnect(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, w := newOneHost(t, smtptest.Config{TLS: smtptest.StartTLS})
			server.On(smtptest.Starttls, "", action)
			expect(t, w.send(t), smtpclient.Delivered, "", smtpclient.PhaseDot)
			if n := server.Stats().Connections; n != 2 {
				t.Errorf("%d connections", n)
			}
		})
	}
}

func TestPlaintextIsTriedOnce(t *testing.T) {
	t.Parallel()
	server, w := newOneHost(t, smtptest.Config{TLS: smtptest.BrokenTLS})
	server.Always(smtptest.Mail, "", smtptest.Disconnect())
	expect(t, w.send(t), smtpclient.Temporary, "", smtpclient.PhaseMail)
	if n := server.Stats().Connections; n != 2 {
		t.Errorf("%d connections, want one with TLS and one without", n)
	}
}

func TestEnforcedTLS(t *testing.T) {
	t.Parallel()
	server, w := newOneHost(t, smtptest.Config{TLS: smtptest.StartTLS})
	got := w.Deliver(t.Context(), enforced, []byte(message), nil)
	expect(t, got, smtpclient.Delivered, "", smtpclient.PhaseDot)
	if m := server.Messages(); len(m) != 1 || !m[0].TLS || got.TLS != "TLS 1.3" {
		t.Errorf("TLS %q, arrived %+v", got.TLS, m)
	}
}

func TestEnforcedTLSRejectsUnverifiedTLS(t *testing.T) {
	t.Parallel()
	stranger := func(c *smtpclient.Config) { c.RootCAs = x509.NewCertPool() }
	for name, c := range map[string]struct {
		tls   smtptest.TLS
		shape []func(*smtpclient.Config)
		text  string
	}{
		"not offered":       {smtptest.NoTLS, nil, "STARTTLS"},
		"another name":      {smtptest.WrongName, nil, "another.test"},
		"unknown authority": {smtptest.StartTLS, []func(*smtpclient.Config){stranger}, "unknown authority"},
		"broken":            {smtptest.BrokenTLS, nil, "handshake"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, w := newOneHost(t, smtptest.Config{TLS: c.tls}, c.shape...)
			got := w.Deliver(t.Context(), enforced, []byte(message), nil)
			expect(t, got, smtpclient.Failed, smtpclient.ReasonTLSRequired, smtpclient.PhaseStartTLS)
			if !strings.Contains(got.Err.Error(), c.text) || got.RemoteHost != "mx1.example.test" {
				t.Errorf("error %v of %s", got.Err, got.RemoteHost)
			}
			if len(server.Messages()) != 0 || strings.Contains(server.Transcript(), "MAIL") {
				t.Error("the message was offered without verified TLS")
			}
		})
	}
}

// A network error or a 4xx may be temporary, so the message is retried.
func TestEnforcedTLSIsRetriedAfterANetworkError(t *testing.T) {
	t.Parallel()
	for name, action := range map[string]smtptest.Action{"hang-up": smtptest.Disconnect(),
		"454": smtptest.Reply(454, "4.7.0", "not now")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, w := newOneHost(t, smtptest.Config{TLS: smtptest.StartTLS})
			server.On(smtptest.Starttls, "", action)
			got := w.Deliver(t.Context(), enforced, []byte(message), nil)
			expect(t, got, smtpclient.Temporary, "", smtpclient.PhaseStartTLS)
		})
	}
}

func TestEnforcedTLSTriesTheNextHost(t *testing.T) {
	t.Parallel()
	first := smtptest.New(t, smtptest.Config{})
	second := smtptest.New(t, smtptest.Config{TLS: smtptest.StartTLS, Hostname: "mx2.example.test",
		Addr: strings.Replace(first.Addr(), "127.0.0.1", "127.0.0.2", 1)})
	w := newWorld(t, first.Port(), func(c *smtpclient.Config) { c.RootCAs = second.RootCAs() })
	w.hosts(t, "example.test", "127.0.0.1", "127.0.0.2")
	got := w.Deliver(t.Context(), enforced, []byte(message), nil)
	expect(t, got, smtpclient.Delivered, "", smtpclient.PhaseDot)
	if got.RemoteHost != "mx2.example.test" {
		t.Errorf("went to %s", got.RemoteHost)
	}
}

// A plaintext connection must never carry a message that enforces TLS.
func TestTLSModesDoNotShareConnections(t *testing.T) {
	t.Parallel()
	server, w := newOneHost(t, smtptest.Config{TLS: smtptest.WrongName})
	expect(t, w.send(t), smtpclient.Delivered, "", smtpclient.PhaseDot)
	got := w.Deliver(t.Context(), enforced, []byte(message), nil)
	expect(t, got, smtpclient.Failed, smtpclient.ReasonTLSRequired, smtpclient.PhaseStartTLS)
	if n := server.Stats().Messages; n != 1 {
		t.Errorf("%d messages arrived", n)
	}
}
