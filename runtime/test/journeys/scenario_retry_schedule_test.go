package journeys_test

import (
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
	"github.com/postrider/postrider/runtime/test/harness"
)

// A server never accepts the message: it is retried after 1, 5, 15 and 30 minutes, 1, 2 and 4 hours, then
// every 4 hours, until 72 hours after acceptance. Then it bounces as transient, and a mailbox that was full
// for so long is suppressed. The sender is notified of the delay at most every 4 hours. The clock is moved
// by moving the rows.
func TestScenarioRetryScheduleToItsEnd(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	mx := s.startServer(t, 20, smtptest.Config{})
	mx.Always(smtptest.Rcpt, "", smtptest.Reply(452, "4.2.2", "Mailbox full"))
	s.mailHosts(t, "never.test", 20)
	id := s.sendMessage(t, []string{"bob@never.test"})
	wait := []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour,
		4 * time.Hour}
	var age time.Duration
	attempts := 0
	for limit := 72 * time.Hour; ; {
		attempts++
		next := wait[min(attempts, len(wait))-1]
		if age+next > limit {
			next = limit - age
		}
		got := s.awaitAttempt(t, id, attempts)
		if age >= limit {
			break
		}
		if off := got - next; got == 0 || off > time.Minute || off < -time.Minute {
			t.Fatalf("attempt %d at %s is followed after %s, want %s", attempts, age, got, next)
		}
		s.passTime(t, id, next)
		age += next
	}
	if attempts != 25 {
		t.Errorf("%d attempts in 72 hours", attempts)
	}
	var end story
	harness.Eventually(t, "the suppression", func() bool { end, _ = s.readStory(t, id); return end.Suppressed })
	if end.Status != "bounced" || end.Recipients[0] != "bounced 452 4.2.2" ||
		end.Events[len(end.Events)-1] != "email.bounced transient" {
		t.Errorf("the end: %+v", end)
	}
	if n := strings.Count(strings.Join(end.Events, " "), "email.delivery_delayed"); n < 16 || n > 19 {
		t.Errorf("%d delay notifications in 72 hours", n)
	}
}

// awaitAttempt waits until attempt n has ended and returns the wait until the next one, or 0 if there is
// none.
func (s *scenario) awaitAttempt(t *testing.T, id string, n int) (wait time.Duration) {
	t.Helper()
	harness.Eventually(t, "attempt "+number(n), func() bool {
		var ended int
		var seconds float64
		err := s.db.QueryRowContext(t.Context(), `SELECT (SELECT count(*) FROM attempts WHERE email_id = $1 AND outcome IS NOT NULL),
			(SELECT coalesce(extract(epoch FROM min(due_at) - now()), 0) FROM recipients WHERE email_id = $1)`, id).Scan(&ended, &seconds)
		if err != nil {
			t.Fatal(err)
		}
		wait = time.Duration(seconds * float64(time.Second))
		return ended == n
	})
	return wait
}
