package journeys_test

import (
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
)

// A server disconnects in the middle. Before the final dot that is a deferral, and the next attempt delivers
// the only copy. After the dot the outcome is unknown: the attempt is `unknown`, and there may be a second
// copy with the same Message-ID.
func TestScenarioDisconnect(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	for n, c := range []struct {
		phase  smtptest.Phase
		first  string
		copies int // that arrived at the server completely
	}{
		{smtptest.Greeting, "deferred greeting mx1", 1},
		{smtptest.EHLO, "deferred ehlo mx1", 1},
		{smtptest.Mail, "deferred mail mx1", 1},
		{smtptest.Rcpt, "deferred rcpt mx1", 1},
		{smtptest.Data, "deferred data mx1", 1},
		{smtptest.Dot, "unknown dot mx1", 2},
	} {
		t.Run(phaseWord(c.phase), func(t *testing.T) {
			t.Parallel()
			domain := "case" + number(n+1) + ".test"
			mx := s.startServer(t, 20+n, smtptest.Config{NoPipelining: true})
			mx.On(c.phase, "", smtptest.Disconnect())
			s.mailHosts(t, domain, 20+n)
			id := s.sendMessage(t, []string{"bob@" + domain})
			s.expect(t, id, deferredStory("", c.first))
			s.passTime(t, id, time.Minute)
			s.expect(t, id, arrivedLate(c.first, "delivered dot 250 2.0.0 mx1"))
			got := mx.Messages()
			if len(got) != c.copies {
				t.Fatalf("%d copies arrived, want %d", len(got), c.copies)
			}
			if messageID(got[0].Data) == "" || messageID(got[0].Data) != messageID(got[len(got)-1].Data) {
				t.Errorf("Message-IDs %q and %q", messageID(got[0].Data), messageID(got[len(got)-1].Data))
			}
		})
	}
}

// A server disconnects while the message is transferred: nothing has arrived, which both sides know. The
// message is larger than the socket buffers, so the transfer breaks off.
func TestScenarioDisconnectInTheBody(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	mx := s.startServer(t, 30, smtptest.Config{})
	mx.On(smtptest.Body, "", smtptest.Disconnect())
	s.mailHosts(t, "body.test", 30)
	id := s.sendMessage(t, []string{"bob@body.test"}, `"html":"`+
		strings.Repeat("<p>More than the sockets hold.</p>", 140_000)+`"`)
	s.expect(t, id, deferredStory("", "deferred body mx1"))
	if n := len(mx.Messages()); n != 0 {
		t.Errorf("%d copies arrived with the first attempt", n)
	}
	s.passTime(t, id, time.Minute)
	s.expect(t, id, arrivedLate("deferred body mx1", "delivered dot 250 2.0.0 mx1"))
	if n := len(mx.Messages()); n != 1 {
		t.Errorf("%d copies arrived, want 1", n)
	}
}
