package journeys_test

import (
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
)

// tooLarge is the story of a message that a server rejected for its size after the dot.
func tooLarge(recipient string) story {
	told := failedStory("message_too_large", false, "failed dot "+recipient+" mx1")
	told.Recipients = []string{"failed " + recipient}
	return told
}

// The message is larger than the server accepts. A server that announces its limit in EHLO (SIZE, RFC 1870)
// is not even tried; otherwise the server rejects the message. Neither is about the address.
func TestScenarioSizeRejected(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	announced := s.startServer(t, 20, smtptest.Config{MaxSize: 2000})
	s.mailHosts(t, "announced.test", 20)
	large := `"html":"` + strings.Repeat("<p>Hello</p>", 400) + `"`
	id := s.sendMessage(t, []string{"bob@announced.test"}, large)
	if said := s.expect(t, id, failedStory("message_too_large", false, "failed mail mx1")); !strings.Contains(said,
		"2000") {
		t.Errorf("the sender sees %q", said)
	}
	if transcript := announced.Transcript(); strings.Contains(transcript, "MAIL FROM") {
		t.Errorf("the server received:\n%s", transcript)
	}
	// it accepts small ones
	s.expect(t, s.sendMessage(t, []string{"bob@announced.test"}), deliveredStory("delivered dot 250 2.0.0 mx1"))

	surprised := s.startServer(t, 21, smtptest.Config{})
	surprised.On(smtptest.Dot, "", smtptest.Reply(552, "5.3.4", "Message exceeds fixed limit"))
	s.mailHosts(t, "surprised.test", 21)
	s.expect(t, s.sendMessage(t, []string{"bob@surprised.test"}, large), tooLarge("552 5.3.4"))
	s.expect(t, s.sendMessage(t, []string{"bob@surprised.test"}), deliveredStory("delivered dot 250 2.0.0 mx1"))
}
