package billing

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/ops/config"
)

const chapter = "Billing"

// stripeURL is where Stripe answers.
const stripeURL = "https://api.stripe.com"

// The settings that turn billing on. One alone stops the start.
var (
	StripeKey = setting.Declare(setting.Setting[secret.String]{
		Name: "POSTRIDER_STRIPE_KEY", Group: chapter, Secret: true, DefaultText: "none",
		Form: setting.Form[secret.String]{Placeholder: "KEY", Parse: parseKey},
		Help: "Secret or restricted key of the Stripe account that customers pay into: sk_… or rk_…, of test or live mode. Billing is on when it and POSTRIDER_STRIPE_WEBHOOK_SECRET are given.",
	})
	WebhookSecrets = setting.Declare(setting.Setting[[]secret.String]{
		Name: "POSTRIDER_STRIPE_WEBHOOK_SECRET", Group: chapter, Secret: true, DefaultText: "none",
		Form: setting.Form[[]secret.String]{Placeholder: "SECRETS", Parse: parseSecrets},
		Help: "Signing secret of the webhook endpoint at Stripe, as postrider billing setup prints it: whsec_…. Several, separated by commas, while it is rotated.",
	})
	StripeURL = setting.Declare(setting.Setting[string]{
		Name: "POSTRIDER_STRIPE_URL", Group: chapter, Default: stripeURL, Form: setting.Form[string]{Placeholder: "URL", Parse: parseURL},
		Help: "Where Stripe's API answers. Anything else than Stripe itself must be on this machine: for tests.",
	})
	Grace = setting.Declare(setting.Setting[time.Duration]{
		Name: "POSTRIDER_BILLING_GRACE", Group: chapter, Default: 7 * 24 * time.Hour, Form: setting.Duration(0, 90*24*time.Hour),
		Help: "How long an account keeps its plan, without overage, while a payment is overdue.",
	})
)

// The checks read each other's settings, so they are added here.
func init() { //nolint:gochecknoinits // the declarations would name each other in a circle
	StripeKey.Check = func(v setting.Values, key secret.String) error {
		if v.Mode != setting.Tool && !key.IsZero() && len(WebhookSecrets.Of(v)) == 0 { // a command may make the secret
			return errors.New("is given without POSTRIDER_STRIPE_WEBHOOK_SECRET: events of Stripe could not be told from forged ones")
		}
		return nil
	}
	WebhookSecrets.Check = func(v setting.Values, secrets []secret.String) error {
		if len(secrets) > 0 && StripeKey.Of(v).IsZero() {
			return errors.New("is given without POSTRIDER_STRIPE_KEY")
		}
		return nil
	}
}

func parseKey(text string) (secret.String, error) {
	for _, prefix := range []string{"sk_test_", "sk_live_", "rk_test_", "rk_live_"} {
		if rest, found := strings.CutPrefix(text, prefix); found && rest != "" {
			return secret.New(text), nil
		}
	}
	return secret.String{}, errors.New("must be a secret or a restricted key: sk_test_…, sk_live_…, rk_test_… or rk_live_…")
}

func parseSecrets(text string) ([]secret.String, error) {
	var all []secret.String
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		// Stripe's library accepts what anybody signs where the secret is empty.
		if rest, found := strings.CutPrefix(part, "whsec_"); !found || rest == "" {
			return nil, errors.New("must be whsec_…, or several of them separated by commas")
		}
		all = append(all, secret.New(part))
	}
	return all, nil
}

func parseURL(text string) (string, error) {
	text = strings.TrimSuffix(text, "/")
	if text == stripeURL {
		return text, nil
	}
	parsed, err := url.Parse(text)
	if err != nil || parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.Path != "" || parsed.RawQuery != "" || parsed.User != nil {
		return "", errors.New("must be a URL of scheme and host alone")
	}
	if addr := net.ParseIP(parsed.Hostname()); parsed.Hostname() != "localhost" && (addr == nil || !addr.IsLoopback()) {
		return "", fmt.Errorf("must be %s, or on this machine", stripeURL)
	}
	return text, nil
}

// On tells whether billing is on.
func On(v setting.Values) bool { return !StripeKey.Of(v).IsZero() && len(WebhookSecrets.Of(v)) > 0 }

// DefaultPlan is the plan of new accounts: where nobody pays, one whose caps nobody meets.
func DefaultPlan(v setting.Values) string {
	switch given := accounts.DefaultPlan.Of(v); {
	case given != "":
		return given
	case !StripeKey.Of(v).IsZero():
		return accounts.PlanFree
	default:
		return accounts.PlanScale
	}
}

// Config of the module.
type Config struct {
	Key     secret.String // of Stripe; zero: billing is off
	Secrets []secret.String
	URL     string
	Grace   time.Duration
	BaseURL string        // of the dashboard
	Answer  time.Duration // how long a caller waits for the provider: answerLimit
}

// ConfigOf reads the settings.
func ConfigOf(v setting.Values) Config {
	return Config{Key: StripeKey.Of(v), Secrets: WebhookSecrets.Of(v), URL: StripeURL.Of(v), Grace: Grace.Of(v), BaseURL: config.BaseURL.Of(v)}
}

func (c Config) withDefaults() Config {
	if c.Answer == 0 {
		c.Answer = answerLimit
	}
	return c
}

// on tells whether billing is on.
func (c Config) on() bool { return !c.Key.IsZero() && len(c.Secrets) > 0 }

// live tells whether the key is one for real money.
func (c Config) live() bool { return strings.Contains(c.Key.Reveal(), "_live_") }
