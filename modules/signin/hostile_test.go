package signin_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/accounts/team"
	"github.com/postrider/postrider/modules/signin"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/secret"
)

const bobsPassword = "seven wet umbrellas sing"

// inviteUser invites a user and returns the invitation's id and token.
func (w *world) inviteUser(t *testing.T, by accounts.Caller, email string, role rights.Role) (id, token string) {
	t.Helper()
	made, err := w.teams.Invite(t.Context(), by, team.NewInvitation{Email: email, Role: role})
	if err != nil {
		t.Fatal(err)
	}
	due, err := w.teams.TakeDue(t.Context(), 1)
	if err != nil || len(due) != 1 {
		t.Fatalf("TakeDue returned %d invitations, %v; want 1", len(due), err)
	}
	text, hash := secret.NewToken("")
	if held, err := team.SetInvitationToken(t.Context(), w.db.SQL, due[0], hash); err != nil || !held {
		t.Fatalf("Mailed returned %t, %v; want true", held, err)
	}
	return made.ID, text.Reveal()
}

// addMember invites a user, accepts the invitation, and returns the new member.
func (w *world) addMember(t *testing.T, by accounts.Caller, email string, role rights.Role) accounts.Caller {
	t.Helper()
	_, token := w.inviteUser(t, by, email, role)
	in, err := w.AcceptInvitation(t.Context(), signin.AcceptInput{Token: token, Password: bobsPassword})
	if err != nil {
		t.Fatal(err)
	}
	return w.callerOf(t, in)
}

// corruptToken returns a token with one byte changed.
func corruptToken(token string) string {
	other := byte('A')
	if token[len(token)/2] == other {
		other = 'B'
	}
	return token[:len(token)/2] + string(other) + token[len(token)/2+1:]
}

// A link works only unmodified, for its own purpose, before it expires, and once.
func TestRejectsInvalidLinks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.callerOf(t, w.setUp(t))
	link, err := w.UserLink(t.Context(), "ada@example.com")
	if err != nil {
		t.Fatal(err)
	}
	token := tokenOf(t, link)
	refused := func(what string, err error) {
		t.Helper()
		if fault.KindOf(err) != fault.NotFound {
			t.Errorf("%s: %v, want NotFound", what, err)
		}
	}
	enter := func(token string) error {
		_, err := w.SignInByLink(t.Context(), token)
		return err
	}
	accept := func(token string) error {
		_, err := w.AcceptInvitation(t.Context(), signin.AcceptInput{Token: token, Password: bobsPassword})
		return err
	}
	confirm := func(token string) error {
		_, err := w.ConfirmEmail(t.Context(), signin.EmailConfirmation{Token: token})
		return err
	}
	reset := func(token string) error {
		_, err := w.ResetPassword(t.Context(), token, bobsPassword)
		return err
	}
	signUp := func(token string) error {
		_, err := w.CompleteSignUp(t.Context(), signin.SignUpInput{Token: token, Password: bobsPassword,
			AccountName: "Bob's"})
		return err
	}
	setUp := func(token string) error {
		_, err := w.SetUp(t.Context(), signin.SetUpInput{Token: token, Email: "bob@example.com", Password: bobsPassword,
			AccountName: "Bob's"})
		return err
	}
	for what, wrong := range map[string]string{"no token": "", "one byte changed": corruptToken(token),
		"cut short": token[:len(token)-1], "too long": token + "A", "NUL": "\x00", "8 KB": strings.Repeat("x", 8192), "invalid UTF-8": "\xff\xfe"} {
		refused("a link to sign in, "+what, enter(wrong))
		refused("an invitation, "+what, accept(wrong))
		refused("a reset, "+what, reset(wrong))
		refused("canceling an email change, "+what, w.StopEmailChange(t.Context(), wrong))
		refused("a new address, "+what, confirm(wrong))
	}
	refused("a link to sign in as a reset", reset(token))
	refused("a link to sign in as a new address", confirm(token))
	refused("a link to sign in as an invitation", accept(token))
	refused("a link to sign in as a sign-up", signUp(token))
	refused("a link to sign in as a set-up", setUp(token))
	if err := enter(token); err != nil {
		t.Errorf("the link after the failed attempts: %v, want success", err)
	}
	refused("the link a second time", enter(token))

	if link, err = w.UserLink(t.Context(), "ada@example.com"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.db.SQL.ExecContext(t.Context(), `UPDATE sign_in_links SET expires_at = now()`); err != nil {
		t.Fatal(err)
	}
	refused("an expired link", enter(tokenOf(t, link)))

	revoked, token := w.inviteUser(t, ada, "bob@example.com", rights.RoleViewer)
	refused("an invitation as a link to sign in", enter(token))
	if err := w.teams.Revoke(t.Context(), ada, revoked); err != nil {
		t.Fatal(err)
	}
	refused("a revoked invitation", accept(token))
	_, token = w.inviteUser(t, ada, "bob@example.com", rights.RoleViewer)
	if _, err := w.db.SQL.ExecContext(t.Context(), `UPDATE invitations SET expires_at = now()`); err != nil {
		t.Fatal(err)
	}
	refused("an expired invitation", accept(token))
	if users := w.db.Ent.User.Query().CountX(t.Context()); users != 1 {
		t.Errorf("there are %d users, want only ada", users)
	}
}

// Invalid emails cannot sign in, be invited, or become users.
func TestRejectsInvalidEmails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.callerOf(t, w.setUp(t))
	for _, email := range []string{"", "ada", "Ada <bob@example.com>", "bob@example.com\r\nBcc: eve@example.com",
		"bob@example.com\x00", "bob\n@example.com", strings.Repeat("x", 309) + "@example.com", "bob@localhost",
		"bob@example.com.",
		`"b b@example.com`, "bob@@example.com", "bob@example..com", "bob@[192.0.2.1]", "b\xffb@example.com"} {
		_, signIn := w.SignIn(t.Context(), signin.Credentials{Email: email, Password: adasPassword})
		_, invite := w.teams.Invite(t.Context(), ada, team.NewInvitation{Email: email, Role: rights.RoleViewer})
		_, change := w.ChangeUser(t.Context(), ada, signin.UserChange{Email: &email})
		_, create := w.teams.CreateUser(t.Context(), accounts.Caller{}, email, "Bob", nil)
		for what, err := range map[string]error{"a sign-in": signIn, "an invitation": invite, "an email change": change,
			"creating a user on the command line": create} {
			if fault.KindOf(err) != fault.Invalid || fault.Classify(err).Fields["email"] == "" {
				t.Errorf("%s with %.60q: %v, want an error for the field", what, email, err)
			}
		}
	}
	if users, invitations := w.db.Ent.User.Query().CountX(t.Context()), w.db.Ent.Invitation.Query().
		CountX(t.Context()); users != 1 || invitations != 0 {
		t.Errorf("there are %d users and %d invitations, want only ada", users, invitations)
	}
}

// Different spellings of an email match the same user.
func TestEmailSpellingsMatchOneUser(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.callerOf(t, w.setUp(t))
	for email, spelled := range map[string]string{"bücher@bücher.example": "bücher@XN--bcher-kva.example",
		`"b b"@example.com`: `"b b"@Example.COM`} {
		made, err := w.teams.CreateUser(t.Context(), accounts.Caller{}, email, "Bob", nil)
		if err != nil {
			t.Fatalf("creating user %s: %v, want success", email, err)
		}
		if same, err := w.teams.CreateUser(t.Context(), accounts.Caller{}, spelled, "Bob", nil); err != nil || same.ID != made.ID {
			t.Errorf("creating user %s returned %v, %v; want the user with %s", spelled, same, err, email)
		}
	}
	for _, email := range []string{"ADA@EXAMPLE.COM", "Ada@Example.com"} {
		if _, err := w.SignIn(t.Context(), signin.Credentials{Email: email, Password: adasPassword}); err != nil {
			t.Errorf("sign-in as %s: %v, want success", email, err)
		}
		if _, err := w.teams.Invite(t.Context(), ada,
			team.NewInvitation{Email: email, Role: rights.RoleViewer}); fault.KindOf(err) != fault.Conflict {
			t.Errorf("inviting member %s: %v, want Conflict", email, err)
		}
	}
}

// A code works once, even if it is sent several times concurrently.
func TestConcurrentCodeWorksOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.callerOf(t, w.setUp(t))
	key, err := w.CreateSecondFactor(t.Context(), ada)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Now()
	code := func(at time.Time) string {
		made, err := totp.GenerateCode(key.Secret, at)
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	recovery, err := w.ActivateSecondFactor(t.Context(), ada, code(at))
	if err != nil {
		t.Fatal(err)
	}
	for what, given := range map[string]string{"a TOTP code": code(at.Add(30 * time.Second)),
		"a recovery code": recovery[0]} {
		ended := runConcurrently(4, func(i int) error {
			_, err := w.SignIn(requestFrom(t, fmt.Sprintf("192.0.%d.1", i)),
				signin.Credentials{Email: "ada@example.com", Password: adasPassword, Code: given})
			return err
		})
		if ended[succeeded] != 1 || ended[succeeded]+ended[fault.Unauthorized]+ended[fault.Unavailable] != 4 {
			t.Errorf("%s sent four times concurrently: %v, want one success", what, ended)
		}
	}
}

// Members cannot grant a role above their own, and only owners can change owners.
func TestRejectsForbiddenRoles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.callerOf(t, w.setUp(t))
	bob := w.addMember(t, ada, "bob@example.com", rights.RoleAdmin)
	wants := func(what string, err error, kind fault.Kind) {
		t.Helper()
		if fault.KindOf(err) != kind {
			t.Errorf("%s: %v, want %v", what, err, kind)
		}
	}
	setRole := func(c accounts.Caller, userID string, role rights.Role) error {
		_, err := w.teams.SetRole(t.Context(), c, userID, role)
		return err
	}
	invite := func(c accounts.Caller, email string, role rights.Role) error {
		_, err := w.teams.Invite(t.Context(), c, team.NewInvitation{Email: email, Role: role})
		return err
	}
	wants("an unknown role", setRole(ada, bob.Person.UserID, "root"), fault.Invalid)
	wants("no role", setRole(ada, bob.Person.UserID, ""), fault.Invalid)
	wants("an admin promoting himself to owner", setRole(bob, bob.Person.UserID, rights.RoleOwner), fault.Forbidden)
	wants("an admin demoting an owner", setRole(bob, ada.Person.UserID, rights.RoleViewer), fault.Forbidden)
	wants("an admin removing an owner", w.teams.Remove(t.Context(), bob, ada.Person.UserID), fault.Forbidden)
	wants("the last owner demoting herself", setRole(ada, ada.Person.UserID, rights.RoleAdmin), fault.Conflict)
	wants("an admin inviting an owner", invite(bob, "carol@example.com", rights.RoleOwner), fault.Forbidden)
	wants("an invitation with an unknown role", invite(ada, "carol@example.com", "root"), fault.Invalid)
	wants("inviting oneself", invite(ada, "ada@example.com", rights.RoleViewer), fault.Conflict)
	wants("inviting a member", invite(ada, "bob@example.com", rights.RoleViewer), fault.Conflict)
	for i := range team.MaxInvitations {
		if err := invite(ada, fmt.Sprintf("p%d@example.com", i), rights.RoleViewer); err != nil {
			t.Fatal(err)
		}
	}
	wants("inviting the same email twice", invite(ada, "p0@example.com", rights.RoleViewer), fault.Conflict)
	wants("the 51st open invitation", invite(ada, "p50@example.com", rights.RoleViewer), fault.Conflict)
}

// A disabled user cannot sign in with any method, and their sessions end.
func TestDisabledUserCannotSignIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.callerOf(t, w.setUp(t))
	w.addMember(t, ada, "bob@example.com", rights.RoleDeveloper)
	in, err := w.SignIn(t.Context(), signin.Credentials{Email: "bob@example.com", Password: bobsPassword})
	if err != nil {
		t.Fatal(err)
	}
	link, err := w.UserLink(t.Context(), "bob@example.com")
	if err != nil {
		t.Fatal(err)
	}
	_, invitation := w.secondTeam(t, ada, "bob@example.com")
	if _, err := w.teams.ChangeAsOperator(t.Context(), accounts.Caller{}, "bob@example.com",
		team.UserChange{Disabled: new(true)}); err != nil {
		t.Fatal(err)
	}
	out := func(what string, err error) {
		t.Helper()
		if kind := fault.KindOf(err); kind != fault.Unauthorized && kind != fault.NotFound {
			t.Errorf("%s of a disabled user: %v, want Unauthorized or NotFound", what, err)
		}
	}
	_, err = w.AuthenticateSession(t.Context(), in.Token.Reveal(), "")
	out("the cookie", err)
	_, err = w.SignIn(t.Context(), signin.Credentials{Email: "bob@example.com", Password: bobsPassword})
	out("the password", err)
	_, err = w.SignInByLink(t.Context(), tokenOf(t, link))
	out("a link", err)
	_, err = w.AcceptInvitation(t.Context(), signin.AcceptInput{Token: invitation, Password: bobsPassword})
	out("an invitation", err)
	if _, err := w.teams.ChangeAsOperator(t.Context(), accounts.Caller{}, "bob@example.com",
		team.UserChange{Disabled: new(false)}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.SignIn(t.Context(),
		signin.Credentials{Email: "bob@example.com", Password: bobsPassword}); err != nil {
		t.Errorf("bob's password after enabling him again: %v, want success", err)
	}
}

// secondTeam creates another team of the caller and invites a user to it.
func (w *world) secondTeam(t *testing.T, by accounts.Caller, email string) (id, token string) {
	t.Helper()
	accountID, err := w.CreateTeam(t.Context(), by, "Another")
	if err != nil {
		t.Fatal(err)
	}
	by.AccountID = accountID
	return w.inviteUser(t, by, email, rights.RoleViewer)
}

// A session ends after seven days without use, and after thirty days in total. A confirmation lasts ten
// minutes.
func TestSessionsExpire(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setUp(t)
	for what, test := range map[string]struct {
		change string
		in     bool
	}{
		"six days without use":   {`last_used_at = now() - interval '6 days 23 hours'`, true},
		"seven days without use": {`last_used_at = now() - interval '7 days 1 second'`, false},
		"its last hour":          {`expires_at = now() + interval '1 hour'`, true},
		"after its last day":     {`expires_at = now() - interval '1 second'`, false},
	} {
		in, err := w.SignIn(t.Context(), signin.Credentials{Email: "ada@example.com", Password: adasPassword})
		if err != nil {
			t.Fatal(err)
		}
		if life := in.Session.ExpiresAt.Sub(in.Session.CreatedAt).Round(time.Hour); life != 30*24*time.Hour {
			t.Errorf("a session lasts %s, want 30 days", life)
		}
		if _, err := w.db.SQL.ExecContext(t.Context(), `UPDATE sessions SET `+test.change+` WHERE id = $1`, in.Session.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := w.AuthenticateSession(t.Context(), in.Token.Reveal(), ""); (err == nil) != test.in || err != nil &&
			fault.KindOf(err) != fault.Unauthorized {
			t.Errorf("a session, %s: %v; want it valid: %t", what, err, test.in)
		}
	}
	for minutes, want := range map[int]bool{9: true, 11: false} {
		in, err := w.SignIn(t.Context(), signin.Credentials{Email: "ada@example.com", Password: adasPassword})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.db.SQL.ExecContext(t.Context(),
			`UPDATE sessions SET confirmed_at = now() - $2 * interval '1 minute' WHERE id = $1`, in.Session.ID, minutes); err != nil {
			t.Fatal(err)
		}
		name := "bobs@example.com"
		_, err = w.ChangeUser(t.Context(), w.callerOf(t, in), signin.UserChange{Email: &name})
		if refused := fault.Classify(err).Code == fault.CodeConfirmationRequired; refused == want {
			t.Errorf("an email change %d minutes after the password: %v; want it accepted: %t", minutes, err, want)
		}
	}
}

// The user of the development link does not know the password, so their sessions never need a confirmation. Sessions
// of other links and of passwords do.
func TestDevelopmentLinkNeedsNoConfirmation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.callerOf(t, w.setUp(t))
	once, err := w.UserLink(t.Context(), "ada@example.com")
	if err != nil {
		t.Fatal(err)
	}
	byLink, err := w.SignInByLink(t.Context(), tokenOf(t, once))
	if err != nil {
		t.Fatal(err)
	}
	late := func(in signin.NewSession) error {
		t.Helper()
		if _, err := w.db.SQL.ExecContext(t.Context(),
			`UPDATE sessions SET confirmed_at = now() - interval '1 hour' WHERE id = $1`, in.Session.ID); err != nil {
			t.Fatal(err)
		}
		return w.callerOf(t, in).RequireConfirmation()
	}
	if err := late(byLink); fault.Classify(err).Code != fault.CodeConfirmationRequired {
		t.Errorf("an hour after a link from an operator: %v, want confirmation_required", err)
	}
	again, err := w.DevelopmentLink(t.Context(), ada.Person.UserID)
	if err != nil {
		t.Fatal(err)
	}
	developer, err := w.SignInByLink(t.Context(), tokenOf(t, again))
	if err != nil {
		t.Fatal(err)
	}
	if err := late(developer); err != nil {
		t.Errorf("an hour after the development link: %v, want no confirmation", err)
	}
	if err := late(w.signInAgain(t, "ada@example.com", adasPassword)); fault.Classify(err).Code != fault.CodeConfirmationRequired {
		t.Errorf("an hour after the password in development mode: %v, want confirmation_required", err)
	}
}

// A user can own five teams on the free plan, even if they create ten concurrently. Only operators can create
// teams while sign-up is not open.
func TestLimitsTeamsPerUser(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.callerOf(t, w.setUp(t))
	bob := w.addMember(t, ada, "bob@example.com", rights.RoleOwner)
	if _, err := w.CreateTeam(t.Context(), bob, "Bob's"); fault.KindOf(err) != fault.Forbidden {
		t.Errorf("bob, who is not an operator, creates a team: %v, want Forbidden", err)
	}
	if _, err := w.db.SQL.ExecContext(t.Context(), `UPDATE plans SET sandboxed = true`); err != nil { // like the free plan
		t.Fatal(err)
	}
	ended := runConcurrently(10, func(i int) error {
		_, err := w.CreateTeam(t.Context(), ada, fmt.Sprint("Team ", i))
		return err
	})
	if ended[succeeded] != 4 || ended[fault.Conflict] != 6 {
		t.Errorf("ten concurrent teams in addition to the first: %v, want 4 successes and 6 Conflict", ended)
	}
}
