package session

import (
	"context"
	"net/http"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/signin"
	"github.com/postrider/postrider/modules/signin/passkeys"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/runtime/base/id"
)

// Service is the part of signin that the operations use.
type Service interface {
	Options(ctx context.Context) (signin.Options, error)
	SetUp(ctx context.Context, in signin.SetUpInput) (signin.NewSession, error)
	SignIn(ctx context.Context, in signin.Credentials) (signin.NewSession, error)
	SignInByLink(ctx context.Context, token string) (signin.NewSession, error)
	Session(ctx context.Context, c accounts.Caller) (signin.View, error)
	SignOut(ctx context.Context, c accounts.Caller) error
	Confirm(ctx context.Context, c accounts.Caller, in signin.Confirmation) (signin.NewSession, error)
	SwitchAccount(ctx context.Context, c accounts.Caller, accountID string) (signin.View, error)
	Sessions(ctx context.Context, c accounts.Caller) ([]*ent.Session, error)
	EndSession(ctx context.Context, c accounts.Caller, sessionID string) error
	EndOtherSessions(ctx context.Context, c accounts.Caller) error
	RequestSignUp(ctx context.Context, email string) error
	CompleteSignUp(ctx context.Context, in signin.SignUpInput) (signin.NewSession, error)
	RequestPasswordReset(ctx context.Context, email string) error
	ResetPassword(ctx context.Context, token, newPassword string) (signin.NewSession, error)
	Invitation(ctx context.Context, token string) (signin.Invitation, error)
	AcceptInvitation(ctx context.Context, in signin.AcceptInput) (signin.NewSession, error)
	ChangeUser(ctx context.Context, c accounts.Caller, change signin.UserChange) (signin.Profile, error)
	ConfirmEmail(ctx context.Context, in signin.EmailConfirmation) (signin.Profile, error)
	StopEmailChange(ctx context.Context, token string) error
	CreateSecondFactor(ctx context.Context, c accounts.Caller) (signin.TOTPKey, error)
	ActivateSecondFactor(ctx context.Context, c accounts.Caller, code string) ([]string, error)
	RemoveSecondFactor(ctx context.Context, c accounts.Caller) error
	SignInByPasskey(ctx context.Context, in passkeys.CeremonyResult) (signin.NewSession, error)
	Passkeys() *passkeys.Service
	CreateTeam(ctx context.Context, c accounts.Caller, name string) (string, error)
}

var _ Service = (*signin.Service)(nil)

const (
	tagSignIn = "Sign-in"
	tagUser   = "User"
)

var sessionNoun = api.Noun{Name: "session", About: "ID of the session.", Example: exampleSession,
	Is: func(word string) bool { return id.Is(id.Session, word) }}

type edge struct {
	people  Service
	outside OpenID
}

// Routes returns the routes for signing in.
func Routes(service Service, outside OpenID) api.Routes {
	return api.NewRoutes("sign-in", func(a *api.API) {
		e := &edge{service, outside}
		g := a.Tag(tagSignIn, "Sign-in for users in a browser. The response sets a session cookie, which "+
			"authenticates every operation. Programs use API keys.")
		e.addSignIn(g)
		e.byPasskeys(g)
		e.openID(g)
		e.addLinks(g)
		e.addSessions(g)
	})
}

// UserRoutes returns the routes of the settings of users.
func UserRoutes(service Service, outside OpenID) api.Routes {
	return api.NewRoutes("user", func(a *api.API) {
		e := &edge{service, outside}
		g := a.Tag(tagUser, "Settings of the signed-in user. Changing passwords, factors and addresses requires a "+
			"session that was confirmed within ten minutes: 403 `confirmation_required`.")
		e.addUser(g)
		e.addPasskeys(g)
		e.linkOpenID(g)
	})
}

func (e *edge) addSignIn(g *api.TagGroup) {
	api.Handle(g, api.Operation{
		Method: http.MethodGet, Path: "/sign-in", ID: "getSignIn", Public: true,
		Summary: "Retrieve the sign-in options", Description: "Returns how users can sign in. With `setup`, no user " +
			"can sign in yet, and the log of the service contains a setup link.",
		Example: map[string]any{"sign_in": map[string]any{"setup": false, "sign_up": "invite", "passwords": true,
			"passkeys": true, "oidc": map[string]any{"name": "Example"}}},
	}, e.listOptions)
	api.HandleBody(g, api.Operation{
		Method: http.MethodPost, Path: "/setup", ID: "setUp", Public: true, Problems: []int{http.StatusNotFound},
		Summary: "Set up the installation", Description: "Creates the first user, who becomes the operator and " +
			"owner of an account. Returns 404 once a user can sign in.",
		Body: &api.Body{About: "The token from the link, and the user.",
			Examples: map[string]any{"ada": map[string]any{"token": exampleToken, "email": "ada@example.com",
				"password": examplePassword, "name": "Ada", "account_name": "Acme"}}},
		Example: enteredExample(),
	}, setUpBody, e.setUp)
	api.HandleBody(g, api.Operation{
		Method: http.MethodPost, Path: "/session", ID: "signIn", Public: true, Problems: []int{http.StatusForbidden},
		Summary: "Sign in",
		Description: "Signs in a user. A wrong email, password or code returns the same 401. If the user has a " +
			"second factor and `code` is missing, the response is 403 `second_factor_required`. After five " +
			"failures for one email from one network within 15 minutes, the response is 429. Failures in a browser " +
			"that has signed in before count separately, and the wait is at most 15 " +
			"minutes.",
		Body:    &api.Body{About: "Email and password, and an authenticator or recovery code if a second factor is set up.", Examples: map[string]any{"ada": map[string]any{"email": "ada@example.com", "password": examplePassword}}},
		Example: enteredExample(),
	}, signInBody, e.signIn)
	api.HandleBody(g, api.Operation{
		Method: http.MethodPost, Path: "/session/link", ID: "signInByLink", Public: true,
		Problems: []int{http.StatusNotFound},
		Summary:  "Sign in with an operator's link", Description: "Signs in with a link from `postrider admin user " +
			"link` or development mode.",
		Body: tokenExample(), Example: enteredExample(),
	}, tokenBody("SignInByLink"), e.byLink)
}

func (e *edge) addLinks(g *api.TagGroup) {
	api.HandleBody(g, api.Operation{
		Method: http.MethodPost, Path: "/sign-up", ID: "signUp", Public: true, Problems: []int{http.StatusNotFound},
		Summary: "Request a sign-up link",
		Description: "Sends a link that works once within 24 hours. Returns 404 unless " +
			"sign-up is open. The response does not depend on whether the address is known.",
		Body: emailExample(), Example: map[string]any{"ok": true},
	}, emailBody("SignUp"), e.askSignUp)
	api.HandleBody(g, api.Operation{
		Method: http.MethodPost, Path: "/sign-up/complete", ID: "completeSignUp", Public: true,
		Problems: []int{http.StatusNotFound},
		Summary:  "Complete the sign-up", Description: "Creates the user and an account that they own.",
		Body: &api.Body{About: "The token from the link, and the user.",
			Examples: map[string]any{"ada": map[string]any{"token": exampleToken, "password": examplePassword,
				"name": "Ada", "account_name": "Acme"}}},
		Example: enteredExample(),
	}, signUpBody, e.completeSignUp)
	api.HandleBody(g, api.Operation{
		Method: http.MethodPost, Path: "/password/forgot", ID: "forgotPassword", Public: true,
		Summary: "Request a password reset",
		Description: "Sends a link that works once within one hour. The response " +
			"does not depend on whether the address is known. After five such messages in a day, a mailbox gets the " +
			"next one when the last link has expired; a browser that has signed in before always gets one.",
		Body: emailExample(), Example: map[string]any{"ok": true},
	}, emailBody("ForgotPassword"), e.forgotPassword)
	api.HandleBody(g, api.Operation{
		Method: http.MethodPost, Path: "/password/reset", ID: "resetPassword", Public: true,
		Problems: []int{http.StatusNotFound},
		Summary:  "Reset the password", Description: "Sets a new password, ends all sessions and other links of the " +
			"user, and clears failed sign-in attempts. Also sets a new session cookie, unless the user has a second " +
			"factor and must sign in with it.",
		Body: &api.Body{About: "The token from the link, and the new password.",
			Examples: map[string]any{"reset": map[string]any{"token": exampleToken, "password": examplePassword}}},
		Example: map[string]any{"ok": true, "signed_in": true},
	}, resetBody, e.resetPassword)
	api.HandleBody(g, api.Operation{
		Method: http.MethodPost, Path: "/invitations/open", ID: "openInvitation", Public: true,
		Problems: []int{http.StatusNotFound},
		Summary:  "Retrieve an invitation", Description: "Returns an invitation without using it. `known` means " +
			"that the address belongs to a user with a password, who must enter it.",
		Body: tokenExample(), Example: map[string]any{"invitation": map[string]any{"email": "bob@example.com",
			"account_name": "Acme", "role": "developer", "known": false}},
	}, tokenBody("OpenInvitation"), e.getInvitation)
	api.HandleBody(g, api.Operation{
		Method: http.MethodPost, Path: "/invitations/accept", ID: "acceptInvitation", Public: true,
		Problems: []int{http.StatusNotFound, http.StatusForbidden},
		Summary:  "Accept an invitation",
		Description: "Accepts an invitation, even if sign-up is closed. A signed-in user sends only the token and " +
			"must have the invited address: otherwise 403. An existing user enters their password; a new user " +
			"chooses one.",
		Body: &api.Body{About: "The token from the link, and the user.",
			Examples: map[string]any{"bob": map[string]any{"token": exampleToken, "password": examplePassword,
				"name": "Bob"}}},
		Example: enteredExample(),
	}, acceptBody, e.acceptInvitation)
	api.HandleBody(g, api.Operation{
		Method: http.MethodPost, Path: "/user/email", ID: "confirmEmail", Public: true,
		Problems: []int{http.StatusForbidden, http.StatusNotFound, http.StatusConflict},
		Summary:  "Confirm a new address", Description: "Confirms an address with the link sent to it, and a session " +
			"or the password of the user. This ends all other sessions and invalidates all other links of the user.",
		Body: &api.Body{About: "The token from the link; without a session, also the password.",
			Examples: map[string]any{"session": map[string]any{"token": exampleToken},
				"password": map[string]any{"token": exampleToken, "password": examplePassword}}},
		Example: map[string]any{"user": userExample()},
	}, confirmEmailBody, e.confirmEmail)
	api.HandleBody(g, api.Operation{
		Method: http.MethodPost, Path: "/user/email/stop", ID: "stopEmailChange", Public: true,
		Problems: []int{http.StatusNotFound},
		Summary:  "Cancel an address change", Description: "Cancels an address change with the link sent to the " +
			"old address. Ends all sessions of the user and invalidates all their links.",
		Body: tokenExample(), Example: map[string]any{"ok": true},
	}, tokenBody("StopEmailChange"), e.stopEmail)
}

func (e *edge) addSessions(g *api.TagGroup) {
	api.Handle(g, api.Operation{
		Method: http.MethodGet, Path: "/session", ID: "getSession", Needs: rights.Person,
		Summary: "Retrieve the session", Description: "Returns the current session, its user and their accounts.",
		Example: enteredExample(),
	}, e.getSession)
	api.Handle(g, api.Operation{
		Method: http.MethodDelete, Path: "/session", ID: "signOut", Needs: rights.Person, Audited: true,
		Summary: "Sign out", Description: "Ends the session. Its cookie stops working within 5 seconds.",
		Example: map[string]any{"ok": true},
	}, e.signOut)
	api.HandleBody(g, api.Operation{
		Method: http.MethodPost, Path: "/session/confirm", ID: "confirmSession", Needs: rights.Person, Quiet: true,
		Summary: "Confirm the session", Description: "Confirms the session with a password, code or passkey, which " +
			"permits sensitive changes for ten minutes. Sets a new cookie. Failures are counted per session, so " +
			"failed sign-ins elsewhere do not lock it.",
		Body: &api.Body{About: "The password, the code or the passkey.",
			Examples: map[string]any{"password": map[string]any{"password": examplePassword}}},
		Example: enteredExample(),
	}, confirmBody, e.confirmSession)
	api.HandleBody(g, api.Operation{
		Method: http.MethodPost, Path: "/session/account", ID: "switchAccount", Needs: rights.Person, Quiet: true,
		Problems: []int{http.StatusNotFound},
		Summary:  "Switch accounts", Description: "Switches the session to an account that the user belongs " +
			"to. The header Postrider-Account selects an account for a single request.",
		Body: &api.Body{About: "The account.",
			Examples: map[string]any{"switch": map[string]any{"account_id": exampleAccount}}},
		Example: enteredExample(),
	}, switchBody, e.switchAccount)
	api.Handle(g, api.Operation{
		Method: http.MethodGet, Path: "/sessions", ID: "listSessions", Needs: rights.Person,
		Summary: "List your sessions", Description: "Lists your open sessions, newest first; at most 200.",
		Example: map[string]any{"sessions": []any{sessionExample()}},
	}, e.listSessions)
	api.Handle(g, api.Operation{
		Method: http.MethodDelete, Path: "/sessions", ID: "endOtherSessions", Needs: rights.Person, Audited: true,
		Summary: "End all other sessions", Description: "Ends all sessions except the current one.",
		Example: map[string]any{"ok": true},
	}, e.endOthers)
	api.Handle(g, api.Operation{
		Method: http.MethodDelete, Path: "/sessions/{id}", ID: "endSession", Needs: rights.Person, Audited: true,
		Of: sessionNoun, Problems: []int{http.StatusNotFound},
		Summary: "End a session", Description: "Ends one of your sessions.", Example: map[string]any{"ok": true},
	}, e.endSession)
	api.HandleBody(g, api.Operation{
		Method: http.MethodPost, Path: "/accounts", ID: "createAccount", Needs: rights.Person, Audited: true,
		Problems: []int{http.StatusForbidden, http.StatusConflict},
		Summary:  "Create another account", Description: "Creates an account owned by the caller. Requires open " +
			"sign-up or an operator. A user can have up to five accounts on free plans.",
		Body: &api.Body{About: "The name of the account.",
			Examples: map[string]any{"acme": map[string]any{"name": "Acme"}}},
		Example: map[string]any{"account": map[string]any{"id": exampleAccount, "name": "Acme", "role": "owner"}},
	}, teamBody, e.newTeam)
}

func (e *edge) addUser(g *api.TagGroup) {
	api.HandleBody(g, api.Operation{
		Method: http.MethodPatch, Path: "/user", ID: "updateUser", Needs: rights.Person, Audited: true,
		Problems: []int{http.StatusForbidden},
		Summary:  "Update your user",
		Description: "Updates the signed-in user. A new email takes effect once its link " +
			"is used; the old address gets a link that cancels the change. A new password ends all other sessions, " +
			"all links, and a pending change of email.",
		Body: &api.Body{About: "The fields to change.",
			Examples: map[string]any{"name": map[string]any{"name": "Ada L."},
				"alerts":   map[string]any{"alerts": map[string]any{"usage": false}},
				"password": map[string]any{"password": map[string]any{"current": examplePassword, "new": examplePassword + "!"}}}},
		Example: map[string]any{"user": userExample()},
	}, userBody, e.changeUser)
	api.Handle(g, api.Operation{
		Method: http.MethodPost, Path: "/user/totp", ID: "createTOTP", Needs: rights.Person, Confirmed: true,
		Quiet: true, Problems: []int{http.StatusConflict},
		Summary: "Start authenticator app setup", Description: "Returns a secret to show as a QR code from " +
			"`uri`. It takes effect after the first code is confirmed.",
		Example: map[string]any{"secret": "JBSWY3DPEHPK3PXP",
			"uri": "otpauth://totp/Postrider:ada@example.com?secret=JBSWY3DPEHPK3PXP&issuer=Postrider"},
	}, e.newFactor)
	api.HandleBody(g, api.Operation{
		Method: http.MethodPost, Path: "/user/totp/activate", ID: "activateTOTP", Needs: rights.Person, Confirmed: true,
		Audited: true, Problems: []int{http.StatusNotFound},
		Summary: "Set up an authenticator app", Description: "Activates the authenticator app and returns recovery " +
			"codes, which are shown only once. Each recovery code can replace a code from the app once. This " +
			"ends all other sessions and invalidates all other links of the user.",
		Body: &api.Body{About: "The code that the app shows.",
			Examples: map[string]any{"code": map[string]any{"code": "123456"}}},
		Example: map[string]any{"recovery_codes": []any{"a1b2c3-d4e5f6"}},
	}, codeBody, e.activateFactor)
	api.Handle(g, api.Operation{
		Method: http.MethodDelete, Path: "/user/totp", ID: "deleteTOTP", Needs: rights.Person, Confirmed: true,
		Audited: true,
		Summary: "Remove the authenticator app", Description: "Removes the authenticator app and its recovery " +
			"codes. This ends all other sessions and invalidates all other links of the " +
			"user.", Example: map[string]any{"ok": true},
	}, e.removeFactor)
}
