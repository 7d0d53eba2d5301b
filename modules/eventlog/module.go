package eventlog

import (
	"go.uber.org/fx"

	"github.com/postrider/postrider/runtime/ops/module"
	"github.com/postrider/postrider/runtime/work/bus"
)

// Module provides *Service.
var Module = fx.Module("eventlog",
	fx.Provide(New),
	fx.Invoke(func(lc fx.Lifecycle, s *Service) { lc.Append(fx.Hook{OnStart: s.Start, OnStop: s.Stop}) }),
	module.ProvideDrain(func(s *Service) module.Drain { return s.Drain }), // because open streams would delay a stop
	fx.Provide(
		fx.Private,
		func(b *bus.Bus) Log { return b.Log() },
	),
)
