package signin

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/postrider/postrider/modules/signin/cells"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/ops/config"
)

const chapter = "People"

// SignUpPolicy is the policy for creating a user and a team without an invitation.
type SignUpPolicy struct {
	Open    bool     // all users, or only addresses at Domains
	Domains []string // A-labels; empty: any domain
	Closed  bool     // disables invitations as well
}

// The values of POSTRIDER_SIGN_UP.
const (
	wordInvite = "invite"
	wordOpen   = "open"
	wordClosed = "closed"
)

// SignUpSetting is POSTRIDER_SIGN_UP.
var SignUpSetting = setting.Declare(setting.Setting[SignUpPolicy]{
	Name: "POSTRIDER_SIGN_UP", Group: chapter, DefaultText: wordInvite,
	Help: "Who can sign up: invite (invited users), open (all users), @example.com,@example.org (addresses at these " +
		"domains), closed (users are created on the command line).",
	Form: setting.Syntax[SignUpPolicy]{Placeholder: "WHO", Parse: parseSignUp},
	Show: func(s SignUpPolicy) slog.Value {
		return slog.StringValue(strings.Join(append([]string{s.Mode()}, s.Domains...), ","))
	},
})

func parseSignUp(text string) (SignUpPolicy, error) {
	switch text {
	case wordInvite:
		return SignUpPolicy{}, nil
	case wordOpen:
		return SignUpPolicy{Open: true}, nil
	case wordClosed:
		return SignUpPolicy{Closed: true}, nil
	}
	out := SignUpPolicy{Open: true}
	for word := range strings.SplitSeq(text, ",") {
		name, found := strings.CutPrefix(strings.TrimSpace(word), "@")
		if !found {
			return SignUpPolicy{},
				errors.New("must be one of invite, open, closed, or a list such as @example.com,@example.org")
		}
		domain, err := address.ParseDomain(name)
		if err != nil {
			return SignUpPolicy{}, fmt.Errorf("has an invalid domain %q: it %w", name, err)
		}
		out.Domains = append(out.Domains, domain)
	}
	return out, nil
}

// Allows reports whether the policy allows the email, in its stored form, to sign up.
func (s SignUpPolicy) Allows(email string) bool {
	domain := email[strings.LastIndexByte(email, '@')+1:]
	return s.Open && (len(s.Domains) == 0 || slices.Contains(s.Domains, domain))
}

// Mode returns the policy as one word, without its domains.
func (s SignUpPolicy) Mode() string {
	switch {
	case s.Closed:
		return wordClosed
	case s.Open:
		return wordOpen
	}
	return wordInvite
}

// PasswordsSetting is POSTRIDER_PASSWORDS.
var PasswordsSetting = setting.Declare(setting.Setting[PasswordsMode]{
	Name: "POSTRIDER_PASSWORDS", Group: chapter, Form: setting.OneOf("HOW", PasswordsOn, PasswordsOff),
	Default: PasswordsOn,
	Help:    "off: disables passwords. Users sign in with a passkey, OpenID Connect or a link.",
})

// PasswordsMode is a value of POSTRIDER_PASSWORDS.
type PasswordsMode string

// The values of POSTRIDER_PASSWORDS.
const (
	PasswordsOn  PasswordsMode = "on"
	PasswordsOff PasswordsMode = "off"
)

// Config configures the module.
type Config struct {
	BaseURL   string   // base URL of links
	Origins   []string // other URLs under which the pages are served
	SignUp    SignUpPolicy
	Passwords bool
	Cells     cells.Config
}

// ConfigOf reads the settings.
func ConfigOf(v setting.Values) (Config, error) {
	others, err := cells.ConfigOf(v)
	return Config{BaseURL: config.BaseURL.Get(v), Origins: config.OtherOrigins(v), SignUp: SignUpSetting.Get(v),
		Passwords: PasswordsSetting.Get(v) == PasswordsOn, Cells: others}, err
}
