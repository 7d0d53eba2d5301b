package journeys_test

import (
	"strings"
	"testing"
)

// A domain that accepts no mail publishes a null MX (RFC 7505), and DNS reports a nonexistent one. No
// attempt can succeed, no connection is made, and the address is suppressed.
func TestScenarioNullMX(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.DNS.Add(t, "null.test. 60 IN MX 0 .", "null.test. 60 IN A 127.0.0.1")
	if said := s.expect(t, s.sendMessage(t, []string{"bob@null.test"}),
		failedStory("null_mx", true, "failed dns")); !strings.Contains(said, "null MX") {
		t.Errorf("the sender sees %q", said)
	}
	s.expect(t, s.sendMessage(t, []string{"bob@nowhere.test"}),
		failedStory("no_such_domain", true, "failed dns nowhere"))
	if n := s.MX.Stats().Connections; n != 0 {
		t.Errorf("%d connections were made", n)
	}
}
