package eventlog

import (
	"go.uber.org/fx"

	"github.com/postrider/postrider/runtime/bus"
	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/module"
)

// Module gives *Service.
var Module = fx.Module("eventlog",
	fx.Provide(New),
	module.Drains(func(s *Service) module.Drain { return s.Drain }), // streams would hold a stop up
	fx.Provide(
		fx.Private,
		func(b *bus.Bus) Log { return b.Log() },
		func(s *db.Signals) bus.Signals { return s },
	),
)
