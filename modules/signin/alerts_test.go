package signin_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/postrider/postrider/ent/auditentry"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/alerts"
	"github.com/postrider/postrider/modules/accounts/audit"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/accounts/team"
	"github.com/postrider/postrider/modules/notices"
	"github.com/postrider/postrider/modules/signin"
	"github.com/postrider/postrider/runtime/storage/db"
)

const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0 https://evil.example"

// A change of a user's password, second factor or role, and a sign-in from an unknown browser, each cause one
// email. The email shows the time and IP address, and the browser's name instead of its User-Agent.
func TestMailsSecurityAlerts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	own := w.setUp(t)
	ada := w.callerOf(t, own)
	bob := w.addMember(t, ada, "bob@example.com", rights.RoleDeveloper)
	w.sendDueMail(t)
	wantMails := func(what, to string, want ...notices.NoticeKind) {
		t.Helper()
		var got []notices.NoticeKind
		for _, m := range w.sendDueMail(t) {
			if m.To == to && m.Kind != notices.Reset {
				got = append(got, m.Kind)
			}
			if m.Values["time"] != "" && (m.Values["ip"] != "192.0.2.7" || m.Values["browser"] != "Firefox, Linux") {
				t.Errorf("%s: the mail has %v, want the IP address and the browser", what, m.Values)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %s got the mails %v, want %v", what, to, got, want)
		}
		if again := w.sendDueMail(t); len(again) != 0 {
			t.Errorf("%s: %d additional mails, want 0", what, len(again))
		}
	}
	ctx := audit.WithOrigin(t.Context(), audit.Origin{Addr: netip.MustParseAddr("192.0.2.7"), Agent: firefox})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := w.ChangeUser(ctx, ada,
		signin.UserChange{Password: &signin.PasswordChange{Current: adasPassword, New: bobsPassword}})
	must(err)
	wantMails("a new password", "ada@example.com", notices.PasswordChanged)
	w.addFactorFrom(ctx, t, ada)
	wantMails("a second factor", "ada@example.com", notices.SecondFactorAdded)
	must(w.RemoveSecondFactor(ctx, ada))
	wantMails("removing the second factor", "ada@example.com", notices.SecondFactorRemoved)
	must(w.RemoveSecondFactor(ctx, ada))
	wantMails("removing it again", "ada@example.com")
	must(w.RequestPasswordReset(ctx, "ada@example.com"))
	in, err := w.ResetPassword(ctx, w.lastMail(t, notices.Reset, "ada@example.com").Token.Reveal(), adasPassword)
	must(err)
	wantMails("a reset", "ada@example.com", notices.PasswordChanged)
	ada = w.callerOf(t, in)

	known := audit.WithOrigin(ctx, audit.Origin{Addr: netip.MustParseAddr("192.0.2.7"), Agent: firefox,
		Device: in.DeviceCookie})
	_, err = w.SignIn(known, signin.Credentials{Email: "ada@example.com", Password: adasPassword})
	must(err)
	wantMails("a sign-in in a known browser", "ada@example.com")
	_, err = w.SignIn(ctx, signin.Credentials{Email: "ada@example.com", Password: adasPassword})
	must(err)
	wantMails("a sign-in in an unknown browser", "ada@example.com", notices.NewDevice)

	_, err = w.teams.SetRole(ctx, ada, bob.Person.UserID, rights.RoleViewer)
	must(err)
	wantMails("a changed role", "bob@example.com", notices.RoleChanged)
	if last := w.box.mails[len(w.box.mails)-1]; last.Values["team"] != "Acme" || last.Values["role"] != "viewer" ||
		last.Values["before"] != "developer" {
		t.Errorf("the mail about bob's role has %v, want Acme, viewer and developer", last.Values)
	}
	must(w.teams.Remove(ctx, ada, bob.Person.UserID))
	wantMails("a removal", "bob@example.com", notices.MemberRemoved)
}

func (w *world) addFactorFrom(ctx context.Context, t *testing.T, c accounts.Caller) {
	t.Helper()
	key, err := w.CreateSecondFactor(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.ActivateSecondFactor(ctx, c, codeNow(t, key.Secret)); err != nil {
		t.Fatal(err)
	}
}

// Security events of a member appear in the audit log of each of their teams, so that owners see, for
// example, password resets. They do not appear in other teams.
func TestAuditsSecurityEventsInAllTeams(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.callerOf(t, w.setUp(t))
	w.addMember(t, ada, "bob@example.com", rights.RoleDeveloper)
	second, token := w.secondTeam(t, ada, "bob@example.com")
	if _, err := w.AcceptInvitation(t.Context(), signin.AcceptInput{Token: token, Password: bobsPassword}); err != nil {
		t.Fatal(err)
	}
	third, err := w.CreateTeam(t.Context(), ada, "Without bob")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.RequestPasswordReset(t.Context(), "bob@example.com"); err != nil {
		t.Fatal(err)
	}
	in, err := w.ResetPassword(t.Context(), w.lastMail(t, notices.Reset, "bob@example.com").Token.Reveal(),
		adasPassword)
	if err != nil {
		t.Fatal(err)
	}
	bob := w.callerOf(t, in)
	to := "bob@new.example"
	if _, err := w.ChangeUser(t.Context(), bob, signin.UserChange{Email: &to}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.ConfirmEmail(t.Context(), signin.EmailConfirmation{Token: w.lastMail(t, notices.Email, to).
		Token.Reveal(), Caller: &bob}); err != nil {
		t.Fatal(err)
	}
	teams := map[string]bool{ada.AccountID: true, third: false}
	memberships, err := w.teams.Memberships(t.Context(), bob.Person.UserID)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range memberships {
		teams[m.AccountID] = true
	}
	if len(teams) != 3 || second == "" {
		t.Fatalf("the teams are %v, want 3", teams)
	}
	for accountID, his := range teams {
		for _, action := range []string{"password.reset", "user.email_asked", "user.email_changed"} {
			n := w.db.Ent.AuditEntry.Query().Where(auditentry.AccountID(accountID), auditentry.Action(action),
				auditentry.Target(bob.Person.UserID)).CountX(t.Context())
			if his && n != 1 || !his && n != 0 {
				t.Errorf("the team's audit log has %d entries %s; want one: %t", n, action, his)
			}
		}
	}
}

// A user gets at most five emails per day and kind. Kinds that other users can cause do not count toward the
// limit of alerts about the user's own credentials.
func TestLimitsAlertsPerUser(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.callerOf(t, w.setUp(t))
	bob := w.addMember(t, ada, "bob@example.com", rights.RoleDeveloper)
	w.sendDueMail(t)
	for i := range 40 {
		if _, err := w.teams.SetRole(t.Context(), ada, bob.Person.UserID,
			[]rights.Role{rights.RoleViewer, rights.RoleDeveloper}[i%2]); err != nil {
			t.Fatal(err)
		}
		w.sendDueMail(t)
	}
	kinds := map[notices.NoticeKind]int{}
	for _, m := range w.box.mails {
		kinds[m.Kind]++
	}
	if kinds[notices.RoleChanged] != 5 {
		t.Errorf("40 role changes sent %v, want 5 mails", kinds)
	}
	if _, err := w.ChangeUser(t.Context(), bob,
		signin.UserChange{Password: &signin.PasswordChange{Current: bobsPassword, New: adasPassword}}); err != nil {
		t.Fatal(err)
	}
	w.lastMail(t, notices.PasswordChanged, "bob@example.com")
}

// A failed email is retried, and concurrent workers do not send it twice.
func TestMailsAlertOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.callerOf(t, w.setUp(t))
	w.SetMailer(brokenMailer{})
	if _, err := w.ChangeUser(t.Context(), ada,
		signin.UserChange{Password: &signin.PasswordChange{Current: adasPassword, New: bobsPassword}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Post(t.Context()); !errors.Is(err, errBroken) {
		t.Errorf("Post returned %v, want the mailer's error", err)
	}
	w.SetMailer(w.box)
	if mails := w.sendDueMail(t); len(mails) != 0 {
		t.Errorf("%d mails were sent immediately after a failure, want 0", len(mails))
	}
	for range 2 {
		if _, err := w.db.SQL.ExecContext(t.Context(), `UPDATE security_alerts SET due_at = now() - interval '1 second' WHERE due_at IS NOT NULL`); err != nil {
			t.Fatal(err)
		}
		taken, err := alerts.Claim(t.Context(), w.db.SQL, 10)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range taken {
			for i, want := range []bool{true, false} {
				if held, err := alerts.MarkMailed(t.Context(), w.db.SQL, d); err != nil || held != want {
					t.Errorf("MarkMailed, call %d: %t, %v; want %t", i+1, held, err, want)
				}
			}
		}
	}
	if mails := w.sendDueMail(t); len(mails) != 0 {
		t.Errorf("a mailed alert was sent %d more times", len(mails))
	}
}

var errBroken = errors.New("the mailer is broken")

type brokenMailer struct{}

func (brokenMailer) Send(context.Context, notices.Notice, func(context.Context, db.Execer) (bool, error)) error {
	return errBroken
}

// A mailbox gets only a few emails per day, regardless of how many users and teams cause them. A user can
// create only a few teams per day.
func TestLimitsMailsPerMailbox(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.callerOf(t, w.setUp(t))
	var teams []string
	for i := range 30 {
		accountID, err := w.CreateTeam(t.Context(), ada, fmt.Sprint("Team ", i))
		if err != nil {
			break
		}
		teams = append(teams, accountID)
	}
	if len(teams) != 20 {
		t.Errorf("one user created %d teams in a day, want 20", len(teams))
	}
	invited := 0
	for i, accountID := range teams {
		by := ada
		by.AccountID = accountID
		// spellings of one mailbox that many servers accept
		email := []string{"victim@example.org", fmt.Sprintf("victim+%d@example.org", i)}[i%2]
		made, err := w.teams.Invite(t.Context(), by, team.NewInvitation{Email: email, Role: rights.RoleViewer})
		if err == nil {
			invited++
			if _, err = w.teams.Resend(t.Context(), by, made.ID); err == nil {
				invited++
			}
		}
	}
	to := "victim@example.org"
	_, err := w.ChangeUser(t.Context(), ada, signin.UserChange{Email: &to})
	if invited != 5 || err == nil {
		t.Errorf("%d mails from 20 teams went to one mailbox, and an email change to it returned %v; want 5 mails and an error", invited, err)
	}
	if n := len(slices.DeleteFunc(w.sendDueMail(t),
		func(m notices.Notice) bool { return !strings.HasPrefix(m.To, "victim") })); n > 5 {
		t.Errorf("%d mails went to one mailbox, want at most 5", n)
	}
}

func openSignUp(c *signin.Config) { c.SignUp = signin.SignUpPolicy{Open: true} }

// Strangers who request sign-up links for another address can cause only a few emails to it.
func TestLimitsSignUpMails(t *testing.T) {
	t.Parallel()
	w := newWorld(t, openSignUp)
	w.setUp(t)
	for i := range 60 {
		for _, email := range []string{"victim@example.org", "ada@example.com"} {
			if err := w.RequestSignUp(requestFrom(t, fmt.Sprintf("11.%d.0.1", i)), email); err != nil {
				t.Fatal(err)
			}
		}
		w.sendDueMail(t)
	}
	counts := map[string]int{}
	for _, m := range w.box.mails {
		counts[m.To]++
	}
	if counts["victim@example.org"] > 6 || counts["ada@example.com"] > 6 {
		t.Errorf("60 sign-up requests by strangers caused %v mails, want at most 6 each", counts)
	}
	if !strings.HasPrefix(string(w.box.mails[0].Kind), "sign_up") && w.box.mails[0].Kind != notices.AlreadyRegistered {
		t.Errorf("the first mail is %s, want one about sign-up", w.box.mails[0].Kind)
	}
}
