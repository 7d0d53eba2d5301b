package journeys_test

import (
	"testing"

	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
)

// A server rejects permanently, at each step. A rejection of the connection (greeting, EHLO) is not about
// the recipient: the next host is tried, and then the schedule continues. A rejection in the transaction is
// final: a bounce, which suppresses the address, or, if it is about the message or its sender, a failure,
// which suppresses no address.
func TestScenarioPermanentRejection(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	for n, c := range []struct {
		name   string
		phase  smtptest.Phase
		answer smtptest.Action
		want   story
	}{
		{"greeting", smtptest.Greeting, smtptest.Reply(554, "5.7.1", "No SMTP service here"), deferredStory("554 5.7.1", "deferred greeting 554 5.7.1 mx1")},
		{"ehlo", smtptest.EHLO, smtptest.Reply(550, "5.7.1", "Not you"), deferredStory("550 5.7.1", "deferred ehlo 550 5.7.1 mx1")},
		{"mail", smtptest.Mail, smtptest.Reply(550, "5.7.1", "Sender rejected by policy"), refusedFor("policy", "550 5.7.1", "failed mail 550 5.7.1 mx1")},
		{"rcpt, no such user", smtptest.Rcpt, smtptest.Reply(550, "5.1.1", "No such user"), bouncedStory("550 5.1.1", true, "bounced rcpt 550 5.1.1 mx1")},
		{"rcpt, policy", smtptest.Rcpt, smtptest.Reply(550, "5.7.1", "Relaying denied"), refusedFor("policy", "550 5.7.1", "failed rcpt 550 5.7.1 mx1")},
		{"rcpt, without an enhanced code", smtptest.Rcpt, smtptest.Reply(550, "", "User unknown"), bouncedStory("550", true, "bounced rcpt 550 mx1")},
		{"data", smtptest.Data, smtptest.Reply(554, "5.7.1", "No valid recipients by policy"), refusedFor("policy", "554 5.7.1", "failed data 554 5.7.1 mx1")},
		{"body", smtptest.Body, smtptest.Reply(554, "5.6.0", "Message is malformed"), refusedFor("content", "554 5.6.0", "failed dot 554 5.6.0 mx1")},
		{"dot, spam", smtptest.Dot, smtptest.Reply(554, "5.7.1", "Message is spam"), refusedFor("content", "554 5.7.1", "failed dot 554 5.7.1 mx1")},
		{"dot, for no reason", smtptest.Dot, smtptest.Reply(554, "", "Transaction failed"), refusedFor("unknown", "554", "failed dot 554 mx1")},
		{"dot, no such user", smtptest.Dot, smtptest.Reply(550, "5.1.1", "User unknown"), bouncedStory("550 5.1.1", true, "bounced dot 550 5.1.1 mx1")},
		{"mail, for no reason", smtptest.Mail, smtptest.Reply(554, "", "Transaction failed"), refusedFor("unknown", "554", "failed mail 554 mx1")},
		{"rcpt, for no reason", smtptest.Rcpt, smtptest.Reply(550, "", "No"), bouncedStory("550", true, "bounced rcpt 550 mx1")},
		{"data, for no reason", smtptest.Data, smtptest.Reply(550, "", "No"), refusedFor("unknown", "550", "failed data 550 mx1")},
		{"dot, too large", smtptest.Dot, smtptest.Reply(552, "5.3.4", "Message is too large"), tooLarge("552 5.3.4")},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			domain := "case" + number(n+1) + ".test"
			mx := s.startServer(t, 20+n, smtptest.Config{})
			mx.Always(c.phase, "", c.answer)
			s.mailHosts(t, domain, 20+n)
			s.expect(t, s.sendMessage(t, []string{"bob@" + domain}), c.want)
			if n := mx.Stats().Accepted; n != 0 {
				t.Errorf("%d messages arrived", n)
			}
		})
	}
}
