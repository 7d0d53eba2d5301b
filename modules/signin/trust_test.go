package signin_test

import (
	"context"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/accounts/team"
	"github.com/postrider/postrider/modules/notices"
	"github.com/postrider/postrider/modules/signin"
	"github.com/postrider/postrider/runtime/base/fault"
)

// signInAgain returns another session of a user, such as a stolen one.
func (w *world) signInAgain(t *testing.T, email, password string) signin.NewSession {
	t.Helper()
	in, err := w.SignIn(t.Context(), signin.Credentials{Email: email, Password: password})
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// pendingChanges holds the tokens of all changes that a thief started as ada, and of the links in her
// mailbox.
type pendingChanges struct {
	session            signin.NewSession
	email, stop, reset string // tokens
	other, link        string
	secret             string // secret of an authenticator app
}

const thief = "thief@evil.example"

// startAllChanges starts every kind of change from a stolen session.
func (w *world) startAllChanges(t *testing.T) (p pendingChanges) {
	t.Helper()
	p.session = w.signInAgain(t, "ada@example.com", adasPassword)
	c := w.callerOf(t, p.session)
	to := thief
	if _, err := w.ChangeUser(t.Context(), c, signin.UserChange{Email: &to}); err != nil {
		t.Fatal(err)
	}
	if key, err := w.CreateSecondFactor(t.Context(), c); err == nil {
		p.secret = key.Secret
	}
	p.email, p.stop = w.lastMail(t, notices.Email, thief).
		Token.Reveal(), w.lastMail(t, notices.EmailAsked, "ada@example.com").Token.Reveal()
	for _, token := range []*string{&p.reset, &p.other} {
		if err := w.RequestPasswordReset(t.Context(), "ada@example.com"); err != nil {
			t.Fatal(err)
		}
		*token = w.lastMail(t, notices.Reset, "ada@example.com").Token.Reveal()
	}
	link, err := w.UserLink(t.Context(), "ada@example.com")
	if err != nil {
		t.Fatal(err)
	}
	p.link = tokenOf(t, link)
	return p
}

// wantAllEnded fails the test unless all pending changes have ended.
func (w *world) wantAllEnded(t *testing.T, what string, p pendingChanges) {
	t.Helper()
	refused := func(of string, err error, kinds ...fault.Kind) {
		t.Helper()
		for _, kind := range kinds {
			if err != nil && fault.KindOf(err) == kind {
				return
			}
		}
		t.Errorf("after %s, %s: %v, want it rejected", what, of, err)
	}
	_, err := w.AuthenticateSession(t.Context(), p.session.Token.Reveal(), "")
	refused("the stolen session", err, fault.Unauthorized)
	_, err = w.ConfirmEmail(t.Context(), signin.EmailConfirmation{Token: p.email, Password: adasPassword})
	refused("the new address", err, fault.NotFound)
	refused("the link that cancels it", w.StopEmailChange(t.Context(), p.stop), fault.NotFound)
	for _, token := range []string{p.reset, p.other} {
		_, err = w.ResetPassword(t.Context(), token, bobsPassword)
		refused("an earlier reset link", err, fault.NotFound)
	}
	_, err = w.SignInByLink(t.Context(), p.link)
	refused("an earlier operator link", err, fault.NotFound)
	if n := w.db.Ent.SecondFactor.Query().CountX(t.Context()); p.secret != "" && n != 0 {
		t.Errorf("after %s, %d pending authenticator apps remain, want 0", what, n)
	}
}

// Each change of credentials ends the earlier sessions, links and pending changes, so a thief cannot take
// over the account with an email change from a stolen session.
func TestCredentialChangeEndsPendingChanges(t *testing.T) {
	t.Parallel()
	for what, change := range map[string]func(t *testing.T, w *world, ada accounts.Caller,
		p pendingChanges) (staysOpen bool){
		"a reset": func(t *testing.T, w *world, _ accounts.Caller, _ pendingChanges) bool {
			t.Helper()
			if err := w.RequestPasswordReset(t.Context(), "ada@example.com"); err != nil {
				t.Fatal(err)
			}
			_, err := w.ResetPassword(t.Context(), w.lastMail(t, notices.Reset, "ada@example.com").Token.Reveal(),
				bobsPassword)
			if err != nil {
				t.Fatal(err)
			}
			return false
		},
		"a new password": func(t *testing.T, w *world, ada accounts.Caller, _ pendingChanges) bool {
			t.Helper()
			if _, err := w.ChangeUser(t.Context(), ada,
				signin.UserChange{Password: &signin.PasswordChange{Current: adasPassword,
					New: bobsPassword}}); err != nil {
				t.Fatal(err)
			}
			return true
		},
		"a second factor": func(t *testing.T, w *world, ada accounts.Caller, _ pendingChanges) bool {
			t.Helper()
			w.addFactor(t, ada)
			w.mustRemoveFactor(t, ada)
			return true
		},
		"a canceled email change": func(t *testing.T, w *world, _ accounts.Caller, p pendingChanges) bool {
			t.Helper()
			if err := w.StopEmailChange(t.Context(), p.stop); err != nil {
				t.Fatal(err)
			}
			return false
		},
		"disabling and enabling the user": func(t *testing.T, w *world, ada accounts.Caller, _ pendingChanges) bool {
			t.Helper()
			for _, disabled := range []bool{true, false} {
				if _, err := w.ChangeAsOperator(t.Context(), accounts.Caller{}, ada.Person.UserID,
					team.UserChange{Disabled: &disabled}); err != nil {
					t.Fatal(err)
				}
			}
			return false
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			own := w.setUp(t)
			ada := w.callerOf(t, own)
			p := w.startAllChanges(t)
			staysOpen := change(t, w, ada, p)
			w.wantAllEnded(t, what, p)
			if _, err := w.AuthenticateSession(t.Context(), own.Token.Reveal(), ""); (err == nil) != staysOpen {
				t.Errorf("after %s, the earlier session: %v; want it to stay open: %t", what, err, staysOpen)
			}
			if who, err := w.teams.User(t.Context(), ada.Person.UserID); err != nil || who.Email != "ada@example.com" {
				t.Errorf("after %s, ada's email is %v (%v), want it unchanged", what, who, err)
			}
		})
	}
}

func (w *world) addFactor(t *testing.T, c accounts.Caller) (secret string) {
	t.Helper()
	key, err := w.CreateSecondFactor(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.ActivateSecondFactor(t.Context(), c, codeNow(t, key.Secret)); err != nil {
		t.Fatal(err)
	}
	return key.Secret
}

func codeNow(t *testing.T, secret string) string {
	t.Helper()
	code, err := totp.GenerateCode(secret, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return code
}

func (w *world) mustRemoveFactor(t *testing.T, c accounts.Caller) {
	t.Helper()
	if err := w.RemoveSecondFactor(t.Context(), c); err != nil {
		t.Fatal(err)
	}
}

// An email change requires the link and either a session of the user or their password. It ends all earlier
// sessions, links and changes. The old address gets an email when the change is requested and when it is made.
func TestEmailChangeRequiresMoreThanLink(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	own := w.setUp(t)
	ada := w.callerOf(t, own)
	bob := w.addMember(t, ada, "bob@example.com", rights.RoleViewer)
	ask := func() string {
		t.Helper()
		to := "ada@new.example"
		if _, err := w.ChangeUser(t.Context(), ada, signin.UserChange{Email: &to}); err != nil {
			t.Fatal(err)
		}
		if m := w.lastMail(t, notices.EmailAsked, "ada@example.com"); m.Values["email"] != to ||
			m.Path != signin.PathStop {
			t.Errorf("the mail to the old address is %+v, want the new address and a link to cancel", m)
		}
		return w.lastMail(t, notices.Email, to).Token.Reveal()
	}
	first := ask()
	token := ask()
	confirm := func(token, password string, c *accounts.Caller) error {
		_, err := w.ConfirmEmail(t.Context(), signin.EmailConfirmation{Token: token, Password: password, Caller: c})
		return err
	}
	for what, c := range map[string]struct {
		err  error
		want fault.Kind
	}{
		"the link alone":                    {confirm(token, "", nil), fault.Invalid},
		"a wrong password":                  {confirm(token, "wrong", nil), fault.Unauthorized},
		"another user's session":            {confirm(token, "", &bob), fault.Invalid},
		"another user and a wrong password": {confirm(token, bobsPassword, &bob), fault.Unauthorized},
		"the link of an earlier request":    {confirm(first, adasPassword, nil), fault.NotFound},
	} {
		if fault.KindOf(c.err) != c.want {
			t.Errorf("%s: %v, want %v", what, c.err, c.want)
		}
	}
	other := w.signInAgain(t, "ada@example.com", adasPassword)
	if err := confirm(token, "", &ada); err != nil {
		t.Fatalf("the link in ada's session: %v, want success", err)
	}
	if _, err := w.AuthenticateSession(t.Context(), own.Token.Reveal(), ""); err != nil {
		t.Errorf("the confirming session: %v, want it to stay open", err)
	}
	if _, err := w.AuthenticateSession(t.Context(), other.Token.Reveal(), ""); fault.KindOf(err) != fault.Unauthorized {
		t.Errorf("another session: %v, want Unauthorized", err)
	}
	if m := w.lastMail(t, notices.EmailChanged, "ada@example.com"); m.Values["email"] != "ada@new.example" {
		t.Errorf("the mail to the old address is %+v, want the new address", m)
	}

	back := "ada@example.com"
	ada = w.callerOf(t, own)
	if _, err := w.ChangeUser(t.Context(), ada, signin.UserChange{Email: &back}); err != nil {
		t.Fatal(err)
	}
	token = w.lastMail(t, notices.Email, back).Token.Reveal()
	if err := confirm(token, adasPassword, nil); err != nil {
		t.Errorf("the link and the password without a session: %v, want success", err)
	}
	if _, err := w.AuthenticateSession(t.Context(), own.Token.Reveal(), ""); fault.KindOf(err) != fault.Unauthorized {
		t.Errorf("a session after a confirmation without a session: %v, want Unauthorized", err)
	}
}

// With a second factor, a password without a code cannot confirm a new email.
func TestEmailChangeRequiresSecondFactor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.callerOf(t, w.setUp(t))
	key := w.addFactor(t, ada)
	to := "ada@new.example"
	if _, err := w.ChangeUser(t.Context(), ada, signin.UserChange{Email: &to}); err != nil {
		t.Fatal(err)
	}
	token := w.lastMail(t, notices.Email, to).Token.Reveal()
	if _, err := w.ConfirmEmail(t.Context(),
		signin.EmailConfirmation{Token: token, Password: adasPassword}); fault.Classify(err).
		Code != fault.CodeSecondFactorRequired {
		t.Errorf("password without a code: %v, want second_factor_required", err)
	}
	code, err := totp.GenerateCode(key, time.Now().Add(30*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.ConfirmEmail(t.Context(), signin.EmailConfirmation{Token: token, Password: adasPassword,
		Code: code}); err != nil {
		t.Errorf("password and code: %v, want success", err)
	}
}

// Using a link ends the user's other links for the same purpose: reset links, operator links and set-up
// links.
func TestUsedLinkEndsOtherLinks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var setUps []string
	for range 3 {
		link, err := w.SetUpLink(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		setUps = append(setUps, tokenOf(t, link))
	}
	if _, err := w.SetUp(t.Context(), signin.SetUpInput{Token: setUps[1], Email: "ada@example.com",
		Password:    adasPassword,
		AccountName: "Acme"}); err != nil {
		t.Fatal(err)
	}
	if n := w.db.Ent.SignInLink.Query().CountX(t.Context()); n != 0 {
		t.Errorf("%d set-up links remain, want 0", n)
	}
	use := func(what string, ask func() string, use func(token string) error) {
		t.Helper()
		tokens := []string{ask(), ask(), ask()}
		counted := 0
		for _, token := range []string{tokens[1], tokens[0], tokens[2], tokens[1]} {
			if err := use(token); err == nil {
				counted++
			} else if fault.KindOf(err) != fault.NotFound {
				t.Errorf("%s: %v, want NotFound", what, err)
			}
		}
		if counted != 1 {
			t.Errorf("%s: %d of three links worked, want 1", what, counted)
		}
	}
	use("resets", func() string {
		if err := w.RequestPasswordReset(t.Context(), "ada@example.com"); err != nil {
			t.Fatal(err)
		}
		return w.lastMail(t, notices.Reset, "ada@example.com").Token.Reveal()
	}, func(token string) error {
		_, err := w.ResetPassword(t.Context(), token, bobsPassword)
		return err
	})
	use("operator links", func() string {
		link, err := w.UserLink(t.Context(), "ada@example.com")
		if err != nil {
			t.Fatal(err)
		}
		return tokenOf(t, link)
	}, func(token string) error {
		_, err := w.SignInByLink(t.Context(), token)
		return err
	})
}

// A sign-up link cannot change the password of a user who was created after the link was mailed.
func TestSignUpLinkCannotResetPassword(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *signin.Config) { c.SignUp = signin.SignUpPolicy{Open: true} })
	ada := w.callerOf(t, w.setUp(t))
	if err := w.RequestSignUp(t.Context(), "bob@example.com"); err != nil {
		t.Fatal(err)
	}
	token := w.lastMail(t, notices.SignUp, "bob@example.com").Token.Reveal()
	w.addMember(t, ada, "bob@example.com", rights.RoleViewer)
	if _, err := w.CompleteSignUp(t.Context(), signin.SignUpInput{Token: token, Password: adasPassword,
		AccountName: "Bob's"}); fault.KindOf(err) != fault.NotFound {
		t.Errorf("a sign-up link whose email has a user: %v, want NotFound", err)
	}
	if _, err := w.SignIn(t.Context(),
		signin.Credentials{Email: "bob@example.com", Password: bobsPassword}); err != nil {
		t.Errorf("bob's own password: %v, want success", err)
	}
}

// A user who was removed, or who lost the right to grant a role, cannot return with an invitation of their
// own.
func TestInvitationsEndWithInvitersRights(t *testing.T) {
	t.Parallel()
	for what, change := range map[string]func(ctx context.Context, w *world, ada, bob accounts.Caller) error{
		"bob is removed": func(ctx context.Context, w *world, ada, bob accounts.Caller) error {
			return w.teams.Remove(ctx, ada, bob.Person.UserID)
		},
		"bob becomes a developer": func(ctx context.Context, w *world, ada, bob accounts.Caller) error {
			_, err := w.teams.SetRole(ctx, ada, bob.Person.UserID, rights.RoleDeveloper)
			return err
		},
		"bob is disabled": func(ctx context.Context, w *world, _, bob accounts.Caller) error {
			_, err := w.ChangeAsOperator(ctx, accounts.Caller{}, bob.Person.UserID, team.UserChange{Disabled: new(true)})
			return err
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			ada := w.callerOf(t, w.setUp(t))
			bob := w.addMember(t, ada, "bob@example.com", rights.RoleAdmin)
			_, token := w.inviteUser(t, bob, "bob@second.example", rights.RoleAdmin)
			if err := change(t.Context(), w, ada, bob); err != nil {
				t.Fatal(err)
			}
			if _, err := w.AcceptInvitation(t.Context(),
				signin.AcceptInput{Token: token, Password: bobsPassword}); fault.KindOf(err) != fault.NotFound {
				t.Errorf("%s, and then his invitation: %v, want NotFound", what, err)
			}
		})
	}
}
