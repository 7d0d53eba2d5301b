package bounces

import (
	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/runtime/bus"
)

// Module gives *Service. Who listens is the assembly's matter.
var Module = fx.Module("bounces",
	fx.Provide(New),
	fx.Provide(
		fx.Private,
		func(s *records.Service) Mail { return s },
		func(b *bus.Bus) Bus { return b },
	),
)
