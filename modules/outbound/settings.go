package outbound

import (
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strconv"

	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/base/setting"
)

const chapter = "Delivery"

// How is the kind of route that mail takes.
type How string

// The kinds of routes.
const (
	MX        How = "mx"        // to the recipient domain's servers
	Capture   How = "capture"   // to the development inbox
	Smarthost How = "smarthost" // to one server that relays it
)

// Exit is the route by which mail leaves the installation.
type Exit struct {
	How How
	// For Smarthost:
	Host        string
	Port        int
	ImplicitTLS bool   // smtps: TLS from the first byte
	Username    string // empty to send without authentication
	Password    secret.String
}

// MainExit is the route of all mail without a route of its account or domain.
var MainExit = setting.Declare(setting.Setting[Exit]{
	Name: "POSTRIDER_OUTBOUND", Group: chapter, Secret: true, DefaultText: "mx; capture in development",
	Help: "Delivery route: mx, capture (development only), or a smarthost as smtp://user:password@host:port or smtps://…",
	Form: setting.Syntax[Exit]{Placeholder: "HOW", Parse: func(text string) (Exit, error) {
		if text == string(MX) || text == string(Capture) {
			return Exit{How: How(text)}, nil
		}
		return parseExit(text, "must be mx, capture, smtp://user:password@host:port or smtps://…")
	}},
	From: func(v setting.Values) Exit {
		if v.Mode == setting.Dev {
			return Exit{How: Capture}
		}
		return Exit{How: MX}
	},
	Check: func(v setting.Values, e Exit) error {
		if v.Mode == setting.Serve && e.How == Capture {
			return errors.New("cannot be capture outside development mode, because it keeps all mail on this machine")
		}
		return nil
	},
	Show: Exit.LogValue,
})

// FallbackExit is the fallback smarthost of the installation; zero if there is none.
var FallbackExit = setting.Declare(setting.Setting[Exit]{
	Name: "POSTRIDER_FALLBACK", Group: chapter, Secret: true, DefaultText: "none",
	Help: "smtp://user:password@host:port or smtps://…: a smarthost for mail that receivers rejected because of " +
		"the sending address, or whose receivers could not be reached. Accounts and domains can have their own. " +
		"Only with mx.",
	Form: setting.Syntax[Exit]{Placeholder: "URL", Parse: func(text string) (Exit, error) {
		return parseExit(text, "must be smtp://user:password@host:port or smtps://…")
	}},
	Show: Exit.LogValue,
})

// parseExit parses the URL of a smarthost. Errors never contain the text, which may include a password.
func parseExit(text, otherwise string) (Exit, error) {
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "smtp" && u.Scheme != "smtps") {
		return Exit{}, errors.New(otherwise + " (escape characters such as @ and / in a password as %40 and %2F)")
	}
	e := Exit{How: Smarthost, Host: u.Hostname(), Port: 587, ImplicitTLS: u.Scheme == "smtps"}
	if e.ImplicitTLS {
		e.Port = 465
	}
	var wrong []error
	note := func(err error) {
		if err != nil {
			wrong = append(wrong, err)
		}
	}
	if !setting.IsAddress(e.Host) {
		e.Host, err = setting.ParseHost(e.Host)
		note(err)
	}
	if text := u.Port(); text != "" {
		if e.Port, err = strconv.Atoi(text); err != nil || e.Port < 1 || e.Port > 65535 {
			note(fmt.Errorf("has the port %q; it must be a number from 1 to 65535", text))
		}
	}
	if (u.Path != "" && u.Path != "/") || u.RawQuery != "" || u.Fragment != "" {
		note(errors.New("cannot have anything after host and port"))
	}
	if u.User != nil {
		password, given := u.User.Password()
		e.Username, e.Password = u.User.Username(), secret.New(password)
		if e.Username == "" || !given {
			note(errors.New("must have both a user name and a password, or neither"))
		}
	}
	return e, errors.Join(wrong...)
}

// LogValue includes the user name but not the password.
func (e Exit) LogValue() slog.Value {
	if e.How != Smarthost {
		return slog.StringValue(string(e.How))
	}
	return slog.GroupValue(slog.String("how", string(e.How)), slog.String("host", e.Host), slog.Int("port", e.Port),
		slog.Bool("implicit_tls", e.ImplicitTLS), slog.String("username", e.Username))
}
