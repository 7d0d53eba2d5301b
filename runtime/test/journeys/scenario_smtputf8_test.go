package journeys_test

import (
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
)

// An address with a non-ASCII local part requires a server with SMTPUTF8 (RFC 6531). If no host supports it,
// the recipient fails, and other addresses there are still delivered.
func TestScenarioSMTPUTF8NotOffered(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.startServer(t, 20, smtptest.Config{})
	modern := s.startServer(t, 21, smtptest.Config{SMTPUTF8: true})
	s.mailHosts(t, "old.test", 20)
	s.mailHosts(t, "modern.test", 21)
	if said := s.expect(t, s.sendMessage(t, []string{"jürgen@old.test"}),
		failedStory("smtputf8_required", false, "failed mail mx1")); !strings.Contains(said, "SMTPUTF8") {
		t.Errorf("the sender sees %q", said)
	}
	s.expect(t, s.sendMessage(t, []string{"bob@old.test"}), deliveredStory("delivered dot 250 2.0.0 mx1"))
	s.expect(t, s.sendMessage(t, []string{"jürgen@modern.test"}), deliveredStory("delivered dot 250 2.0.0 mx1"))
	if got := modern.Messages(); len(got) != 1 || !got[0].SMTPUTF8 || got[0].To[0] != "jürgen@modern.test" {
		t.Errorf("arrived: %+v", got)
	}
}
