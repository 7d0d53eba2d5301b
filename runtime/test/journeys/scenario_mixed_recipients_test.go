package journeys_test

import (
	"slices"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
)

// One message, three recipients, three outcomes: each has its own state and its own events, and the message
// gets the worst outcome when all are settled.
func TestScenarioMixedRecipients(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	mx := s.startServer(t, 20, smtptest.Config{})
	mx.On(smtptest.Rcpt, "later@mixed.test", smtptest.Reply(451, "4.7.1", "Greylisted"))
	mx.Always(smtptest.Rcpt, "nobody@mixed.test", smtptest.Reply(550, "5.1.1", "No such user"))
	s.mailHosts(t, "mixed.test", 20)
	id := s.sendMessage(t, []string{"ok@mixed.test", "later@mixed.test", "nobody@mixed.test"})
	open := story{Status: "sent", Recipients: []string{"delivered 250 2.0.0", "deferred 451 4.7.1",
		"bounced 550 5.1.1"}, Suppressed: true,
		Attempts: []string{"later deferred rcpt 451 4.7.1 mx1", "nobody bounced rcpt 550 5.1.1 mx1",
			"ok delivered dot 250 2.0.0 mx1"},
		Events: []string{"email.bounced permanent", "email.delivered", "email.delivery_delayed", "email.sent"}}
	s.expectInAnyOrder(t, id, open)

	s.passTime(t, id, time.Minute)
	settled := open
	settled.Status, settled.Recipients = "bounced", []string{"delivered 250 2.0.0", "delivered 250 2.0.0",
		"bounced 550 5.1.1"}
	settled.Attempts = []string{"later deferred rcpt 451 4.7.1 mx1", "later delivered dot 250 2.0.0 mx1",
		"nobody bounced rcpt 550 5.1.1 mx1", "ok delivered dot 250 2.0.0 mx1"}
	settled.Events = []string{"email.bounced permanent", "email.delivered", "email.delivered", "email.delivery_delayed",
		"email.sent"}
	s.expectInAnyOrder(t, id, settled)
	to := []string{}
	for _, m := range mx.Messages() {
		to = append(to, m.To...)
	}
	slices.Sort(to)
	if !slices.Equal(to, []string{"later@mixed.test", "ok@mixed.test"}) {
		t.Errorf("arrived for %v", to)
	}
}

// expectInAnyOrder is expect for recipients that are tried concurrently.
func (s *scenario) expectInAnyOrder(t *testing.T, id string, want story) {
	t.Helper()
	s.sorted = true
	defer func() { s.sorted = false }()
	s.expect(t, id, want)
}
