package openid

import (
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/signin"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/ops/config"
	"github.com/postrider/postrider/runtime/web/egress"
)

const chapter = "People"

// The settings that go together.
var (
	Issuer = setting.Declare(setting.Setting[string]{
		Name: "POSTRIDER_OIDC_ISSUER", Group: chapter, Form: setting.Form[string]{Placeholder: "URL", Parse: parseIssuer},
		Help: "Issuer of the OpenID Connect provider that people may sign in by, written to the slash as the provider writes it.",
		Check: func(v setting.Values, issuer string) error {
			switch {
			case issuer == "":
				return nil
			case ClientID.Of(v) == "":
				return errors.New("is given without POSTRIDER_OIDC_CLIENT_ID")
			case ClientSecret.Of(v).IsZero():
				return errors.New("is given without POSTRIDER_OIDC_CLIENT_SECRET")
			}
			return nil
		},
	})
	ClientID = setting.Declare(setting.Setting[string]{
		Name: "POSTRIDER_OIDC_CLIENT_ID", Group: chapter, Form: setting.Text("ID"),
		Help: "What the provider calls Postrider.",
	})
	ClientSecret = setting.Declare(setting.Setting[secret.String]{
		Name: "POSTRIDER_OIDC_CLIENT_SECRET", Group: chapter, Secret: true, DefaultText: "none",
		Form: setting.Form[secret.String]{Placeholder: "SECRET", Parse: func(text string) (secret.String, error) { return secret.New(text), nil }},
		Help: "The secret that belongs to POSTRIDER_OIDC_CLIENT_ID.",
	})
)

// The settings that say more about the provider.
var (
	Name = setting.Declare(setting.Setting[string]{
		Name: "POSTRIDER_OIDC_NAME", Group: chapter, Form: setting.Form[string]{Placeholder: "NAME", Parse: parseName},
		DefaultText: "the issuer's host", From: func(v setting.Values) string { return hostOf(Issuer.Of(v)) },
		Help: "What the provider is called on the sign-in page: Sign in with NAME.",
	})
	JoinSetting = setting.Declare(setting.Setting[Join]{
		Name: "POSTRIDER_OIDC_JOIN", Group: chapter, Form: setting.Form[Join]{Placeholder: "ACCOUNT:ROLE", Parse: parseJoin}, DefaultText: "none",
		Help: "Team and role, as acc_…:viewer, for people of the provider who are not known here and have a verified email. Without it they need an invitation. " +
			"Where everybody can have an account at the provider, everybody joins.",
		Show: func(j Join) slog.Value { return slog.StringValue(j.String()) },
	})
	TrustEmail = setting.Declare(setting.Setting[bool]{
		Name: "POSTRIDER_OIDC_TRUST_EMAIL", Group: chapter, Form: setting.Switch(),
		Help: "Take an email for verified where the provider does not say whether it is. Only right where users of the provider cannot choose their email.",
	})
)

// None of the other settings means anything without the issuer. The checks are added here, because each
// reads the issuer, whose own check reads two of them.
func init() { //nolint:gochecknoinits // the declarations would name each other in a circle
	ClientID.Check = func(v setting.Values, _ string) error { return withIssuer(v, ClientID.Given(v)) }
	ClientSecret.Check = func(v setting.Values, _ secret.String) error { return withIssuer(v, ClientSecret.Given(v)) }
	Name.Check = func(v setting.Values, _ string) error { return withIssuer(v, Name.Given(v)) }
	JoinSetting.Check = func(v setting.Values, _ Join) error { return withIssuer(v, JoinSetting.Given(v)) }
	TrustEmail.Check = withIssuer
}

func withIssuer(v setting.Values, given bool) error {
	if given && Issuer.Of(v) == "" {
		return errors.New("is given without POSTRIDER_OIDC_ISSUER")
	}
	return nil
}

const wellKnown = "/.well-known/openid-configuration"

// parseIssuer takes the URL of an issuer (OpenID Connect Discovery 1.0 section 3): https, without query
// and fragment. To this machine http is taken as well.
func parseIssuer(text string) (string, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Hostname() == "" || u.Opaque != "":
		return "", errors.New("is not a URL such as https://id.example.com/realms/staff")
	case u.User != nil:
		return "", errors.New("must not hold a user name or password")
	case u.RawQuery != "" || u.ForceQuery || strings.Contains(text, "#"):
		return "", errors.New("must not have a query or a fragment")
	case strings.HasSuffix(u.Path, wellKnown):
		return "", fmt.Errorf("is the issuer alone, without %s", wellKnown)
	case u.Scheme == "http" && egress.IsLocalhost(u.Hostname()), u.Scheme == "https":
		return text, nil
	}
	return "", errors.New("must be https://; http:// only to this machine")
}

func hostOf(issuer string) string {
	u, err := url.Parse(issuer)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

const maxName = 60 // bytes, on a button

func parseName(text string) (string, error) {
	text = strings.TrimSpace(text)
	switch {
	case text == "" || !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }):
		return "", errors.New("must be a name that can be shown on a button")
	case len(text) > maxName:
		return "", fmt.Errorf("is longer than %d octets", maxName)
	}
	return text, nil
}

// Join is what people of the provider become who are not known here; zero: nothing.
type Join struct {
	AccountID string
	Role      rights.Role
}

// String is the setting's text.
func (j Join) String() string {
	if j.AccountID == "" {
		return ""
	}
	return j.AccountID + ":" + string(j.Role)
}

func parseJoin(text string) (Join, error) {
	accountID, role, found := strings.Cut(text, ":")
	switch {
	case !found || !id.Is(id.Account, accountID):
		return Join{}, errors.New("must be the id of an account and a role, as acc_…:viewer")
	case rights.Role(role) == rights.RoleOwner:
		return Join{}, errors.New("cannot make owners: an owner of the team does that")
	case !rights.Role(role).Known():
		return Join{}, errors.New("has a role that is none of admin, developer, billing, viewer")
	}
	return Join{accountID, rights.Role(role)}, nil
}

// PathCallback is where the provider sends people back to, under the base URL.
const PathCallback = "/api/session/oidc/callback"

// Config of the service. Without Issuer nobody signs in this way.
type Config struct {
	Issuer       string
	ClientID     string
	ClientSecret secret.String
	Name         string
	Join         Join
	TrustEmail   bool
	BaseURL      string
	NoInvites    bool // invitations do not work
	OwnResolver  bool // names are looked up by the resolver of the installation, not by the system
}

// ConfigOf reads the settings.
func ConfigOf(v setting.Values) Config {
	return Config{Issuer: Issuer.Of(v), ClientID: ClientID.Of(v), ClientSecret: ClientSecret.Of(v), Name: Name.Of(v), Join: JoinSetting.Of(v), TrustEmail: TrustEmail.Of(v),
		BaseURL: strings.TrimSuffix(config.BaseURL.Of(v), "/"), NoInvites: signin.SignUpSetting.Of(v).Closed, OwnResolver: config.DNSServer.Given(v)}
}
