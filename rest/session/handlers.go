package session

import (
	"context"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/signin"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/wire"
)

// admitPerson adds the session cookie of a signed-in user to the response.
func admitPerson(c *api.Call, e signin.NewSession, err error) (enteredAnswer, error) {
	if err != nil {
		return enteredAnswer{}, err
	}
	c.SetCookie(e.Token.Reveal())
	c.SetDevice(e.DeviceCookie)
	return newEnteredAnswer(e.View), nil
}

func (e *edge) listOptions(ctx context.Context, _ *api.Call, _ *api.None) (signInAnswer, error) {
	o, err := e.people.Options(ctx)
	return signInAnswer{signInRecord{SetUp: o.SetUp, SignUp: o.SignUp, Passwords: o.Passwords, Passkeys: o.Passkeys,
		OIDC: wire.FromPointer(newProviderRecord(e.outside.Name()))}}, err
}

func (e *edge) setUp(ctx context.Context, c *api.Call, _ *api.None, in signin.SetUpInput) (enteredAnswer, error) {
	entered, err := e.people.SetUp(ctx, in)
	return admitPerson(c, entered, err)
}

func (e *edge) signIn(ctx context.Context, c *api.Call, _ *api.None, in signin.Credentials) (enteredAnswer, error) {
	entered, err := e.people.SignIn(ctx, in)
	return admitPerson(c, entered, err)
}

func (e *edge) byLink(ctx context.Context, c *api.Call, _ *api.None, token string) (enteredAnswer, error) {
	entered, err := e.people.SignInByLink(ctx, token)
	return admitPerson(c, entered, err)
}

func (e *edge) askSignUp(ctx context.Context, _ *api.Call, _ *api.None, email string) (api.OkAnswer, error) {
	return api.OkAnswer{OK: true}, e.people.RequestSignUp(ctx, email)
}

func (e *edge) completeSignUp(ctx context.Context, c *api.Call, _ *api.None,
	in signin.SignUpInput) (enteredAnswer, error) {
	entered, err := e.people.CompleteSignUp(ctx, in)
	return admitPerson(c, entered, err)
}

func (e *edge) forgotPassword(ctx context.Context, _ *api.Call, _ *api.None, email string) (api.OkAnswer, error) {
	return api.OkAnswer{OK: true}, e.people.RequestPasswordReset(ctx, email)
}

func (e *edge) resetPassword(ctx context.Context, c *api.Call, _ *api.None, in resetting) (resetAnswer, error) {
	entered, err := e.people.ResetPassword(ctx, in.token, in.password)
	if err != nil {
		return resetAnswer{}, err
	}
	c.SetDevice(entered.DeviceCookie)
	if entered.Token.IsZero() {
		return resetAnswer{OK: true}, nil
	}
	c.SetCookie(entered.Token.Reveal())
	return resetAnswer{OK: true, SignedIn: true}, nil
}

func (e *edge) getInvitation(ctx context.Context, _ *api.Call, _ *api.None, token string) (offerAnswer, error) {
	i, err := e.people.Invitation(ctx, token)
	return offerAnswer{offer{i.Email, i.AccountName, string(i.Role), i.Known}}, err
}

func (e *edge) acceptInvitation(ctx context.Context, c *api.Call, _ *api.None,
	in signin.AcceptInput) (enteredAnswer, error) {
	if c.Person != nil {
		in.Caller = &c.Caller
	}
	entered, err := e.people.AcceptInvitation(ctx, in)
	return admitPerson(c, entered, err)
}

func (e *edge) confirmEmail(ctx context.Context, c *api.Call, _ *api.None,
	in signin.EmailConfirmation) (userAnswer, error) {
	if c.Person != nil {
		in.Caller = &c.Caller
	}
	changed, err := e.people.ConfirmEmail(ctx, in)
	if changed.DeviceCookie != "" {
		c.SetDevice(changed.DeviceCookie)
	}
	return asUser(changed, err)
}

func (e *edge) stopEmail(ctx context.Context, _ *api.Call, _ *api.None, token string) (api.OkAnswer, error) {
	return api.OkAnswer{OK: true}, e.people.StopEmailChange(ctx, token)
}

func asUser(p signin.Profile, err error) (userAnswer, error) {
	if err != nil {
		return userAnswer{}, err
	}
	return userAnswer{newUserRecord(p)}, nil
}

func (e *edge) getSession(ctx context.Context, c *api.Call, _ *api.None) (enteredAnswer, error) {
	return api.As(newEnteredAnswer)(e.people.Session(ctx, c.Caller))
}

func (e *edge) signOut(ctx context.Context, c *api.Call, _ *api.None) (api.OkAnswer, error) {
	if err := e.people.SignOut(ctx, c.Caller); err != nil {
		return api.OkAnswer{}, err
	}
	c.SetCookie("")
	return api.OkAnswer{OK: true}, nil
}

func (e *edge) confirmSession(ctx context.Context, c *api.Call, _ *api.None, in confirming) (enteredAnswer, error) {
	entered, err := e.people.Confirm(ctx, c.Caller, in.toConfirmation())
	return admitPerson(c, entered, err)
}

func (e *edge) switchAccount(ctx context.Context, c *api.Call, _ *api.None, accountID string) (enteredAnswer, error) {
	return api.As(newEnteredAnswer)(e.people.SwitchAccount(ctx, c.Caller, accountID))
}

func (e *edge) listSessions(ctx context.Context, c *api.Call, _ *api.None) (sessionsAnswer, error) {
	list, err := e.people.Sessions(ctx, c.Caller)
	return sessionsAnswer{wire.ListOf(list,
		func(s *ent.Session) sessionRecord { return newSessionRecord(s, c.Person.SessionID) })}, err
}

func (e *edge) endOthers(ctx context.Context, c *api.Call, _ *api.None) (api.OkAnswer, error) {
	return api.OkAnswer{OK: true}, e.people.EndOtherSessions(ctx, c.Caller)
}

func (e *edge) endSession(ctx context.Context, c *api.Call, in *api.Item) (api.OkAnswer, error) {
	return api.OkAnswer{OK: true}, e.people.EndSession(ctx, c.Caller, in.ID)
}

func (e *edge) newTeam(ctx context.Context, c *api.Call, _ *api.None, name string) (madeAccountAnswer, error) {
	accountID, err := e.people.CreateTeam(ctx, c.Caller, name)
	return madeAccountAnswer{madeAccount{accountID, name, "owner"}}, err
}

func (e *edge) changeUser(ctx context.Context, c *api.Call, _ *api.None, in userChange) (userAnswer, error) {
	changed, err := e.people.ChangeUser(ctx, c.Caller, in.withAlerts())
	if changed.DeviceCookie != "" {
		c.SetDevice(changed.DeviceCookie)
	}
	return asUser(changed, err)
}

func (e *edge) newFactor(ctx context.Context, c *api.Call, _ *api.None) (factorAnswer, error) {
	key, err := e.people.CreateSecondFactor(ctx, c.Caller)
	return factorAnswer{key.Secret, key.URI}, err
}

func (e *edge) activateFactor(ctx context.Context, c *api.Call, _ *api.None, code string) (recoveryAnswer, error) {
	codes, err := e.people.ActivateSecondFactor(ctx, c.Caller, code)
	return recoveryAnswer{wire.List(codes)}, err
}

func (e *edge) removeFactor(ctx context.Context, c *api.Call, _ *api.None) (api.OkAnswer, error) {
	return api.OkAnswer{OK: true}, e.people.RemoveSecondFactor(ctx, c.Caller)
}
