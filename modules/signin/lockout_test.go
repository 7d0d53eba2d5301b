package signin_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/modules/accounts/audit"
	"github.com/postrider/postrider/modules/notices"
	"github.com/postrider/postrider/modules/signin"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

// inBrowser returns the context of a request from an address, in the browser with a device cookie.
func inBrowser(t *testing.T, ip, device string) context.Context {
	t.Helper()
	return audit.WithOrigin(t.Context(), audit.Origin{Addr: netip.MustParseAddr(ip), Device: device})
}

// guessFromNetworks guesses the password of an email from many networks, and returns the number of guesses
// that were checked.
func (w *world) guessFromNetworks(t *testing.T, email string, networks int) (judged int) {
	t.Helper()
	for i := range networks {
		for range 6 {
			_, err := w.SignIn(requestFrom(t, fmt.Sprintf("11.%d.0.1", i)),
				signin.Credentials{Email: email, Password: "wrong"})
			var refused *fault.Error
			switch {
			case fault.KindOf(err) == fault.Unauthorized:
				judged++
			case errors.As(err, &refused) && refused.Kind == fault.Limit:
				if refused.RetryAfter > 15*time.Minute {
					t.Fatalf("a guess is blocked for %s, want at most 15 minutes", refused.RetryAfter)
				}
			default:
				t.Fatal(err)
			}
		}
	}
	return judged
}

// Strangers who guess a password from many networks cannot lock out its user, even without a passkey: not in
// a known browser, not in a session, and not after a password reset. Guesses remain limited.
func TestStrangersCannotLockUserOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	own := w.setUp(t)
	ada := w.callerOf(t, own)
	if judged := w.guessFromNetworks(t, "ada@example.com", 40); judged < 50 || judged > 62 { // plus one per minute
		t.Errorf("%d of 240 guesses from 40 networks were checked, want about 60", judged)
	}
	right := signin.Credentials{Email: "ada@example.com", Password: adasPassword}
	if _, err := w.SignIn(inBrowser(t, "11.7.0.1", own.DeviceCookie), right); err != nil {
		t.Errorf("ada in a known browser from a guessing network: %v, want success", err)
	}
	if _, err := w.Confirm(requestFrom(t, "11.7.0.1"), ada, signin.Confirmation{Password: adasPassword}); err != nil {
		t.Errorf("ada confirming her session: %v, want success", err)
	}
	stranger := inBrowser(t, "12.0.0.1", "")
	var refused *fault.Error
	if _, err := w.SignIn(stranger, right); !errors.As(err, &refused) || refused.Kind != fault.Limit ||
		refused.RetryAfter > time.Minute {
		t.Errorf("ada in an unknown browser meanwhile: %v, want Limit for at most a minute", err)
	}
	if err := w.RequestPasswordReset(stranger, "ada@example.com"); err != nil {
		t.Fatal(err)
	}
	entered, err := w.ResetPassword(stranger, w.lastMail(t, notices.Reset, "ada@example.com").Token.Reveal(),
		bobsPassword)
	if err != nil || entered.Token.IsZero() {
		t.Fatalf("reset: %v, want a session", err)
	}
	if _, err := w.AuthenticateSession(t.Context(), entered.Token.Reveal(), ""); err != nil {
		t.Errorf("the session of the reset: %v, want success", err)
	}
	right.Password = bobsPassword
	if _, err := w.SignIn(stranger, right); err != nil {
		t.Errorf("ada after the reset without the device cookie: %v, want cleared counters", err)
	}
	if _, err := w.SignIn(inBrowser(t, "12.0.0.1", entered.DeviceCookie), right); err != nil {
		t.Errorf("ada after the reset in that browser: %v, want success", err)
	}
}

// A known browser allows ten guesses, and only for users who have signed in with it. A device cookie from
// before the last password change is not valid.
func TestLimitsKnownBrowser(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	own := w.setUp(t)
	ada := w.callerOf(t, own)
	tried := func(ctx context.Context, email string) (judged int) {
		for range 30 {
			if _, err := w.SignIn(ctx, signin.Credentials{Email: email,
				Password: "wrong"}); fault.KindOf(err) == fault.Unauthorized {
				judged++
			}
		}
		return judged
	}
	if n := tried(inBrowser(t, "11.0.0.1", own.DeviceCookie), "ada@example.com"); n != 10 {
		t.Errorf("%d guesses in a known browser were checked, want 10", n)
	}
	if n := tried(inBrowser(t, "11.1.0.1", own.DeviceCookie), "bob@example.com"); n != 5 {
		t.Errorf("%d guesses at another user in that browser were checked, want 5", n)
	}
	changed, err := w.ChangeUser(inBrowser(t, "11.2.0.1", own.DeviceCookie), ada,
		signin.UserChange{Password: &signin.PasswordChange{Current: adasPassword, New: bobsPassword}})
	if err != nil {
		t.Fatal(err)
	}
	// more than a second after the sign-in
	if _, err := w.db.SQL.ExecContext(t.Context(), `UPDATE passwords SET changed_at = now() + interval '10 seconds'`); err != nil {
		t.Fatal(err)
	}
	if n := tried(inBrowser(t, "11.3.0.1", own.DeviceCookie), "ada@example.com"); n != 5 {
		t.Errorf("%d guesses in a browser from before the password change were checked, want 5", n)
	}
	if _, err := w.db.SQL.ExecContext(t.Context(), `UPDATE passwords SET changed_at = now() - interval '10 seconds'`); err != nil {
		t.Fatal(err)
	}
	// its counter is still full
	if n := tried(inBrowser(t, "11.4.0.1", changed.DeviceCookie), "ada@example.com"); n != 0 {
		t.Errorf("%d more guesses in the browser that changed the password were checked, want 0", n)
	}
}

// A stolen session does not allow faster guesses at its user's password.
func TestLimitsGuessesInSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.callerOf(t, w.setUp(t))
	judged := 0
	for i := range 30 {
		_, err := w.Confirm(requestFrom(t, fmt.Sprintf("11.%d.0.1", i)), ada, signin.Confirmation{Password: "wrong"})
		var refused *fault.Error
		switch {
		case fault.KindOf(err) == fault.Unauthorized:
			judged++
		case !errors.As(err, &refused) || refused.Kind != fault.Limit || refused.RetryAfter > 15*time.Minute:
			t.Fatalf("a guess in a session: %v, want Unauthorized, or Limit for at most 15 minutes", err)
		}
	}
	if judged != 5 {
		t.Errorf("%d of 30 guesses in a session were checked, want 5", judged)
	}
}

// A hundred strangers who request reset links cannot prevent the user from getting one: the mailbox always
// has a valid link, and only a few emails are sent.
func TestStrangersCannotUseUpResetLinks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	own := w.setUp(t)
	for i := range 100 {
		if err := w.RequestPasswordReset(requestFrom(t, fmt.Sprintf("11.%d.0.1", i)), "ada@example.com"); err != nil {
			t.Fatal(err)
		}
		w.sendDueMail(t)
	}
	last := w.lastMail(t, notices.Reset, "ada@example.com")
	if n := len(w.box.mails); n > 6 {
		t.Errorf("100 strangers caused %d mails to ada, want about 5", n)
	}
	if err := w.RequestPasswordReset(requestFrom(t, "12.0.0.1"), "ada@example.com"); err != nil {
		t.Errorf("ada's request after 100 strangers: %v, want success", err)
	}
	w.sendDueMail(t)
	// the last link expires soon
	if _, err := w.db.SQL.ExecContext(t.Context(), `UPDATE sign_in_links SET expires_at = now() + interval '10 minutes'`); err != nil {
		t.Fatal(err)
	}
	if err := w.RequestPasswordReset(requestFrom(t, "12.0.0.1"), "ada@example.com"); err != nil {
		t.Fatal(err)
	}
	next := w.lastMail(t, notices.Reset, "ada@example.com")
	if next.Token.Reveal() == last.Token.Reveal() {
		t.Error("no new link was sent before the last one expired")
	}
	before := len(w.box.mails)
	if err := w.RequestPasswordReset(inBrowser(t, "11.1.0.1", own.DeviceCookie), "ada@example.com"); err != nil {
		t.Errorf("ada's request in a known browser: %v, want success", err)
	}
	if w.sendDueMail(t); len(w.box.mails) != before+1 {
		t.Errorf("ada's request in a known browser caused %d mails, want 1", len(w.box.mails)-before)
	}
	if _, err := w.ResetPassword(t.Context(), next.Token.Reveal(), bobsPassword); err != nil {
		t.Errorf("ada using the link of a stranger's request: %v, want success", err)
	}
}

// Guessers on many networks do not prevent others from signing in: no sign-in from another network is
// rejected because of overload.
func TestGuessersDoNotStarveSignIns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setUp(t)
	const guessers, honest = 20, 30
	ctx, end := context.WithCancel(t.Context())
	var all sync.WaitGroup
	var judged atomic.Int64
	for i := range guessers {
		all.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				origin := audit.Origin{Addr: netip.MustParseAddr(fmt.Sprintf("20.%d.%d.1", i, n/25%256))}
				_, err := w.SignIn(audit.WithOrigin(ctx, origin),
					signin.Credentials{Email: fmt.Sprintf("p%d-%d@example.com", i, n), Password: "wrong"})
				if fault.KindOf(err) == fault.Unauthorized {
					judged.Add(1)
				}
			}
		})
	}
	expect.Eventually(t, "the guessers are running", func() bool { return judged.Load() > 2*guessers })
	refused := 0
	for i := range honest {
		_, err := w.SignIn(requestFrom(t, fmt.Sprintf("12.%d.0.1", i)),
			signin.Credentials{Email: "ada@example.com", Password: adasPassword})
		if err != nil {
			refused++
			t.Logf("honest sign-in %d: %v", i, err)
		}
	}
	end()
	all.Wait()
	if refused != 0 {
		t.Errorf("with %d guessers, %d of %d honest sign-ins were rejected, want 0", guessers, refused, honest)
	}
}

// Every attempt for a known email, including the one that reaches a limit, causes the same statements, hashes
// and rows as one for an unknown email, so response times do not reveal which emails are known.
func TestAttemptsCostTheSameForUnknownEmails(t *testing.T) {
	t.Parallel()
	server := dbtest.NewServer(t)
	server.RecordStatements()
	d := server.OpenPatiently()
	w := newWorldOn(t, d)
	w.setUp(t)
	emails := map[string]string{"ada@example.com": "11.0.0.1", "nobody@example.com": "12.0.0.1"}
	type cost struct {
		Kind       fault.Kind
		Hashes     int64
		Rows       int
		Statements []string
	}
	mark := func(text string) {
		t.Helper()
		if _, err := d.SQL.ExecContext(t.Context(), `SELECT '`+text+`'`); err != nil {
			t.Fatal(err)
		}
	}
	rows := func() int {
		t.Helper()
		n, err := db.One(t.Context(), d.SQL, db.Value[int], `
SELECT (SELECT count(*) FROM sign_in_failures) + (SELECT count(*) FROM security_alerts) + (SELECT count(*) FROM sign_in_links) + (SELECT count(*) FROM audit_entries)`)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	measure := func(what string, do func(ctx context.Context, email string) error) {
		t.Helper()
		costs := map[string]cost{}
		for email, ip := range emails {
			begin, end := "begin "+what+" "+email, "end "+what+" "+email
			hashes, before := w.HashCount(), rows()
			mark(begin)
			err := do(requestFrom(t, ip), email)
			mark(end)
			c := cost{Kind: fault.KindOf(err), Hashes: w.HashCount() - hashes, Rows: rows() - before}
			expect.Eventually(t, "the server logged the statements", func() (done bool) {
				c.Statements, done = server.Between(begin, end)
				return done
			})
			costs[email] = c
		}
		if diff := cmp.Diff(costs["nobody@example.com"], costs["ada@example.com"]); diff != "" {
			t.Errorf("%s costs differently for a known email (-unknown +known):\n%s", what, diff)
		}
	}
	for i := range 7 {
		measure(fmt.Sprint("sign-in ", i+1), func(ctx context.Context, email string) error {
			_, err := w.SignIn(ctx, signin.Credentials{Email: email, Password: "wrong"})
			return err
		})
	}
	for i := range 7 {
		measure(fmt.Sprint("forgotten password ", i+1), w.RequestPasswordReset)
	}
}
