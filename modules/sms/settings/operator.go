package settings

import (
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/sms/provider"
	"github.com/postrider/postrider/modules/sms/textmsg"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/base/setting"
)

// Operator is the provider for accounts that have no provider of their own.
type Operator struct {
	Kind   string // empty, capture, twilio or http
	SID    string // for twilio
	Secret secret.String
	User   string // for http
	URL    string // for twilio, its base URL
	From   string
}

// The kinds of providers.
const (
	KindCapture = "capture"
	KindTwilio  = "twilio"
	KindHTTP    = "http"
)

// OperatorProvider is the setting for the operator's provider.
var OperatorProvider = setting.Declare(setting.Setting[Operator]{
	Name: "POSTRIDER_SMS", Group: "Text messages", Secret: true, DefaultText: "none; capture in development",
	Help: "The SMS provider for accounts without one of their own: none, capture (development only), twilio://SID:TOKEN@host?from=%2B4915112345678 " +
		"for Twilio (host api.twilio.com) or a compatible provider, or https://user:password@host/path?from=… for a gateway that accepts a JSON object.",
	Form: setting.Syntax[Operator]{Placeholder: "URL", Parse: parseOperator},
	From: func(v setting.Values) Operator {
		if v.Mode == setting.Dev {
			return Operator{Kind: KindCapture}
		}
		return Operator{}
	},
	Check: func(v setting.Values, o Operator) error {
		if v.Mode == setting.Serve && o.Kind == KindCapture {
			return errors.New("cannot be capture outside of development mode: it keeps all messages on this machine")
		}
		return nil
	},
	Show: Operator.LogValue,
})

// parseOperator parses the setting. Errors never quote it, because it contains a secret.
func parseOperator(text string) (Operator, error) {
	switch text {
	case "none":
		return Operator{}, nil
	case KindCapture:
		return Operator{Kind: KindCapture}, nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Opaque != "" || u.Fragment != "" {
		return Operator{},
			errors.New("must be one of none, capture, twilio://SID:TOKEN@host?from=… and https://… (write characters such as @ and / in a secret as %40 and %2F)")
	}
	query := u.Query()
	o := Operator{From: query.Get("from")}
	if rest, space := strings.CutPrefix(o.From, " "); space { // a + that was not written as %2B
		o.From = "+" + rest
	}
	var wrong []error
	if o.From != "" {
		if err := textmsg.CheckSender(o.From); err != nil {
			wrong = append(wrong, errors.New("has an invalid from, which "+err.Error()))
		}
	}
	password, given := u.User.Password()
	o.Secret = secret.New(password)
	switch u.Scheme {
	case KindTwilio:
		o.Kind, o.SID, o.URL = KindTwilio, u.User.Username(), "https://"+u.Host
		if o.SID == "" || !given {
			wrong = append(wrong, errors.New("requires an account SID and token before the host"))
		}
		if o.From == "" {
			wrong = append(wrong, errors.New("requires ?from="))
		}
		if u.Path != "" && u.Path != "/" || len(query) > 1 {
			wrong = append(wrong, errors.New("cannot have anything but the host and from"))
		}
	case "http", "https":
		o.Kind, o.User = KindHTTP, u.User.Username()
		if u.User != nil && (o.User == "" || !given) {
			wrong = append(wrong, errors.New("requires both a user name and a password, or neither"))
		}
		query.Del("from")
		u.User, u.RawQuery = nil, query.Encode()
		o.URL = u.String()
	default:
		wrong = append(wrong, errors.New("must begin with twilio://, https:// or http://"))
	}
	return o, errors.Join(wrong...)
}

// LogValue omits the secrets.
func (o Operator) LogValue() slog.Value {
	if o.Kind == "" || o.Kind == KindCapture {
		return slog.StringValue(o.Kind)
	}
	host := ""
	if u, err := url.Parse(o.URL); err == nil {
		host = u.Host
	}
	return slog.GroupValue(slog.String("how", o.Kind), slog.String("host", host), slog.String("from", o.From))
}

// newProvider creates the operator's provider, or returns nil if none is configured.
func (o Operator) newProvider(catcher provider.Catcher) (provider.Provider, error) {
	switch o.Kind {
	case KindCapture:
		return provider.Capture{Catcher: catcher}, nil
	case KindTwilio:
		return &provider.Twilio{BaseURL: o.URL, AccountSID: o.SID, AuthToken: o.Secret, From: o.From,
			Client: operatorClient()}, nil
	case KindHTTP:
		c := provider.GatewayConfig{URL: o.URL, From: o.From, IDPath: "id"}
		if o.User != "" {
			c.Headers = []shape.Header{{Name: "Authorization", Value: provider.Basic(o.User, o.Secret.Reveal())}}
		}
		return provider.NewGateway(c, operatorClient())
	}
	return nil, nil //nolint:nilnil // having no provider is not an error
}

// operatorClient connects to the operator's provider, which may have a private address. It does not follow
// redirects, because that would send the secrets to another host.
func operatorClient() *http.Client {
	return &http.Client{Timeout: provider.Timeout, Transport: &http.Transport{TLSHandshakeTimeout: 5 * time.Second,
		MaxResponseHeaderBytes: 64 << 10, DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}
