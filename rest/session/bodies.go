package session

import (
	"github.com/postrider/postrider/modules/accounts/alerts"
	"github.com/postrider/postrider/modules/signin"
	"github.com/postrider/postrider/modules/signin/passwords"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/body"
)

func emailField(to *string) body.Type { return body.Text(to).Format("email") }

func newPassword(to *string) body.Type {
	return body.Text(to).Length(passwords.MinLength, passwords.MaxLength).Format("password")
}

func oldPassword(to *string) body.Type { return body.Text(to).Format("password") }

const (
	aboutToken   = "The token after the # of the link."
	aboutAccount = "Name of the account."
)

func setUpBody(in *signin.SetUpInput) body.Object {
	return body.Object{Name: "SetUp", Fields: []body.Field{
		{Name: "token", Type: body.Text(&in.Token), Need: body.Required, About: aboutToken},
		{Name: "email", Type: emailField(&in.Email), Need: body.RequiredByService,
			About: "Email address of the user, who becomes the owner of the account with this address, or of a new account."},
		{Name: "password", Type: newPassword(&in.Password), Need: body.RequiredByService, About: "12 to 256 characters."},
		{Name: "name", Type: body.Text(&in.Name).Length(0, maxName), About: "The name of the user."},
		{Name: "account_name", Type: body.Text(&in.AccountName).Length(1, maxName), Need: body.RequiredByService, About: aboutAccount},
	}}
}

const maxName = 200

func signInBody(in *signin.Credentials) body.Object {
	return body.Object{Name: "SignIn", Fields: []body.Field{
		{Name: "email", Type: emailField(&in.Email), Need: body.RequiredByService, About: "The email address of the user."},
		{Name: "password", Type: oldPassword(&in.Password), Need: body.Required, About: "The user's password."},
		{Name: "code", Type: body.Text(&in.Code), About: "A code from the authenticator app, or a recovery code."},
	}}
}

func tokenExample() *api.Body {
	return &api.Body{About: "The token from the link.",
		Examples: map[string]any{"token": map[string]any{"token": exampleToken}}}
}

func tokenBody(name string) func(*string) body.Object {
	return func(to *string) body.Object {
		return body.Object{Name: name,
			Fields: []body.Field{{Name: "token", Type: body.Text(to), Need: body.Required, About: aboutToken}}}
	}
}

func emailExample() *api.Body {
	return &api.Body{About: "The address.", Examples: map[string]any{"ada": map[string]any{"email": "ada@example.com"}}}
}

func emailBody(name string) func(*string) body.Object {
	return func(to *string) body.Object {
		return body.Object{Name: name,
			Fields: []body.Field{{Name: "email", Type: emailField(to), Need: body.RequiredByService,
				About: "Address that the invitation is sent to."}}}
	}
}

func signUpBody(in *signin.SignUpInput) body.Object {
	return body.Object{Name: "CompleteSignUp", Fields: []body.Field{
		{Name: "token", Type: body.Text(&in.Token), Need: body.Required, About: aboutToken},
		{Name: "password", Type: newPassword(&in.Password), Need: body.RequiredByService, About: "12 to 256 characters."},
		{Name: "name", Type: body.Text(&in.Name).Length(0, maxName), About: "The name of the user."},
		{Name: "account_name", Type: body.Text(&in.AccountName).Length(1, maxName), Need: body.RequiredByService, About: aboutAccount},
	}}
}

type resetting struct{ token, password string }

func resetBody(in *resetting) body.Object {
	return body.Object{Name: "ResetPassword", Fields: []body.Field{
		{Name: "token", Type: body.Text(&in.token), Need: body.Required, About: aboutToken},
		{Name: "password", Type: newPassword(&in.password), Need: body.RequiredByService, About: "12 to 256 characters."},
	}}
}

func confirmEmailBody(in *signin.EmailConfirmation) body.Object {
	return body.Object{Name: "ConfirmEmail", Fields: []body.Field{
		{Name: "token", Type: body.Text(&in.Token), Need: body.Required, About: aboutToken},
		{Name: "password", Type: oldPassword(&in.Password), About: "The user's password. Required unless the request has a session of the user."},
		{Name: "code", Type: body.Text(&in.Code),
			About: "A code from the authenticator app, or a recovery code. Required with the password if the " +
				"user has a second factor."},
	}}
}

func acceptBody(in *signin.AcceptInput) body.Object {
	return body.Object{Name: "AcceptInvitation", Fields: []body.Field{
		{Name: "token", Type: body.Text(&in.Token), Need: body.Required, About: aboutToken},
		{Name: "name", Type: body.Text(&in.Name).Length(0, maxName), About: "Name of a new user."},
		{Name: "password", Type: oldPassword(&in.Password), About: "The user's password, or a new one of 12 to 256 characters. Omit it if you are signed in."},
	}}
}

// confirming is signin.Confirmation in a request body.
type confirming struct {
	password, code string
	passkey        *written
}

func (in confirming) toConfirmation() signin.Confirmation {
	out := signin.Confirmation{Password: in.password, Code: in.code}
	if in.passkey != nil {
		answer := in.passkey.toAnswer()
		out.Passkey = &answer
	}
	return out
}

func confirmBody(in *confirming) body.Object {
	return body.Object{Name: "ConfirmSession", Single: true, Fields: []body.Field{
		{Name: "password", Type: oldPassword(&in.password), About: "The user's password."},
		{Name: "code", Type: body.Text(&in.code), About: "A code from the authenticator app, or a recovery code."},
		{Name: "passkey", Type: body.Pointer(&in.passkey, passkeyBody), About: "The browser's response to the options of POST /session/passkey/options."},
	}}
}

func switchBody(to *string) body.Object {
	return body.Object{Name: "SwitchAccount",
		Fields: []body.Field{{Name: "account_id", Type: body.Text(to), Need: body.Required,
			About: "An account that the user belongs to."}}}
}

func teamBody(to *string) body.Object {
	return body.Object{Name: "CreateAccount",
		Fields: []body.Field{{Name: "name", Type: body.Text(to).Length(1, maxName), Need: body.RequiredByService,
			About: aboutAccount}}}
}

func codeBody(to *string) body.Object {
	return body.Object{Name: "ActivateTOTP",
		Fields: []body.Field{{Name: "code", Type: body.Text(to), Need: body.Required,
			About: "The code that the app currently shows."}}}
}

// userChange is signin.UserChange in a request body.
type userChange struct {
	signin.UserChange

	webhooks, domains, rates, deliverability, usage *bool
}

// withAlerts returns the change with the topics that the body contains.
func (in userChange) withAlerts() signin.UserChange {
	in.Alerts = alerts.Preferences{}
	for topic, wanted := range map[alerts.Topic]*bool{alerts.Webhooks: in.webhooks, alerts.Domains: in.domains,
		alerts.Rates: in.rates, alerts.Deliverability: in.deliverability, alerts.Usage: in.usage} {
		if wanted != nil {
			in.Alerts[topic] = *wanted
		}
	}
	return in.UserChange
}

func alertsBody(in *userChange) body.Object {
	topic := func(name string, to **bool, about string) body.Field {
		return body.Field{Name: name, Type: body.Pointer(to, body.Boolean), About: about}
	}
	return body.Object{Name: "AlertsChange", Change: true, Fields: []body.Field{
		topic("webhooks", &in.webhooks, aboutWebhookAlerts), topic("domains", &in.domains, aboutDomainAlerts),
		topic("rates", &in.rates, aboutRateAlerts),
		topic("deliverability", &in.deliverability, aboutDeliverabilityAlerts), topic("usage", &in.usage, aboutUsageAlerts),
	}}
}

const (
	aboutWebhookAlerts        = "Whether you get an email when a webhook endpoint is disabled."
	aboutDomainAlerts         = "Whether you get an email when a domain loses its verification."
	aboutDeliverabilityAlerts = "Whether you get an email when a mailbox provider starts to refuse or defer the mail of a domain."
	aboutRateAlerts           = "Whether you get an email when the bounce or complaint rate exceeds a limit."
	aboutUsageAlerts          = "Whether you get an email when 80 % or all of a monthly limit is used."
)

func userBody(in *userChange) body.Object {
	return body.Object{Name: "UpdateUser", Change: true, Fields: []body.Field{
		{Name: "name", Type: body.Pointer(&in.Name, func(to *string) body.Type { return body.Text(to).Length(0, maxName) }),
			Null: func() { in.Name = new("") }, About: "The name of the user."},
		{Name: "email", Type: body.Pointer(&in.Email, emailField), About: "The new address. It takes effect once the link sent to it is used."},
		{Name: "password", Type: body.Pointer(&in.Password, passwordChange), About: "A new password. It ends the other sessions."},
		{Name: "alerts", Type: alertsBody(in), About: "Emails about problems of the current account. Topics that you omit do not change."},
	}}
}

func passwordChange(to *signin.PasswordChange) body.Object {
	return body.Object{Name: "PasswordChange", Fields: []body.Field{
		{Name: "current", Type: oldPassword(&to.Current), About: "The current password. Omit it if the user has none."},
		{Name: "new", Type: newPassword(&to.New), Need: body.RequiredByService, About: "12 to 256 characters."},
	}}
}
