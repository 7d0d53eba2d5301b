package journeys_test

import (
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
)

// A code to sign in with is of no use tomorrow. What has not arrived by expires_at
// does not arrive late: the recipients that are still open fail, the next look falls
// on that moment and not on the next step of the schedule, and nobody is suppressed.
func TestScenarioExpiresAt(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	mx := s.server(t, 20, smtptest.Config{})
	mx.Always(smtptest.Rcpt, "later@expires.test", smtptest.Reply(451, "4.7.1", "Greylisted"))
	s.mailHosts(t, "expires.test", 20)
	expires := time.Now().Add(40 * time.Second)
	id := s.message(t, []string{"later@expires.test"}, `"expires_at":"`+expires.UTC().Format(time.RFC3339Nano)+`"`)
	first := "deferred rcpt 451 4.7.1 mx1"
	s.expect(t, id, waits("451 4.7.1", first))
	if wait := s.awaitAttempt(t, id, 1); wait < 20*time.Second || wait > 41*time.Second {
		t.Errorf("the next look is in %s, want it at the expiry", wait)
	}
	s.exec(t, `UPDATE emails SET expires_at = now() WHERE id = $1`, id)
	s.pass(t, id, 0)
	want := story{Status: "failed", Recipients: []string{"failed"}, Attempts: []string{first, "failed envelope"},
		Events: []string{"email.sent", "email.delivery_delayed", "email.failed expired"}}
	s.expect(t, id, want)
	s.expect(t, s.message(t, []string{"ok@expires.test"}, `"expires_at":"`+expires.UTC().Format(time.RFC3339Nano)+`"`), arrived("delivered dot 250 2.0.0 mx1"))
}
