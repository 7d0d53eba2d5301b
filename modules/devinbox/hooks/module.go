package hooks

import (
	"go.uber.org/fx"

	"github.com/postrider/postrider/runtime/ops/module"
)

// Module provides *Service.
var Module = fx.Module("devinbox/hooks",
	fx.Provide(New),
	module.ProvideDrain(func(s *Service) module.Drain { return s.Drain }), // because waiting requests would delay a stop
)
