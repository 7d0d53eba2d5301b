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

// stripeURL is the base URL of Stripe's API.
const stripeURL = "https://api.stripe.com"

// The settings that enable billing. With only one of them, Postrider does not start.
var (
	StripeKey = setting.Declare(setting.Setting[secret.String]{
		Name: "POSTRIDER_STRIPE_KEY", Group: chapter, Secret: true, DefaultText: "none",
		Form: setting.Syntax[secret.String]{Placeholder: "KEY", Parse: parseKey},
		Help: "Secret or restricted key of the Stripe account that receives payments: sk_… or rk_…, in test or " +
			"live mode. Billing is enabled if this and POSTRIDER_STRIPE_WEBHOOK_SECRET are set.",
	})
	WebhookSecrets = setting.Declare(setting.Setting[[]secret.String]{
		Name: "POSTRIDER_STRIPE_WEBHOOK_SECRET", Group: chapter, Secret: true, DefaultText: "none",
		Form: setting.Syntax[[]secret.String]{Placeholder: "SECRETS", Parse: parseSecrets},
		Help: "Signing secret of the webhook endpoint at Stripe, as printed by postrider admin billing setup: whsec_…. Separate several with commas during a rotation.",
	})
	StripeURL = setting.Declare(setting.Setting[string]{
		Name: "POSTRIDER_STRIPE_URL", Group: chapter, Default: stripeURL,
		Form: setting.Syntax[string]{Placeholder: "URL", Parse: parseURL},
		Help: "Base URL of Stripe's API. For tests: any URL other than Stripe's must be on this machine.",
	})
	Grace = setting.Declare(setting.Setting[time.Duration]{
		Name: "POSTRIDER_BILLING_GRACE", Group: chapter, Default: 7 * 24 * time.Hour,
		Form: setting.Duration(0, 90*24*time.Hour),
		Help: "How long an account with an overdue payment keeps its plan, without overage.",
	})
)

// The checks read each other's settings, so they are added here.
func init() { //nolint:gochecknoinits // the declarations would refer to each other in a cycle
	StripeKey.Check = func(v setting.Values, key secret.String) error {
		// a command may create the secret
		if v.Mode != setting.Tool && !key.IsZero() && len(WebhookSecrets.Get(v)) == 0 {
			return errors.New("requires POSTRIDER_STRIPE_WEBHOOK_SECRET: without it, forged Stripe events cannot be detected")
		}
		return nil
	}
	WebhookSecrets.Check = func(v setting.Values, secrets []secret.String) error {
		if len(secrets) > 0 && StripeKey.Get(v).IsZero() {
			return errors.New("requires POSTRIDER_STRIPE_KEY")
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
	return secret.String{},
		errors.New("must be a secret or restricted key: sk_test_…, sk_live_…, rk_test_… or rk_live_…")
}

func parseSecrets(text string) ([]secret.String, error) {
	var all []secret.String
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		// With an empty secret, Stripe's library accepts any signature.
		if rest, found := strings.CutPrefix(part, "whsec_"); !found || rest == "" {
			return nil, errors.New("must be whsec_…, or several separated by commas")
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
	if err != nil || parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.Path != "" ||
		parsed.RawQuery != "" || parsed.User != nil {
		return "", errors.New("must be a URL with only a scheme and a host")
	}
	if addr := net.ParseIP(parsed.Hostname()); parsed.Hostname() != "localhost" && (addr == nil || !addr.IsLoopback()) {
		return "", fmt.Errorf("must be %s, or a URL on this machine", stripeURL)
	}
	return text, nil
}

// IsEnabled reports whether billing is enabled.
func IsEnabled(v setting.Values) bool {
	return !StripeKey.Get(v).IsZero() && len(WebhookSecrets.Get(v)) > 0
}

// DefaultPlan returns the plan of new accounts. If billing is disabled, it is a plan with caps that are never
// reached.
func DefaultPlan(v setting.Values) string {
	switch given := accounts.DefaultPlan.Get(v); {
	case given != "":
		return given
	case !StripeKey.Get(v).IsZero():
		return accounts.PlanFree
	default:
		return accounts.PlanScale
	}
}

// Config is the configuration of the module.
type Config struct {
	Key     secret.String // Stripe key; zero if billing is disabled
	Secrets []secret.String
	URL     string
	Grace   time.Duration
	BaseURL string        // URL of the dashboard
	Answer  time.Duration // how long a caller waits for the provider: answerLimit
}

// ConfigOf reads the settings.
func ConfigOf(v setting.Values) Config {
	return Config{Key: StripeKey.Get(v), Secrets: WebhookSecrets.Get(v), URL: StripeURL.Get(v), Grace: Grace.Get(v),
		BaseURL: config.BaseURL.Get(v)}
}

func (c Config) withDefaults() Config {
	if c.Answer == 0 {
		c.Answer = answerLimit
	}
	return c
}

// isEnabled reports whether billing is enabled.
func (c Config) isEnabled() bool { return !c.Key.IsZero() && len(c.Secrets) > 0 }

// isLive reports whether the key is for live mode.
func (c Config) isLive() bool { return strings.Contains(c.Key.Reveal(), "_live_") }
