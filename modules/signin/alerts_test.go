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

// Whoever's password, address, second factor or role changes gets one mail about each, and so does who signs
// in by a browser that is not known. The mail says when and where, in words of ours.
func TestMailsSecurityAlerts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	own := w.setUp(t)
	ada := w.callerOf(t, own)
	bob := w.addMember(t, ada, "bob@example.com", rights.RoleDeveloper)
	w.sendDueMail(t)
	told := func(what, to string, want ...notices.Kind) {
		t.Helper()
		var got []notices.Kind
		for _, m := range w.sendDueMail(t) {
			if m.To == to && m.Kind != notices.Reset {
				got = append(got, m.Kind)
			}
			if m.Names["time"] != "" && (m.Names["ip"] != "192.0.2.7" || m.Names["browser"] != "Firefox, Linux") {
				t.Errorf("%s: the mail says %v, want the address and the browser", what, m.Names)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %s gets %v, want %v", what, to, got, want)
		}
		if again := w.sendDueMail(t); len(again) != 0 {
			t.Errorf("%s: %d mails more, want none", what, len(again))
		}
	}
	ctx := audit.WithOrigin(t.Context(), audit.Origin{Addr: netip.MustParseAddr("192.0.2.7"), Agent: firefox})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := w.ChangeUser(ctx, ada, signin.UserChange{Password: &signin.PasswordChange{Current: adasPassword, New: bobsPassword}})
	must(err)
	told("a new password", "ada@example.com", notices.PasswordChanged)
	w.addFactorFrom(ctx, t, ada)
	told("a second factor", "ada@example.com", notices.SecondFactorAdded)
	must(w.RemoveFactor(ctx, ada))
	told("no second factor", "ada@example.com", notices.SecondFactorRemoved)
	must(w.RemoveFactor(ctx, ada))
	told("that again", "ada@example.com")
	must(w.Forgot(ctx, "ada@example.com"))
	in, err := w.Reset(ctx, w.lastMail(t, notices.Reset, "ada@example.com").Token.Reveal(), adasPassword)
	must(err)
	told("a reset", "ada@example.com", notices.PasswordChanged)
	ada = w.callerOf(t, in)

	known := audit.WithOrigin(ctx, audit.Origin{Addr: netip.MustParseAddr("192.0.2.7"), Agent: firefox, Device: in.Device})
	_, err = w.SignIn(known, signin.Credentials{Email: "ada@example.com", Password: adasPassword})
	must(err)
	told("a sign-in in a browser that is known", "ada@example.com")
	_, err = w.SignIn(ctx, signin.Credentials{Email: "ada@example.com", Password: adasPassword})
	must(err)
	told("a sign-in in another browser", "ada@example.com", notices.NewDevice)

	_, err = w.teams.SetRole(ctx, ada, bob.Person.UserID, rights.RoleViewer)
	must(err)
	told("another role", "bob@example.com", notices.RoleChanged)
	if last := w.box.mails[len(w.box.mails)-1]; last.Names["team"] != "Acme" || last.Names["role"] != "viewer" || last.Names["before"] != "developer" {
		t.Errorf("bob is told %v of his role", last.Names)
	}
	must(w.teams.Remove(ctx, ada, bob.Person.UserID))
	told("a removal", "bob@example.com", notices.MemberRemoved)
}

func (w *world) addFactorFrom(ctx context.Context, t *testing.T, c accounts.Caller) {
	t.Helper()
	key, err := w.NewFactor(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.ActivateFactor(ctx, c, codeNow(t, key.Secret)); err != nil {
		t.Fatal(err)
	}
}

// Security events of a member are in the audit log of each of their teams, so that an owner sees who had
// their password reset; and in no other team's.
func TestAuditsSecurityEventsInAllTeams(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.callerOf(t, w.setUp(t))
	w.addMember(t, ada, "bob@example.com", rights.RoleDeveloper)
	second, token := w.secondTeam(t, ada, "bob@example.com")
	if _, err := w.Accept(t.Context(), signin.Acceptance{Token: token, Password: bobsPassword}); err != nil {
		t.Fatal(err)
	}
	third, err := w.NewTeam(t.Context(), ada, "Without bob")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Forgot(t.Context(), "bob@example.com"); err != nil {
		t.Fatal(err)
	}
	in, err := w.Reset(t.Context(), w.lastMail(t, notices.Reset, "bob@example.com").Token.Reveal(), adasPassword)
	if err != nil {
		t.Fatal(err)
	}
	bob := w.callerOf(t, in)
	to := "bob@new.example"
	if _, err := w.ChangeUser(t.Context(), bob, signin.UserChange{Email: &to}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.ConfirmEmail(t.Context(), signin.EmailConfirmation{Token: w.lastMail(t, notices.Email, to).Token.Reveal(), Caller: &bob}); err != nil {
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
		t.Fatalf("bob's teams and the third are %v, want three", teams)
	}
	for accountID, his := range teams {
		for _, action := range []string{"password.reset", "user.email_asked", "user.email_changed"} {
			n := w.db.Ent.AuditEntry.Query().Where(auditentry.AccountID(accountID), auditentry.Action(action), auditentry.Target(bob.Person.UserID)).CountX(t.Context())
			if his && n != 1 || !his && n != 0 {
				t.Errorf("the log of a team has %d entries %s, want it there once: %t", n, action, his)
			}
		}
	}
}

// Changes that follow each other do not fill a mailbox: of one kind a person gets five mails a day. Kinds
// that others cause do not use up the ones about the person's own credentials.
func TestLimitsAlertsPerUser(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.callerOf(t, w.setUp(t))
	bob := w.addMember(t, ada, "bob@example.com", rights.RoleDeveloper)
	w.sendDueMail(t)
	for i := range 40 {
		if _, err := w.teams.SetRole(t.Context(), ada, bob.Person.UserID, []rights.Role{rights.RoleViewer, rights.RoleDeveloper}[i%2]); err != nil {
			t.Fatal(err)
		}
		w.sendDueMail(t)
	}
	kinds := map[notices.Kind]int{}
	for _, m := range w.box.mails {
		kinds[m.Kind]++
	}
	if kinds[notices.RoleChanged] != 5 {
		t.Errorf("40 changes of a role sent %v, want five mails", kinds)
	}
	if _, err := w.ChangeUser(t.Context(), bob, signin.UserChange{Password: &signin.PasswordChange{Current: bobsPassword, New: adasPassword}}); err != nil {
		t.Fatal(err)
	}
	w.lastMail(t, notices.PasswordChanged, "bob@example.com")
}

// A mail that could not be handed over is tried again, and is not doubled by a worker that takes it meanwhile.
func TestMailsAlertOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.callerOf(t, w.setUp(t))
	w.SetMailer(brokenMailer{})
	if _, err := w.ChangeUser(t.Context(), ada, signin.UserChange{Password: &signin.PasswordChange{Current: adasPassword, New: bobsPassword}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Post(t.Context()); !errors.Is(err, errBroken) {
		t.Errorf("the worker says %v, want what the mailer said", err)
	}
	w.SetMailer(w.box)
	if mails := w.sendDueMail(t); len(mails) != 0 {
		t.Errorf("right after a failure %d mails go, want it to wait", len(mails))
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
					t.Errorf("settling an alert, time %d: %t, %v; want %t", i+1, held, err, want)
				}
			}
		}
	}
	if mails := w.sendDueMail(t); len(mails) != 0 {
		t.Errorf("an alert that is settled is mailed %d times more", len(mails))
	}
}

var errBroken = errors.New("the mailer is broken")

type brokenMailer struct{}

func (brokenMailer) Send(context.Context, notices.Notice, func(context.Context, db.Execer) (bool, error)) error {
	return errBroken
}

// One stranger's mailbox gets few mails a day, whoever asks, from however many teams; and one person makes
// few teams a day.
func TestLimitsMailsPerMailbox(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.callerOf(t, w.setUp(t))
	var teams []string
	for i := range 30 {
		accountID, err := w.NewTeam(t.Context(), ada, fmt.Sprint("Team ", i))
		if err != nil {
			break
		}
		teams = append(teams, accountID)
	}
	if len(teams) != 20 {
		t.Errorf("one person made %d teams in a day, want 20", len(teams))
	}
	invited := 0
	for i, accountID := range teams {
		by := ada
		by.AccountID = accountID
		email := []string{"victim@example.org", fmt.Sprintf("victim+%d@example.org", i)}[i%2] // one mailbox on many servers
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
		t.Errorf("%d mails of 20 teams went to one mailbox, and a change of address there got %v; want five mails and a refusal", invited, err)
	}
	if n := len(slices.DeleteFunc(w.sendDueMail(t), func(m notices.Notice) bool { return !strings.HasPrefix(m.To, "victim") })); n > 5 {
		t.Errorf("%d mails went to one mailbox, want five at most", n)
	}
}

func openSignUp(c *signin.Config) { c.SignUp = signin.SignUp{Open: true} }

// Strangers who ask to sign up with the address of another have few mails sent there.
func TestLimitsSignUpMails(t *testing.T) {
	t.Parallel()
	w := newWorld(t, openSignUp)
	w.setUp(t)
	for i := range 60 {
		for _, email := range []string{"victim@example.org", "ada@example.com"} {
			if err := w.AskSignUp(requestFrom(t, fmt.Sprintf("11.%d.0.1", i)), email); err != nil {
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
		t.Errorf("60 strangers who ask to sign up send %v mails, want few to each", counts)
	}
	if !strings.HasPrefix(string(w.box.mails[0].Kind), "sign_up") && w.box.mails[0].Kind != notices.Already {
		t.Errorf("the first mail is %s, want one about signing up", w.box.mails[0].Kind)
	}
}
