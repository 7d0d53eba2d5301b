package session

import (
	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts/alerts"
	"github.com/postrider/postrider/modules/accounts/team"
	"github.com/postrider/postrider/modules/signin"
	"github.com/postrider/postrider/rest/api/wire"
)

type userRecord struct {
	ID           string    `json:"id" doc:"The ID of the user." example:"usr_01kf0m4w7he6x8q2v5b3n9c1ta"`
	Email        string    `json:"email" doc:"The email address of the user." example:"ada@example.com"`
	Name         string    `json:"name" doc:"The name of the user." example:"Ada"`
	Operator     bool      `json:"operator" doc:"Whether the user is an operator of the installation."`
	Password     bool      `json:"password" doc:"Whether the user has a password."`
	SecondFactor bool      `json:"second_factor" doc:"Whether an authenticator app is set up."`
	Passkeys     int       `json:"passkeys" doc:"Number of passkeys."`
	CreatedAt    wire.Time `json:"created_at" doc:"When the user was created."`

	Alerts wire.Optional[alertsRecord] `json:"alerts" doc:"Emails about problems of the current account. null without a current account."`
}

// The descriptions are those of alertsBody.
type alertsRecord struct {
	Webhooks       bool `json:"webhooks" doc:"Whether you get an email when a webhook endpoint is disabled."`
	Domains        bool `json:"domains" doc:"Whether you get an email when a domain loses its verification."`
	Rates          bool `json:"rates" doc:"Whether you get an email when the bounce or complaint rate exceeds a limit."`
	Deliverability bool `json:"deliverability" doc:"Whether you get an email when a mailbox provider starts to refuse or defer the mail of a domain."`
	Usage          bool `json:"usage" doc:"Whether you get an email when 80 % or all of a monthly limit is used."`
}

type sessionRecord struct {
	ID           string    `json:"id" doc:"The ID of the session." example:"ses_01kf0m4w7he6x8q2v5b3n9c1ta"`
	AccountID    *string   `json:"account_id" doc:"ID of the current account; null if the person belongs to none." example:"acc_01kf0m4w7he6x8q2v5b3n9c1ta"`
	Method       string    `json:"method" enum:"password,passkey,oidc,link" doc:"How the person signed in."`
	SecondFactor bool      `json:"second_factor" doc:"Whether the user signed in with a second factor."`
	ConfirmedAt  wire.Time `json:"confirmed_at" doc:"When the person last confirmed their identity."`
	IP           string    `json:"ip" doc:"The IP address that the session was last used from." example:"192.0.2.7"`
	UserAgent    string    `json:"user_agent" doc:"The user agent of the browser."`
	CreatedAt    wire.Time `json:"created_at" doc:"When the user signed in."`
	LastUsedAt   wire.Time `json:"last_used_at" doc:"When the session was last used, accurate to a minute."`
	ExpiresAt    wire.Time `json:"expires_at" doc:"When the session ends, even if it is used. An unused session ends after seven days."`
	Current      bool      `json:"current" doc:"Whether this is the session of the request."`
}

type membershipRecord struct {
	AccountID   string `json:"account_id" doc:"The ID of the account." example:"acc_01kf0m4w7he6x8q2v5b3n9c1ta"`
	AccountName string `json:"account_name" doc:"The name of the account." example:"Acme"`
	Role        string `json:"role" enum:"owner,admin,developer,billing,viewer" doc:"The role of the user in the account."`

	MovedTo *string `json:"moved_to" doc:"Base URL of the installation that the account has moved to; null if the account is here." example:"https://new.example.com"`
}

type enteredAnswer struct {
	Session     sessionRecord      `json:"session" doc:"The session."`
	User        userRecord         `json:"user" doc:"The signed-in user."`
	Memberships []membershipRecord `json:"memberships" nullable:"false" doc:"The accounts of the user."`
}

type userAnswer struct {
	User userRecord `json:"user" doc:"The user."`
}

type sessionsAnswer struct {
	Sessions []sessionRecord `json:"sessions" nullable:"false" doc:"The sessions of the user."`
}

type resetAnswer struct {
	OK       bool `json:"ok" enum:"true" doc:"Always true."`
	SignedIn bool `json:"signed_in" doc:"Whether the response sets a session cookie. False if the user has a second factor and must still sign in with it."`
}

type signInRecord struct {
	SetUp     bool   `json:"setup" doc:"Whether the installation has no user yet."`
	SignUp    string `json:"sign_up" enum:"invite,open,closed" doc:"Who may sign up."`
	Passwords bool   `json:"passwords" doc:"Whether users can sign in with a password."`
	Passkeys  bool   `json:"passkeys" doc:"Whether users can have passkeys, which requires a base URL with a host name."`

	OIDC wire.Optional[providerRecord] `json:"oidc" doc:"OpenID Connect provider for signing in. null if there is none."`
}

type signInAnswer struct {
	SignIn signInRecord `json:"sign_in" doc:"How users sign in to this installation."`
}

type offer struct {
	Email       string `json:"email" doc:"The address that the invitation was sent to." example:"bob@example.com"`
	AccountName string `json:"account_name" doc:"The name of the account." example:"Acme"`
	Role        string `json:"role" enum:"owner,admin,developer,billing,viewer" doc:"The role that the invited person gets."`
	Known       bool   `json:"known" doc:"Whether the address belongs to a user with a password."`
}

type offerAnswer struct {
	Invitation offer `json:"invitation" doc:"The invitation."`
}

type factorAnswer struct {
	Secret string `json:"secret" doc:"The secret in base 32." example:"JBSWY3DPEHPK3PXP"`
	URI    string `json:"uri" doc:"The URI to show as a QR code."`
}

type recoveryAnswer struct {
	RecoveryCodes []string `json:"recovery_codes" nullable:"false" doc:"The recovery codes. They are shown only once."`
}

type madeAccount struct {
	ID   string `json:"id" doc:"The ID of the account." example:"acc_01kf0m4w7he6x8q2v5b3n9c1ta"`
	Name string `json:"name" doc:"The name of the account." example:"Acme"`
	Role string `json:"role" enum:"owner" doc:"The role of the user in the account."`
}

type madeAccountAnswer struct {
	Account madeAccount `json:"account" doc:"The account that was created."`
}

func newUserRecord(p signin.Profile) userRecord {
	r := userRecord{ID: p.ID, Email: p.Email, Name: p.Name, Operator: p.Operator, Password: p.Password,
		SecondFactor: p.SecondFactor, Passkeys: p.Passkeys, CreatedAt: wire.Time(p.CreatedAt)}
	if p.Alerts != nil {
		r.Alerts = wire.FromPointer(&alertsRecord{Webhooks: p.Alerts[alerts.Webhooks], Domains: p.Alerts[alerts.Domains],
			Deliverability: p.Alerts[alerts.Deliverability],
			Rates:          p.Alerts[alerts.Rates], Usage: p.Alerts[alerts.Usage]})
	}
	return r
}

func newSessionRecord(s *ent.Session, current string) sessionRecord {
	return sessionRecord{ID: s.ID, AccountID: s.AccountID, Method: string(s.Method), SecondFactor: s.SecondFactor,
		ConfirmedAt: wire.Time(s.ConfirmedAt), IP: s.IP, UserAgent: s.UserAgent,
		CreatedAt: wire.Time(s.CreatedAt), LastUsedAt: wire.Time(s.LastUsedAt), ExpiresAt: wire.Time(s.ExpiresAt),
		Current: s.ID == current}
}

func newEnteredAnswer(v signin.View) enteredAnswer {
	return enteredAnswer{Session: newSessionRecord(v.Session, v.Session.ID), User: newUserRecord(v.User),
		Memberships: wire.ListOf(v.Memberships, func(m team.Membership) membershipRecord {
			return membershipRecord{m.AccountID, m.AccountName, string(m.Role), m.MovedTo}
		})}
}

const (
	exampleUser     = "usr_01kf0m4w7he6x8q2v5b3n9c1ta"
	exampleAccount  = "acc_01kf0m4w7he6x8q2v5b3n9c1ta"
	exampleSession  = "ses_01kf0m4w7he6x8q2v5b3n9c1ta"
	exampleTime     = "2026-01-15T09:30:00.000Z"
	exampleToken    = "0fXk3v9QpA1mW5rT8yB2nC4xE6uH7jK0sLd3fG9aVqI"
	examplePassword = "green paper horses run"
)

func userExample() map[string]any {
	return map[string]any{"id": exampleUser, "email": "ada@example.com", "name": "Ada", "operator": false,
		"password": true, "second_factor": false, "passkeys": 0, "created_at": exampleTime,
		"alerts": map[string]any{"webhooks": true, "domains": true, "rates": true, "deliverability": true, "usage": false}}
}

func sessionExample() map[string]any {
	return map[string]any{"id": exampleSession, "account_id": exampleAccount, "method": "password",
		"second_factor": false, "confirmed_at": exampleTime, "ip": "192.0.2.7",
		"user_agent": "Mozilla/5.0", "created_at": exampleTime, "last_used_at": exampleTime, "expires_at": "2026-02-14T09:30:00.000Z", "current": true}
}

func enteredExample() map[string]any {
	return map[string]any{"session": sessionExample(), "user": userExample(),
		"memberships": []any{map[string]any{"account_id": exampleAccount, "account_name": "Acme", "role": "owner",
			"moved_to": nil}}}
}
