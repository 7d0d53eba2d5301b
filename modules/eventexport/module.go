package eventexport

import (
	"go.uber.org/fx"

	"github.com/postrider/postrider/runtime/ops/module"
	"github.com/postrider/postrider/runtime/storage/clockstep"
	"github.com/postrider/postrider/runtime/work/bus"
	"github.com/postrider/postrider/runtime/work/node"
)

// Module provides *Service, which exports in the background.
var Module = fx.Module("eventexport",
	fx.Provide(ConfigOf, New),
	module.ProvideRepair(func(s *Service) clockstep.Repair {
		return clockstep.Repair{What: "the export of events", Run: s.rewind}
	}),
	module.ProvideHealth(func(s *Service) module.Health { return module.Health{Name: "event_export", Ask: s.condition} }),
	fx.Provide(
		fx.Private,
		func(b *bus.Bus) Facts { return b.Log() },
		func(n *node.Node) Node { return n },
	),
	fx.Invoke(func(lc fx.Lifecycle, s *Service) {
		lc.Append(fx.Hook{OnStart: s.Start, OnStop: s.Stop})
	}),
)
