package automations

import (
	"net/netip"

	"github.com/postrider/postrider/modules/automations/steps"
	"github.com/postrider/postrider/runtime/config"
	"github.com/postrider/postrider/runtime/egress"
	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/setting"
)

// ConfigOf takes what the module needs from the installation's configuration. A process that
// delivers no mail takes no steps either.
func ConfigOf(cfg setting.Values, resolver *dnsx.Resolver) Config {
	var allow []netip.Prefix
	if cfg.Mode == setting.Dev {
		allow = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	}
	return Config{
		Steps:  steps.Config{Idle: config.DeliveryConcurrency.Of(cfg) == 0},
		Client: egress.NewClient(egress.ClientConfig{Guard: egress.NewGuard(allow), PlainLoopback: cfg.Mode == setting.Dev, Lookup: resolver.LookupIP}),
	}
}
