package journeys_test

import (
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
)

// No mail host of the domain can be reached: the message waits, the sender is notified once, and it arrives
// when a host is back.
func TestScenarioAllMXDown(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.mailHosts(t, "down.test", 20, 21)
	id := s.sendMessage(t, []string{"bob@down.test"})
	first := "deferred connect mx2"
	if said := s.expect(t, id, deferredStory("", first)); !strings.Contains(said, "refused") {
		t.Errorf("the sender sees %q", said)
	}
	s.passTime(t, id, time.Minute)
	s.expect(t, id, deferredStory("", first, first))
	mx := s.startServer(t, 21, smtptest.Config{})
	s.passTime(t, id, 5*time.Minute)
	s.expect(t, id, arrivedLate(first, first, "delivered dot 250 2.0.0 mx2"))
	if n := mx.Stats().Accepted; n != 1 {
		t.Errorf("%d messages arrived", n)
	}
}
