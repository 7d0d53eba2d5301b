package journeys_test

import (
	"testing"

	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
)

// The most preferred mail host is broken: the message goes to the next one in the same attempt (RFC 5321
// section 5.1), and no delay is reported.
func TestScenarioBrokenFirstMX(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	good := s.startServer(t, 9, smtptest.Config{})
	for n, c := range []struct {
		name   string
		script func(*smtptest.Server) // nil: no listener
	}{
		{"refuses connections", nil},
		{"is closed for now", func(mx *smtptest.Server) { mx.Always(smtptest.Greeting, "", smtptest.Reply(421, "4.3.2", "Closing")) }},
		{"hangs up at once", func(mx *smtptest.Server) { mx.Always(smtptest.Greeting, "", smtptest.Disconnect()) }},
		{"defers every recipient", func(mx *smtptest.Server) { mx.Always(smtptest.Rcpt, "", smtptest.Reply(451, "4.3.0", "Later")) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			broken, domain := 20+n, "case"+number(n+1)+".test"
			if c.script != nil {
				c.script(s.startServer(t, broken, smtptest.Config{}))
			}
			s.mailHosts(t, domain, broken, 9)
			s.expect(t, s.sendMessage(t, []string{"bob@" + domain}), deliveredStory("delivered dot 250 2.0.0 mx2"))
		})
	}
	t.Cleanup(func() {
		if n := good.Stats().Accepted; n != 4 {
			t.Errorf("%d messages arrived at the second host, want 4", n)
		}
	})
}
