package development

import (
	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/devinbox"
	"github.com/postrider/postrider/modules/outbound"
	"github.com/postrider/postrider/modules/suppression"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/ops/config"
)

// playedConfig configures the domains at which development mode simulates failing receivers: its own domain and the
// sandbox domain, as long as mail is captured.
func playedConfig(cfg setting.Values) devinbox.Config {
	if cfg.Mode != setting.Dev || outbound.MainExit.Get(cfg).How != outbound.Capture {
		return devinbox.Config{}
	}
	return devinbox.Config{Open: true, Domains: []string{Domain, config.SandboxDomain.Get(cfg)}}
}

// PlayedFailures configures the module devinbox to simulate the failures. The suppressed addresses are one mailbox per
// domain; the seeder adds them to the suppression list.
var PlayedFailures = fx.Options(
	fx.Provide(playedConfig),
	fx.Decorate(func(c suppression.Config, played devinbox.Config) suppression.Config {
		c.Mailboxes = append(c.Mailboxes, played.SuppressedAddresses()...)
		return c
	}),
)
