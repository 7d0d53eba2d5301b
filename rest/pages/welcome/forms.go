package welcome

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/postrider/postrider/modules/signin"
)

// field is an input of a form.
type field struct {
	Name, Label, Type, Autocomplete, Hint string
	Required                              bool

	Value, Wrong string
	Focus        bool
}

const fieldCode = "code"

// form is one page: its fields, and its action.
type form struct {
	path, title, about, button string
	token                      bool // requires the token of a link
	fields                     []field
	links                      []string
	do                         func(*pages, *http.Request) (done, error)
}

// done is the outcome of a form: a sign-in or a message.
type done struct {
	entered *signin.NewSession
	out     bool
	goTo    string
	title   string
	lines   []string
	links   []link
	cookie  *http.Cookie
}

// view is the data of the template.
type view struct {
	Title, About, Button, Action, Wrong, Email string
	Next                                       string // path of this installation to open after the sign-in
	Token                                      bool
	TokenValue                                 string
	Fields                                     []field
	Lines                                      []string
	Links                                      []link
	Options                                    signin.Options
	OpenID                                     string // the name of the OpenID Connect provider; empty without a provider
}

type link struct{ Path, Label string }

var labels = map[string]string{signin.PathSignIn: "Sign in", signin.PathSignUp: "Sign up",
	signin.PathReset: "Forgot your password?"}

// formLinks are links to other forms, which keep the path to return to.
func formLinks(next string, paths ...string) (list []link) {
	for _, path := range paths {
		list = append(list, link{withNext(path, next), labels[path]})
	}
	return list
}

func withNext(path, next string) string {
	if next == "/" {
		return path
	}
	return path + "?" + url.Values{signin.ReturnParameter: {next}}.Encode()
}

// nextPath returns the path to return to: from the form, or from the URL when it is first shown.
func nextPath(r *http.Request) string {
	if r.Method == http.MethodPost {
		return signin.ReturnPath(r.PostForm.Get(signin.ReturnParameter))
	}
	return signin.ReturnPath(r.URL.Query().Get(signin.ReturnParameter))
}

// toView returns the form with the typed values, except passwords.
func (f form) toView(r *http.Request) view {
	to := nextPath(r)
	v := view{Title: f.title, About: f.about, Button: f.button, Action: f.path, Next: to, Token: f.token,
		Fields: slices.Clone(f.fields), Links: formLinks(to, f.links...)}
	if r.Method != http.MethodPost {
		return v
	}
	v.TokenValue = r.PostForm.Get("token")
	for i := range v.Fields {
		if v.Fields[i].Type != "password" && v.Fields[i].Name != fieldCode {
			v.Fields[i].Value = r.PostForm.Get(v.Fields[i].Name)
		}
	}
	return v
}

var (
	emailField = field{Name: "email", Label: "Email", Type: "email", Autocomplete: "username", Required: true}
	// Browsers offer passkeys in this field.
	passkeyEmailField = field{Name: "email", Label: "Email", Type: "email", Autocomplete: "username webauthn", Required: true}

	oldPassword = field{Name: "password", Label: "Password", Type: "password", Autocomplete: "current-password"}
	newPassword = field{Name: "password", Label: "New password", Type: "password", Autocomplete: "new-password",
		Hint: "At least 12 characters", Required: true}
	nameField    = field{Name: "name", Label: "Your name", Type: "text", Autocomplete: "name"}
	accountField = field{Name: "account_name", Label: "Team name", Type: "text", Autocomplete: "organization",
		Required: true}
	codeField = field{Name: fieldCode, Label: "Code", Type: "text", Autocomplete: "one-time-code",
		Hint: "Only if you use an authenticator app"}
)

var forms = map[string]form{}

func init() { //nolint:gochecknoinits // the forms name each other's pages
	for _, f := range []form{
		{path: signin.PathSetUp, title: "Set up Postrider",
			about: "You become the operator of this installation and the owner of a team.", button: "Set up",
			token:  true,
			fields: []field{emailField, newPassword, nameField, accountField}, do: (*pages).setUp},
		{path: signin.PathSignIn, title: "Sign in", button: "Sign in",
			fields: []field{passkeyEmailField, oldPassword, codeField},
			links:  []string{signin.PathReset}, do: (*pages).signIn},
		{path: signin.PathSignUp, title: "Sign up", button: "Continue", fields: []field{emailField, nameField, accountField, newPassword},
			links: []string{signin.PathSignIn}, do: (*pages).signUp},
		{path: signin.PathReset, title: "Set a new password", button: "Continue", fields: []field{emailField, newPassword},
			links: []string{signin.PathSignIn}, do: (*pages).resetPassword},
		{path: signin.PathEmail, title: "Confirm your new address",
			about:  "You will sign in with this address. If you are not signed in, enter your password.",
			button: "Confirm", token: true,
			fields: []field{oldPassword, codeField}, do: (*pages).changeEmail},
		{path: signin.PathStop, title: "Cancel the address change",
			about: "Your address does not change, and you are signed out everywhere.", button: "Cancel the change",
			token: true, do: (*pages).stopEmail},
		{path: signin.PathInvite, title: "Join a team",
			about: "If you have signed in here before, enter your password. Otherwise, choose one.", button: "Join",
			token: true,
			fields: []field{nameField, {Name: "password", Label: "Password", Type: "password",
				Autocomplete: "new-password", Hint: "At least 12 characters"}}, do: (*pages).acceptInvitation},
	} {
		forms[f.path] = f
	}
}

func finishEntry(r *http.Request, e signin.NewSession, err error) (done, error) {
	if err != nil {
		return done{}, err
	}
	return done{entered: &e, goTo: nextPath(r)}, nil
}

func (p *pages) setUp(r *http.Request) (done, error) {
	g := r.PostForm.Get
	e, err := p.People.SetUp(r.Context(), signin.SetUpInput{Token: g("token"), Email: g("email"),
		Password: g("password"), Name: g("name"), AccountName: g("account_name")})
	return finishEntry(r, e, err)
}

func (p *pages) signIn(r *http.Request) (done, error) {
	g := r.PostForm.Get
	switch {
	case g("sign_out") != "":
		if caller, err := p.door.Authenticate(r); err == nil {
			if err := p.People.SignOut(r.Context(), caller); err != nil {
				return done{}, err
			}
		}
		return done{out: true, goTo: signin.PathSignIn}, nil
	case g("link_openid") != "":
		return p.linkOpenID(r)
	case g("token") != "":
		e, err := p.People.SignInByLink(r.Context(), g("token"))
		return finishEntry(r, e, err)
	}
	e, err := p.People.SignIn(r.Context(), signin.Credentials{Email: g("email"), Password: g("password"),
		Code: g(fieldCode)})
	return finishEntry(r, e, err)
}

func (p *pages) signUp(r *http.Request) (done, error) {
	g := r.PostForm.Get
	if token := g("token"); token != "" {
		e, err := p.People.CompleteSignUp(r.Context(),
			signin.SignUpInput{Token: token, Name: g("name"), Password: g("password"), AccountName: g("account_name")})
		return finishEntry(r, e, err)
	}
	return toldByMail(p.People.RequestSignUp(r.Context(), g("email")))
}

func (p *pages) resetPassword(r *http.Request) (done, error) {
	g := r.PostForm.Get
	if token := g("token"); token != "" {
		e, err := p.People.ResetPassword(r.Context(), token, g("password"))
		if err != nil || !e.Token.IsZero() {
			return finishEntry(r, e, err)
		}
		return done{entered: &e, title: "Password changed",
			lines: []string{"All your sessions have ended. Sign in with the new password and a code."}}, nil
	}
	return toldByMail(p.People.RequestPasswordReset(r.Context(), g("email")))
}

func toldByMail(err error) (done, error) {
	return done{title: "Check your email",
		lines: []string{"If the address can be used, we have sent it an email with a link."}}, err
}

func (p *pages) changeEmail(r *http.Request) (done, error) {
	g := r.PostForm.Get
	in := signin.EmailConfirmation{Token: g("token"), Password: g("password"), Code: g(fieldCode)}
	if caller, err := p.door.Authenticate(r); err == nil {
		in.Caller = &caller
	}
	who, err := p.People.ConfirmEmail(r.Context(), in)
	if err != nil {
		return done{}, err
	}
	return done{entered: &signin.NewSession{DeviceCookie: who.DeviceCookie}, title: "Address changed",
		lines: []string{"You now sign in as " + who.Email + "."}}, nil
}

func (p *pages) stopEmail(r *http.Request) (done, error) {
	if err := p.People.StopEmailChange(r.Context(), r.PostForm.Get("token")); err != nil {
		return done{}, err
	}
	return done{out: true, title: "Address change cancelled",
		lines: []string{"Your address has not changed. You are signed out everywhere.",
			"If you did not request the change, another person was signed in to your account. Set a new password now."},
		links: formLinks("/", signin.PathReset)}, nil
}

func (p *pages) acceptInvitation(r *http.Request) (done, error) {
	g := r.PostForm.Get
	in := signin.AcceptInput{Token: g("token"), Name: g("name"), Password: g("password")}
	if caller, err := p.door.Authenticate(r); err == nil {
		in.Caller = &caller
	}
	e, err := p.People.AcceptInvitation(r.Context(), in)
	return finishEntry(r, e, err)
}
