package journeys_test

import (
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
)

// A server hangs up in the middle. Before the final dot that is a deferral, and the
// next attempt makes the one copy there is. After it nobody knows: the attempt
// says `unknown`, and there may be a second copy, with the same Message-ID.
func TestScenarioDisconnect(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	for n, c := range []struct {
		phase  smtptest.Phase
		first  string
		copies int // that reached the server whole
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
			mx := s.server(t, 20+n, smtptest.Config{NoPipelining: true})
			mx.On(c.phase, "", smtptest.Disconnect())
			s.mailHosts(t, domain, 20+n)
			id := s.message(t, []string{"bob@" + domain})
			s.expect(t, id, waits("", c.first))
			s.pass(t, id, time.Minute)
			s.expect(t, id, arrivedLate(c.first, "delivered dot 250 2.0.0 mx1"))
			got := mx.Messages()
			if len(got) != c.copies {
				t.Fatalf("%d copies came in, want %d", len(got), c.copies)
			}
			if messageID(got[0].Data) == "" || messageID(got[0].Data) != messageID(got[len(got)-1].Data) {
				t.Errorf("Message-IDs %q and %q", messageID(got[0].Data), messageID(got[len(got)-1].Data))
			}
		})
	}
}

// A server hangs up while the message comes in: nothing has arrived, and everybody
// knows it. The message is larger than what the sockets hold, so the line breaks off.
func TestScenarioDisconnectInTheBody(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	mx := s.server(t, 30, smtptest.Config{})
	mx.On(smtptest.Body, "", smtptest.Disconnect())
	s.mailHosts(t, "body.test", 30)
	id := s.message(t, []string{"bob@body.test"}, `"html":"`+strings.Repeat("<p>More than the sockets hold.</p>", 140_000)+`"`)
	s.expect(t, id, waits("", "deferred body mx1"))
	if n := len(mx.Messages()); n != 0 {
		t.Errorf("%d copies came in with the first attempt", n)
	}
	s.pass(t, id, time.Minute)
	s.expect(t, id, arrivedLate("deferred body mx1", "delivered dot 250 2.0.0 mx1"))
	if n := len(mx.Messages()); n != 1 {
		t.Errorf("%d copies came in, want 1", n)
	}
}
