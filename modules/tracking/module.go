package tracking

import (
	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/modules/tracking/hosts"
	"github.com/postrider/postrider/modules/tracking/linkrules"
	"github.com/postrider/postrider/runtime/ops/module"
	"github.com/postrider/postrider/runtime/storage/clockstep"
	"github.com/postrider/postrider/runtime/work/bus"
)

// Module provides *Rewriter, *Service and *hosts.Service, records opens and clicks, and checks tracking
// hosts.
var Module = fx.Module("tracking",
	fx.Provide(ConfigOf, NewRewriter, New, hosts.ConfigOf, hosts.New, linkrules.ConfigOf, linkrules.New),
	module.ProvideRepair(func() clockstep.Repair {
		return clockstep.Repair{What: "checks of tracking hosts", Columns: []clockstep.TimeColumn{
			{Table: "tracking_hosts", Name: "due_at", Limit: hosts.LongestPause, Reset: hosts.LongestPause},
		}}
	}),
	fx.Provide(
		fx.Private,
		func(b *bus.Bus) Bus { return b },
		func(s *domains.Service) hosts.Domains { return s },
	),
	// Fx runs this before the first start hook, so the bus has not started.
	fx.Invoke(func(lc fx.Lifecycle, s *Service, h *hosts.Service, rules *linkrules.Rules, b *bus.Bus) {
		b.Register(h.Consumer())
		lc.Append(fx.StartStopHook(h.Start, h.Stop))
		lc.Append(fx.StartStopHook(rules.Start, rules.Stop))
		lc.Append(fx.StartStopHook(s.Start, s.Stop))
	}),
)
