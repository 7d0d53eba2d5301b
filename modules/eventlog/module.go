package eventlog

import (
	"go.uber.org/fx"

	"github.com/postrider/postrider/runtime/bus"
	"github.com/postrider/postrider/runtime/db"
)

// Module gives *Service.
var Module = fx.Module("eventlog",
	fx.Provide(New),
	fx.Provide(
		fx.Private,
		func(b *bus.Bus) Log { return b.Log() },
		func(s *db.Signals) bus.Signals { return s },
	),
)
