package journeys_test

import (
	"testing"

	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
)

// STARTTLS is offered and does not work. If TLS is not required, the message is sent unencrypted rather than
// not at all (RFC 7435); if the sending domain enforces it, the message fails with that reason.
func TestScenarioStartTLSBroken(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	broken := s.startServer(t, 20, smtptest.Config{TLS: smtptest.BrokenTLS})
	refused := s.startServer(t, 21, smtptest.Config{TLS: smtptest.StartTLS})
	refused.Always(smtptest.Starttls, "", smtptest.Reply(454, "4.7.0", "TLS is not available"))
	wrong := s.startServer(t, 22, smtptest.Config{TLS: smtptest.WrongName})
	s.mailHosts(t, "broken.test", 20)
	s.mailHosts(t, "refused.test", 21)
	s.mailHosts(t, "wrong.test", 22)
	for domain, mx := range map[string]*smtptest.Server{"broken.test": broken, "refused.test": refused,
		"wrong.test": wrong} {
		s.expect(t, s.sendMessage(t, []string{"bob@" + domain}), deliveredStory("delivered dot 250 2.0.0 mx1"))
		// An unverified certificate still protects the message from passive eavesdropping.
		if got := mx.Messages(); len(got) != 1 || got[0].TLS != (domain == "wrong.test") {
			t.Errorf("%s got %+v", domain, got)
		}
	}
	setTLSMode(t, s.App, "enforced")
	s.expect(t, s.sendMessage(t, []string{"bob@broken.test"}),
		failedStory("tls_required", false, "failed starttls mx1"))
	s.expect(t, s.sendMessage(t, []string{"bob@wrong.test"}), failedStory("tls_required", false, "failed starttls mx1"))
	if len(broken.Messages()) != 1 || len(wrong.Messages()) != 1 {
		t.Error("a message arrived without the enforced TLS")
	}
}
