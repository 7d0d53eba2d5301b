package automations

import (
	"github.com/postrider/postrider/modules/automations/steps"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/ops/config"
	"github.com/postrider/postrider/runtime/web/egress"
)

// Config configures the module.
type Config struct{ Steps steps.Config }

// ConfigOf returns the module's configuration from the settings. A process that does not deliver mail does not
// run steps either.
func ConfigOf(cfg setting.Values, resolver *dnsx.Resolver) Config {
	guard, plain := egress.NewGuard(egress.Allow.Get(cfg)), cfg.Mode == setting.Dev
	return Config{steps.Config{
		Idle:    config.DeliveryConcurrency.Get(cfg) == 0,
		Client:  egress.NewClient(egress.ClientConfig{Guard: guard, PlainLoopback: plain, Lookup: resolver.LookupIP}),
		Targets: egress.NewTargetChecker(guard, resolver.LookupIP, plain),
	}}
}
