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

// Service is what the operations need of signin.
type Service interface {
	Options(ctx context.Context) (signin.Options, error)
	SetUp(ctx context.Context, in signin.SetUp) (signin.Entered, error)
	SignIn(ctx context.Context, in signin.Credentials) (signin.Entered, error)
	EnterByLink(ctx context.Context, token string) (signin.Entered, error)
	Session(ctx context.Context, c accounts.Caller) (signin.View, error)
	SignOut(ctx context.Context, c accounts.Caller) error
	Confirm(ctx context.Context, c accounts.Caller, in signin.Confirmation) (signin.Entered, error)
	SwitchAccount(ctx context.Context, c accounts.Caller, accountID string) (signin.View, error)
	Sessions(ctx context.Context, c accounts.Caller) ([]*ent.Session, error)
	EndSession(ctx context.Context, c accounts.Caller, sessionID string) error
	EndOthers(ctx context.Context, c accounts.Caller) error
	AskSignUp(ctx context.Context, email string) error
	CompleteSignUp(ctx context.Context, in signin.SignUpCompleted) (signin.Entered, error)
	Forgot(ctx context.Context, email string) error
	Reset(ctx context.Context, token, newPassword string) (signin.Entered, error)
	InvitationOf(ctx context.Context, token string) (signin.Invitation, error)
	Accept(ctx context.Context, in signin.Acceptance) (signin.Entered, error)
	ChangeUser(ctx context.Context, c accounts.Caller, change signin.UserChange) (signin.Profile, error)
	ConfirmEmail(ctx context.Context, in signin.EmailConfirmation) (signin.Profile, error)
	StopEmailChange(ctx context.Context, token string) error
	NewFactor(ctx context.Context, c accounts.Caller) (signin.Key, error)
	ActivateFactor(ctx context.Context, c accounts.Caller, code string) ([]string, error)
	RemoveFactor(ctx context.Context, c accounts.Caller) error
	SignInByPasskey(ctx context.Context, in passkeys.Answer) (signin.Entered, error)
	Passkeys() *passkeys.Service
	NewTeam(ctx context.Context, c accounts.Caller, name string) (string, error)
}

var _ Service = (*signin.Service)(nil)

const (
	tagSignIn = "Sign-in"
	tagUser   = "User"
)

var sessionNoun = api.Noun{Name: "session", About: "Id of the session.", Example: exampleSession,
	Is: func(word string) bool { return id.Is(id.Session, word) }}

type edge struct {
	people  Service
	outside OpenID
}

// Routes makes the routes by which people get in.
func Routes(service Service, outside OpenID) api.Routes {
	return api.NewRoutes("sign-in", func(a *api.API) {
		e := &edge{service, outside}
		g := a.Tag(tagSignIn, "For people, in a browser: the answer to a sign-in sets the cookie of a session, which then authenticates every operation. Programs use API keys.")
		e.enter(g)
		e.byPasskeys(g)
		e.openID(g)
		e.links(g)
		e.sessions(g)
	})
}

// UserRoutes makes the routes of what people change about themselves.
func UserRoutes(service Service, outside OpenID) api.Routes {
	return api.NewRoutes("user", func(a *api.API) {
		e := &edge{service, outside}
		g := a.Tag(tagUser, "What people change about themselves. Passwords, factors and addresses want a session that was confirmed within ten minutes: 403 `confirmation_required`.")
		e.user(g)
		e.passkeys(g)
		e.linkOpenID(g)
	})
}

func (e *edge) enter(g *api.Group) {
	api.Handle(g, api.Operation{
		Method: http.MethodGet, Path: "/sign-in", ID: "getSignIn", Public: true,
		Summary: "See how one gets in here", Description: "`setup`: nobody can sign in yet, and the log of the service shows a link for the first person.",
		Example: map[string]any{"sign_in": map[string]any{"setup": false, "sign_up": "invite", "passwords": true, "passkeys": true, "oidc": map[string]any{"name": "Example"}}},
	}, e.options)
	api.HandleBody(g, api.Operation{
		Method: http.MethodPost, Path: "/setup", ID: "setUp", Public: true, Problems: []int{http.StatusNotFound},
		Summary: "Set the installation up", Description: "The first person becomes its operator, and owner of an account. Once somebody can sign in this is 404.",
		Body:    &api.Body{About: "The token of the link, and who it is.", Examples: map[string]any{"ada": map[string]any{"token": exampleToken, "email": "ada@example.com", "password": examplePassword, "name": "Ada", "account_name": "Acme"}}},
		Example: enteredExample(),
	}, setUpBody, e.setUp)
	api.HandleBody(g, api.Operation{
		Method: http.MethodPost, Path: "/session", ID: "signIn", Public: true, Problems: []int{http.StatusForbidden},
		Summary: "Sign in",
		Description: "A wrong email, password or code is 401 alike. Where a second factor is set up, without `code`: 403 `second_factor_required`. After five failures " +
			"for one email from one network in 15 minutes: 429. A browser that has signed in before has a count of its own, and nobody waits for longer than 15 minutes.",
		Body:    &api.Body{About: "Email and password; the code of the authenticator app, or a recovery code, where one is set up.", Examples: map[string]any{"ada": map[string]any{"email": "ada@example.com", "password": examplePassword}}},
		Example: enteredExample(),
	}, signInBody, e.signIn)
	api.HandleBody(g, api.Operation{
		Method: http.MethodPost, Path: "/session/link", ID: "signInByLink", Public: true, Problems: []int{http.StatusNotFound},
		Summary: "Sign in by a link of the operator's", Description: "The link of `postrider user link`, or of development mode.",
		Body: tokenExample(), Example: enteredExample(),
	}, tokenBody("SignInByLink"), e.byLink)
}

func (e *edge) links(g *api.Group) {
	api.HandleBody(g, api.Operation{
		Method: http.MethodPost, Path: "/sign-up", ID: "signUp", Public: true, Problems: []int{http.StatusNotFound},
		Summary: "Ask to sign up", Description: "A mail brings a link that works once, for 24 hours. 404 unless sign-up is open here. The answer is the same whether the address is known or not.",
		Body: emailExample(), Example: map[string]any{"ok": true},
	}, emailBody("SignUp"), e.askSignUp)
	api.HandleBody(g, api.Operation{
		Method: http.MethodPost, Path: "/sign-up/complete", ID: "completeSignUp", Public: true, Problems: []int{http.StatusNotFound},
		Summary: "Finish signing up", Description: "Makes the person, and an account that they own.",
		Body:    &api.Body{About: "The token of the link, and who it is.", Examples: map[string]any{"ada": map[string]any{"token": exampleToken, "password": examplePassword, "name": "Ada", "account_name": "Acme"}}},
		Example: enteredExample(),
	}, signUpBody, e.completeSignUp)
	api.HandleBody(g, api.Operation{
		Method: http.MethodPost, Path: "/password/forgot", ID: "forgotPassword", Public: true,
		Summary: "Ask for a new password", Description: "A mail brings a link that works once, for one hour. The answer is the same whether the address is known or not. A mailbox that has had five such mails in a day gets the next one once the " +
			"link of the last one has ended; a browser that has signed in before always gets one.",
		Body: emailExample(), Example: map[string]any{"ok": true},
	}, emailBody("ForgotPassword"), e.forgot)
	api.HandleBody(g, api.Operation{
		Method: http.MethodPost, Path: "/password/reset", ID: "resetPassword", Public: true, Problems: []int{http.StatusNotFound},
		Summary: "Set a new password", Description: "Ends all sessions and all other links of the person, forgets wrong attempts to sign in, and sets the cookie of a new session. A person with a second factor " +
			"is not signed in: signing in still needs it.",
		Body:    &api.Body{About: "The token of the link, and the new password.", Examples: map[string]any{"reset": map[string]any{"token": exampleToken, "password": examplePassword}}},
		Example: map[string]any{"ok": true, "signed_in": true},
	}, resetBody, e.reset)
	api.HandleBody(g, api.Operation{
		Method: http.MethodPost, Path: "/invitations/open", ID: "openInvitation", Public: true, Problems: []int{http.StatusNotFound},
		Summary: "See what an invitation says", Description: "Without using it up. `known`: a person with a password has the address, and gives that one.",
		Body: tokenExample(), Example: map[string]any{"invitation": map[string]any{"email": "bob@example.com", "account_name": "Acme", "role": "developer", "known": false}},
	}, tokenBody("OpenInvitation"), e.invitation)
	api.HandleBody(g, api.Operation{
		Method: http.MethodPost, Path: "/invitations/accept", ID: "acceptInvitation", Public: true, Problems: []int{http.StatusNotFound, http.StatusForbidden},
		Summary: "Accept an invitation",
		Description: "Works also while sign-up is closed to others. Who is signed in gives the token alone, and must have the address that was invited: else 403. Who has a password " +
			"already gives that one; others choose one.",
		Body:    &api.Body{About: "The token of the link, and who it is.", Examples: map[string]any{"bob": map[string]any{"token": exampleToken, "password": examplePassword, "name": "Bob"}}},
		Example: enteredExample(),
	}, acceptBody, e.accept)
	api.HandleBody(g, api.Operation{
		Method: http.MethodPost, Path: "/user/email", ID: "confirmEmail", Public: true, Problems: []int{http.StatusForbidden, http.StatusNotFound, http.StatusConflict},
		Summary: "Confirm a new address", Description: "Takes the link that was mailed there, and a session of the person or their password. All other sessions and links of the person end.",
		Body:    &api.Body{About: "The token of the link; without a session, the password too.", Examples: map[string]any{"session": map[string]any{"token": exampleToken}, "password": map[string]any{"token": exampleToken, "password": examplePassword}}},
		Example: map[string]any{"user": userExample()},
	}, confirmEmailBody, e.confirmEmail)
	api.HandleBody(g, api.Operation{
		Method: http.MethodPost, Path: "/user/email/stop", ID: "stopEmailChange", Public: true, Problems: []int{http.StatusNotFound},
		Summary: "Stop the change of an address", Description: "Takes the link that was mailed to the old address when the change was asked for. Ends all sessions and links of the person.",
		Body: tokenExample(), Example: map[string]any{"ok": true},
	}, tokenBody("StopEmailChange"), e.stopEmail)
}

func (e *edge) sessions(g *api.Group) {
	api.Handle(g, api.Operation{
		Method: http.MethodGet, Path: "/session", ID: "getSession", Needs: rights.Person,
		Summary: "See who is signed in", Description: "The session of the cookie, the person, and the accounts they belong to.", Example: enteredExample(),
	}, e.current)
	api.Handle(g, api.Operation{
		Method: http.MethodDelete, Path: "/session", ID: "signOut", Needs: rights.Person, Audited: true,
		Summary: "Sign out", Description: "The cookie lets nobody in after five seconds, on any server.", Example: map[string]any{"ok": true},
	}, e.signOut)
	api.HandleBody(g, api.Operation{
		Method: http.MethodPost, Path: "/session/confirm", ID: "confirmSession", Needs: rights.Person, Quiet: true,
		Summary: "Confirm that it is you", Description: "By password, code or passkey. For ten minutes the session may then change what is dangerous. The cookie is a new one. Strangers who guess at the email do not lock it: a session has a count of its own.",
		Body:    &api.Body{About: "One of the three.", Examples: map[string]any{"password": map[string]any{"password": examplePassword}}},
		Example: enteredExample(),
	}, confirmBody, e.confirm)
	api.HandleBody(g, api.Operation{
		Method: http.MethodPost, Path: "/session/account", ID: "switchAccount", Needs: rights.Person, Quiet: true, Problems: []int{http.StatusNotFound},
		Summary: "Go to another account", Description: "One that the person belongs to. Requests that carry the header Postrider-Account are for that one whatever the session says.",
		Body:    &api.Body{About: "Which one.", Examples: map[string]any{"switch": map[string]any{"account_id": exampleAccount}}},
		Example: enteredExample(),
	}, switchBody, e.switchAccount)
	api.Handle(g, api.Operation{
		Method: http.MethodGet, Path: "/sessions", ID: "listSessions", Needs: rights.Person,
		Summary: "List one's sessions", Description: "Those that are open, the latest first; at most 200.", Example: map[string]any{"sessions": []any{sessionExample()}},
	}, e.list)
	api.Handle(g, api.Operation{
		Method: http.MethodDelete, Path: "/sessions", ID: "endOtherSessions", Needs: rights.Person, Audited: true,
		Summary: "End all other sessions", Description: "All but the one that asks.", Example: map[string]any{"ok": true},
	}, e.endOthers)
	api.Handle(g, api.Operation{
		Method: http.MethodDelete, Path: "/sessions/{id}", ID: "endSession", Needs: rights.Person, Audited: true, Of: sessionNoun, Problems: []int{http.StatusNotFound},
		Summary: "End a session", Description: "One of one's own.", Example: map[string]any{"ok": true},
	}, e.end)
	api.HandleBody(g, api.Operation{
		Method: http.MethodPost, Path: "/accounts", ID: "createAccount", Needs: rights.Person, Audited: true, Problems: []int{http.StatusForbidden, http.StatusConflict},
		Summary: "Make a further account", Description: "Its owner is the caller. Only where sign-up is open, or for operators; at most five on a free plan.",
		Body:    &api.Body{About: "How people call it.", Examples: map[string]any{"acme": map[string]any{"name": "Acme"}}},
		Example: map[string]any{"account": map[string]any{"id": exampleAccount, "name": "Acme", "role": "owner"}},
	}, teamBody, e.newTeam)
}

func (e *edge) user(g *api.Group) {
	api.HandleBody(g, api.Operation{
		Method: http.MethodPatch, Path: "/user", ID: "updateUser", Needs: rights.Person, Audited: true, Problems: []int{http.StatusForbidden},
		Summary: "Change oneself", Description: "A new email counts once the link that is mailed there was used; the old address gets a link that stops the change. A new password ends all other sessions, all links, and a change of " +
			"the email that was begun.",
		Body:    &api.Body{About: "What is to change.", Examples: map[string]any{"name": map[string]any{"name": "Ada L."}, "password": map[string]any{"password": map[string]any{"current": examplePassword, "new": examplePassword + "!"}}}},
		Example: map[string]any{"user": userExample()},
	}, userBody, e.changeUser)
	api.Handle(g, api.Operation{
		Method: http.MethodPost, Path: "/user/totp", ID: "createTOTP", Needs: rights.Person, Confirmed: true, Quiet: true, Problems: []int{http.StatusConflict},
		Summary: "Begin to set up an authenticator app", Description: "Show `uri` as a QR code. It counts once a first code was given.",
		Example: map[string]any{"secret": "JBSWY3DPEHPK3PXP", "uri": "otpauth://totp/Postrider:ada@example.com?secret=JBSWY3DPEHPK3PXP&issuer=Postrider"},
	}, e.newFactor)
	api.HandleBody(g, api.Operation{
		Method: http.MethodPost, Path: "/user/totp/activate", ID: "activateTOTP", Needs: rights.Person, Confirmed: true, Audited: true, Problems: []int{http.StatusNotFound},
		Summary: "Set up an authenticator app", Description: "The recovery codes are shown this once. Each works once, in place of a code. All other sessions and links of the person end.",
		Body:    &api.Body{About: "The code that the app shows.", Examples: map[string]any{"code": map[string]any{"code": "123456"}}},
		Example: map[string]any{"recovery_codes": []any{"a1b2c3-d4e5f6"}},
	}, codeBody, e.activateFactor)
	api.Handle(g, api.Operation{
		Method: http.MethodDelete, Path: "/user/totp", ID: "deleteTOTP", Needs: rights.Person, Confirmed: true, Audited: true,
		Summary: "Remove the authenticator app", Description: "And its recovery codes. All other sessions and links of the person end.", Example: map[string]any{"ok": true},
	}, e.removeFactor)
}
