package automations

import (
	"errors"
	"net/http"
	"net/netip"
	"net/url"

	"github.com/postrider/postrider/modules/automations/steps"
	"github.com/postrider/postrider/runtime/config"
	"github.com/postrider/postrider/runtime/egress"
	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/setting"
)

// Config of the module.
type Config struct {
	Steps steps.Config

	Client        *http.Client  // of webhook steps; it judges each address that it dials
	Guard         *egress.Guard // says which addresses the activation lets pass; nil: all
	PlainLoopback bool          // development: http:// too, to this machine
}

// ConfigOf takes what the module needs from the installation's configuration. A process that
// delivers no mail takes no steps either.
func ConfigOf(cfg setting.Values, resolver *dnsx.Resolver) Config {
	guard, plain := egress.NewGuard(egress.Allow.Of(cfg)), cfg.Mode == setting.Dev
	return Config{
		Steps:         steps.Config{Idle: config.DeliveryConcurrency.Of(cfg) == 0},
		Client:        egress.NewClient(egress.ClientConfig{Guard: guard, PlainLoopback: plain, Lookup: resolver.LookupIP}),
		Guard:         guard,
		PlainLoopback: plain,
	}
}

// mayCall says what speaks against calling a URL, as far as it can be told without asking DNS.
func (c Config) mayCall(target string) error {
	u, err := url.Parse(target)
	if err != nil {
		return errors.New("is not a URL")
	}
	if u.Scheme == "http" && !c.PlainLoopback {
		return errors.New("must begin with https://")
	}
	addr, err := netip.ParseAddr(u.Hostname())
	if err == nil && c.Guard != nil && c.Guard.Allowed(addr) != nil {
		return errors.New("has an address that may not be called: it is not public")
	}
	return nil
}
