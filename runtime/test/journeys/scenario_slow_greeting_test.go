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
	slow, next := s.server(t, 20, smtptest.Config{}), s.server(t, 21, smtptest.Config{})
	slow.Always(smtptest.Greeting, "", smtptest.Stall())
	s.mailHosts(t, "slow.test", 20, 21)
	s.mailHosts(t, "quick.test", 22)
	s.server(t, 22, smtptest.Config{})
	id := s.message(t, []string{"bob@slow.test"})
	slow.Wait(t, "Postrider waits for the greeting", func(now smtptest.Stats) bool { return now.Stalled == 1 })
	s.expect(t, s.message(t, []string{"eve@quick.test"}), arrived("delivered dot 250 2.0.0 mx1"))
	if got, _ := s.tell(t, id); got.Status != "sent" || next.Stats().Connections != 0 {
		t.Errorf("while waiting for the greeting: %+v, %d connections to the next host", got, next.Stats().Connections)
	}
	slow.Release()
	s.expect(t, id, arrived("delivered dot 250 2.0.0 mx2"))
}
