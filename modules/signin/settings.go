package signin

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/ops/config"
)

const chapter = "People"

// SignUp says who may make a user and a team without being invited.
type SignUp struct {
	Open    bool     // everybody, or who has an address at Domains
	Domains []string // A-labels; empty: everybody
	Closed  bool     // invitations do not work either
}

// The words of POSTRIDER_SIGN_UP.
const (
	wordInvite = "invite"
	wordOpen   = "open"
	wordClosed = "closed"
)

// SignUpSetting is POSTRIDER_SIGN_UP.
var SignUpSetting = setting.Declare(setting.Setting[SignUp]{
	Name: "POSTRIDER_SIGN_UP", Group: chapter, DefaultText: wordInvite,
	Help: "Who may sign up: invite (who is invited), open (everybody), @example.com,@example.org (who has an address there), closed (nobody: the command line makes users).",
	Form: setting.Form[SignUp]{Placeholder: "WHO", Parse: parseSignUp},
	Show: func(s SignUp) slog.Value {
		return slog.StringValue(strings.Join(append([]string{s.Word()}, s.Domains...), ","))
	},
})

func parseSignUp(text string) (SignUp, error) {
	switch text {
	case wordInvite:
		return SignUp{}, nil
	case wordOpen:
		return SignUp{Open: true}, nil
	case wordClosed:
		return SignUp{Closed: true}, nil
	}
	out := SignUp{Open: true}
	for word := range strings.SplitSeq(text, ",") {
		name, found := strings.CutPrefix(strings.TrimSpace(word), "@")
		if !found {
			return SignUp{}, errors.New("is none of invite, open, closed, @example.com,…")
		}
		domain, err := address.ParseDomain(name)
		if err != nil {
			return SignUp{}, fmt.Errorf("has the domain %q, which %w", name, err)
		}
		out.Domains = append(out.Domains, domain)
	}
	return out, nil
}

// Admits reports whether somebody with the address, in its stored form, may sign up.
func (s SignUp) Admits(email string) bool {
	domain := email[strings.LastIndexByte(email, '@')+1:]
	return s.Open && (len(s.Domains) == 0 || slices.Contains(s.Domains, domain))
}

// Word is what the setting says in one word.
func (s SignUp) Word() string {
	switch {
	case s.Closed:
		return wordClosed
	case s.Open:
		return wordOpen
	}
	return wordInvite
}

// PasswordsSetting is POSTRIDER_PASSWORDS.
var PasswordsSetting = setting.Declare(setting.Setting[PasswordsWord]{
	Name: "POSTRIDER_PASSWORDS", Group: chapter, Form: setting.OneOf("HOW", PasswordsOn, PasswordsOff), Default: PasswordsOn,
	Help: "off: nobody signs in with a password, only by passkey, OpenID Connect or a link.",
})

// PasswordsWord is what POSTRIDER_PASSWORDS may say.
type PasswordsWord string

// The words.
const (
	PasswordsOn  PasswordsWord = "on"
	PasswordsOff PasswordsWord = "off"
)

// Config of the module.
type Config struct {
	BaseURL   string   // of links
	Origins   []string // other URLs under which the pages are served
	SignUp    SignUp
	Passwords bool
}

// ConfigOf reads the settings.
func ConfigOf(v setting.Values) Config {
	return Config{BaseURL: config.BaseURL.Of(v), Origins: config.OtherOrigins(v), SignUp: SignUpSetting.Of(v), Passwords: PasswordsSetting.Of(v) == PasswordsOn}
}
