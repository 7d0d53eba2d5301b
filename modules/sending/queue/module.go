package queue

import (
	"go.uber.org/fx"

	"github.com/postrider/postrider/runtime/work/bus"
)

// Module provides *Service.
var Module = fx.Module("sending/queue",
	fx.Provide(New),
	fx.Provide(fx.Private, func(b *bus.Bus) Bus { return b }),
)
