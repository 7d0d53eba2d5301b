package journeys_test

import (
	"testing"

	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
)

// A server with a slow greeting does not delay other mail, and after the timeout the next host gets the
// message.
func TestScenarioSlowGreeting(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	slow, next := s.startServer(t, 20, smtptest.Config{}), s.startServer(t, 21, smtptest.Config{})
	slow.Always(smtptest.Greeting, "", smtptest.Stall())
	s.mailHosts(t, "slow.test", 20, 21)
	s.mailHosts(t, "quick.test", 22)
	s.startServer(t, 22, smtptest.Config{})
	id := s.sendMessage(t, []string{"bob@slow.test"})
	slow.Wait(t, "Postrider waits for the greeting", func(now smtptest.Stats) bool { return now.Stalled == 1 })
	s.expect(t, s.sendMessage(t, []string{"eve@quick.test"}), deliveredStory("delivered dot 250 2.0.0 mx1"))
	if got, _ := s.readStory(t, id); got.Status != "sent" || next.Stats().Connections != 0 {
		t.Errorf("while waiting for the greeting: %+v, %d connections to the next host", got, next.Stats().Connections)
	}
	slow.Release()
	s.expect(t, id, deliveredStory("delivered dot 250 2.0.0 mx2"))
}
