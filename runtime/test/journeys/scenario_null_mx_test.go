package journeys_test

import (
	"strings"
	"testing"
)

// A domain that takes no mail says so with a null MX (RFC 7505), and one that does not
// exist is told by DNS. No attempt can succeed, nothing is connected to, and the address
// is suppressed.
func TestScenarioNullMX(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.DNS.Add(t, "null.test. 60 IN MX 0 .", "null.test. 60 IN A 127.0.0.1")
	if said := s.expect(t, s.message(t, []string{"bob@null.test"}), failed("null_mx", true, "failed dns")); !strings.Contains(said, "null MX") {
		t.Errorf("the sender is told %q", said)
	}
	s.expect(t, s.message(t, []string{"bob@nowhere.test"}), failed("no_such_domain", true, "failed dns nowhere"))
	if n := s.MX.Stats().Connections; n != 0 {
		t.Errorf("%d connections were made", n)
	}
}
