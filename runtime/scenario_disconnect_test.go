package runtime_test

import (
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
