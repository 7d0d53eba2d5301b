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

// The required settings of a provider.
var (
	Issuer = setting.Declare(setting.Setting[string]{
		Name: "POSTRIDER_OIDC_ISSUER", Group: chapter,
		Form: setting.Syntax[string]{Placeholder: "URL", Parse: parseIssuer},
		Help: "Issuer URL of the OpenID Connect provider for sign-in. It must match the provider's issuer exactly, including a trailing slash.",
		Check: func(v setting.Values, issuer string) error {
			switch {
			case issuer == "":
				return nil
			case ClientID.Get(v) == "":
				return errors.New("requires POSTRIDER_OIDC_CLIENT_ID")
			case ClientSecret.Get(v).IsZero():
				return errors.New("requires POSTRIDER_OIDC_CLIENT_SECRET")
			}
			return nil
		},
	})
	ClientID = setting.Declare(setting.Setting[string]{
		Name: "POSTRIDER_OIDC_CLIENT_ID", Group: chapter, Form: setting.Text("ID"),
		Help: "OAuth client ID of Postrider at the provider.",
	})
	ClientSecret = setting.Declare(setting.Setting[secret.String]{
		Name: "POSTRIDER_OIDC_CLIENT_SECRET", Group: chapter, Secret: true, DefaultText: "none",
		Form: setting.Syntax[secret.String]{Placeholder: "SECRET",
			Parse: func(text string) (secret.String, error) { return secret.New(text), nil }},
		Help: "OAuth client secret for POSTRIDER_OIDC_CLIENT_ID.",
	})
)

// The optional settings of a provider.
var (
	Name = setting.Declare(setting.Setting[string]{
		Name: "POSTRIDER_OIDC_NAME", Group: chapter,
		Form:        setting.Syntax[string]{Placeholder: "NAME", Parse: parseName},
		DefaultText: "the issuer's host", From: func(v setting.Values) string { return hostOf(Issuer.Get(v)) },
		Help: "Name of the provider on the sign-in page: Sign in with NAME.",
	})
	JoinSetting = setting.Declare(setting.Setting[Join]{
		Name: "POSTRIDER_OIDC_JOIN", Group: chapter,
		Form: setting.Syntax[Join]{Placeholder: "ACCOUNT:ROLE", Parse: parseJoin}, DefaultText: "none",
		Help: "Team and role for new users of the provider with a verified email, such as acc_…:viewer. Without it they need an invitation. " +
			"If the provider's registration is open, everyone can join.",
		Show: func(j Join) slog.Value { return slog.StringValue(j.String()) },
	})
	TrustEmail = setting.Declare(setting.Setting[bool]{
		Name: "POSTRIDER_OIDC_TRUST_EMAIL", Group: chapter, Form: setting.Switch(),
		Help: "Treat an email as verified if the provider does not send email_verified. Only safe if users of the provider cannot choose their email.",
	})
)

// All other settings require the issuer. The checks are added here to avoid an initialization cycle: each
// reads the issuer, whose own check reads two of them.
func init() { //nolint:gochecknoinits // avoids an initialization cycle
	ClientID.Check = func(v setting.Values, _ string) error { return withIssuer(v, ClientID.IsSet(v)) }
	ClientSecret.Check = func(v setting.Values, _ secret.String) error { return withIssuer(v, ClientSecret.IsSet(v)) }
	Name.Check = func(v setting.Values, _ string) error { return withIssuer(v, Name.IsSet(v)) }
	JoinSetting.Check = func(v setting.Values, _ Join) error { return withIssuer(v, JoinSetting.IsSet(v)) }
	TrustEmail.Check = withIssuer
}

func withIssuer(v setting.Values, given bool) error {
	if given && Issuer.Get(v) == "" {
		return errors.New("requires POSTRIDER_OIDC_ISSUER")
	}
	return nil
}

const wellKnown = "/.well-known/openid-configuration"

// parseIssuer parses an issuer URL (OpenID Connect Discovery 1.0 section 3): https, without query and
// fragment. http is accepted for localhost only.
func parseIssuer(text string) (string, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Hostname() == "" || u.Opaque != "":
		return "", errors.New("must be a URL such as https://id.example.com/realms/staff")
	case u.User != nil:
		return "", errors.New("must not contain a user name or password")
	case u.RawQuery != "" || u.ForceQuery || strings.Contains(text, "#"):
		return "", errors.New("must not have a query or a fragment")
	case strings.HasSuffix(u.Path, wellKnown):
		return "", fmt.Errorf("must be the issuer, without %s", wellKnown)
	case u.Scheme == "http" && egress.IsLocalhost(u.Hostname()), u.Scheme == "https":
		return text, nil
	}
	return "", errors.New("must use https://, or http:// for localhost")
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
	case text == "" || !utf8.ValidString(text) ||
		strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }):
		return "", errors.New("must consist of printable characters")
	case len(text) > maxName:
		return "", fmt.Errorf("must be at most %d bytes", maxName)
	}
	return text, nil
}

// Join is the team and role of new users of the provider. The zero value means that they do not join a team.
type Join struct {
	AccountID string
	Role      rights.Role
}

// String returns the value in the format of the setting.
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
		return Join{}, errors.New("must be an account id and a role, such as acc_…:viewer")
	case rights.Role(role) == rights.RoleOwner:
		return Join{}, errors.New("cannot have the role owner: only an owner of the team can add owners")
	case !rights.Role(role).IsKnown():
		return Join{}, errors.New("must have one of the roles admin, developer, billing, viewer")
	}
	return Join{accountID, rights.Role(role)}, nil
}

// PathCallback is the redirect path for the provider, relative to the base URL.
const PathCallback = "/api/session/oidc/callback"

// Config configures the service. Without Issuer the provider is disabled.
type Config struct {
	Issuer       string
	ClientID     string
	ClientSecret secret.String
	Name         string
	Join         Join
	TrustEmail   bool
	BaseURL      string
	NoInvites    bool // invitations are disabled
	OwnResolver  bool // resolve names with the installation's resolver instead of the system's
}

// ConfigOf reads the settings.
func ConfigOf(v setting.Values) Config {
	return Config{Issuer: Issuer.Get(v), ClientID: ClientID.Get(v), ClientSecret: ClientSecret.Get(v), Name: Name.Get(v),
		Join: JoinSetting.Get(v), TrustEmail: TrustEmail.Get(v),
		BaseURL: strings.TrimSuffix(config.BaseURL.Get(v), "/"), NoInvites: signin.SignUpSetting.Get(v).Closed,
		OwnResolver: config.DNSServer.IsSet(v)}
}
