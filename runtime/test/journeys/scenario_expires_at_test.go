package journeys_test

import (
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
)

// A sign-in code is useless tomorrow. Messages are not delivered after expires_at: the recipients that are
// still open fail at that moment, not at the next step of the schedule, and are not suppressed.
func TestScenarioExpiresAt(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	mx := s.startServer(t, 20, smtptest.Config{})
	mx.Always(smtptest.Rcpt, "later@expires.test", smtptest.Reply(451, "4.7.1", "Greylisted"))
	s.mailHosts(t, "expires.test", 20)
	expires := time.Now().Add(50 * time.Second) // sooner than the next step, and later than the first attempt
	id := s.sendMessage(t, []string{"later@expires.test"}, `"expires_at":"`+expires.UTC().Format(time.RFC3339Nano)+`"`)
	first := "deferred rcpt 451 4.7.1 mx1"
	s.expect(t, id, deferredStory("451 4.7.1", first))
	var due time.Time
	if err := s.db.QueryRowContext(t.Context(), `SELECT due_at FROM recipients WHERE email_id = $1`, id).
		Scan(&due); err != nil || due.Sub(expires).Abs() > time.Second {
		t.Errorf("the next attempt is due at %s, want it at the expiry, %s (%v)", due, expires, err)
	}
	s.exec(t, `UPDATE emails SET expires_at = now() WHERE id = $1`, id)
	s.passTime(t, id, 0)
	want := story{Status: "failed", Recipients: []string{"failed"}, Attempts: []string{first, "failed envelope"},
		Events: []string{"email.sent", "email.delivery_delayed", "email.failed expired"}}
	s.expect(t, id, want)
	s.expect(t, s.sendMessage(t, []string{"ok@expires.test"}, `"expires_at":"`+expires.Add(time.Hour).UTC().
		Format(time.RFC3339Nano)+`"`), deliveredStory("delivered dot 250 2.0.0 mx1"))
}
