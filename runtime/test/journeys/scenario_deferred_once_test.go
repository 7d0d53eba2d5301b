package journeys_test

import (
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
)

// A server defers once, at any step, and accepts the message at the next attempt: the same message with the
// same envelope sender, because greylisting remembers it.
func TestScenarioDeferredOnce(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	for n, c := range []struct {
		name  string
		phase smtptest.Phase
		code  int
		first string
	}{
		{"greylisted", smtptest.Rcpt, 451, "deferred rcpt 451 4.7.1 mx1"},
		{"mailbox busy", smtptest.Rcpt, 450, "deferred rcpt 450 4.7.1 mx1"},
		{"sender deferred", smtptest.Mail, 451, "deferred mail 451 4.7.1 mx1"},
		{"data deferred", smtptest.Data, 451, "deferred data 451 4.7.1 mx1"},
		{"message deferred", smtptest.Dot, 452, "deferred dot 452 4.7.1 mx1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			domain := "case" + number(n+1) + ".test"
			mx := s.startServer(t, 20+n, smtptest.Config{})
			mx.On(c.phase, "", smtptest.Reply(c.code, "4.7.1", "Try again later"))
			s.mailHosts(t, domain, 20+n)
			id := s.sendMessage(t, []string{"bob@" + domain})
			code := c.first[len("deferred "+phaseWord(c.phase)+" ") : len(c.first)-len(" mx1")]
			s.expect(t, id, deferredStory(code, c.first))
			s.passTime(t, id, time.Minute)
			s.expect(t, id, arrivedLate(c.first, "delivered dot 250 2.0.0 mx1"))
			seen := map[string]bool{}
			for _, m := range mx.Messages() {
				seen[m.From] = true
			}
			if len(seen) != 1 || mx.Stats().Accepted != 1 {
				t.Errorf("envelope senders %v, %d accepted", seen, mx.Stats().Accepted)
			}
		})
	}
}

func phaseWord(p smtptest.Phase) string {
	return map[smtptest.Phase]string{smtptest.Greeting: "greeting", smtptest.EHLO: "ehlo", smtptest.Mail: "mail",
		smtptest.Rcpt: "rcpt",
		smtptest.Data: "data", smtptest.Body: "body", smtptest.Dot: "dot"}[p]
}
