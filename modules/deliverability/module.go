package deliverability

import (
	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/modules/statistics"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/mail/reportaddress"
	"github.com/postrider/postrider/runtime/ops/config"
	"github.com/postrider/postrider/runtime/ops/module"
	"github.com/postrider/postrider/runtime/storage/clockstep"
	"github.com/postrider/postrider/runtime/work/bus"
)

// Module provides *Service, which receives mail to report addresses.
var Module = fx.Module("deliverability",
	fx.Provide(ConfigOf, New, newSigner),
	module.ProvideRecipients(func(s *Service) module.Recipients {
		return module.Recipients{Handler: s.ListenerHandler(), Elsewhere: Elsewhere}
	}),
	module.ProvideSweep(func(s *Service) module.Sweep { return module.Sweep{What: "reports of receivers", Run: s.sweep} }),
	module.ProvideRepair(func() clockstep.Repair {
		return clockstep.Repair{What: "checks of deliverability", Columns: []clockstep.TimeColumn{
			{Table: "deliverability_turns", Name: "due_at", Limit: watchEvery, Reset: turnWithin},
		}}
	}),
	fx.Provide(
		fx.Private,
		func(s *domains.Service) Domains { return s },
		module.Nearby[Statistics, statistics.Service],
		func(r *dnsx.Resolver) Resolver { return r },
		func(b *bus.Bus) Publisher { return b },
	),
	fx.Invoke(func(lc fx.Lifecycle, s *Service) {
		lc.Append(fx.Hook{OnStart: s.Start, OnStop: s.Stop})
	}),
)

func newSigner(cfg setting.Values, box *secret.Box) (*reportaddress.Signer, error) {
	return reportaddress.New(config.ReturnPathHost.Get(cfg), box.DeriveEach("report addresses")...)
}
