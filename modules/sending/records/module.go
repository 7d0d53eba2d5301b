package records

import (
	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/sending/bodies"
	"github.com/postrider/postrider/modules/statistics"
	"github.com/postrider/postrider/runtime/ops/module"
	"github.com/postrider/postrider/runtime/work/bus"
)

// Module provides *Service.
var Module = fx.Module("sending/records",
	fx.Provide(New),
	fx.Provide(fx.Private, func(b *bus.Bus) (Bus, Timeline) { return b, b.Log() },
		func(s *accounts.Service) Usage { return s },
		func(s *bodies.Service) Store { return s },
		module.Nearby[Statistics, statistics.Service]),
)
