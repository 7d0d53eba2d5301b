package hooks

import (
	"go.uber.org/fx"

	"github.com/postrider/postrider/runtime/ops/module"
)

// Module gives *Service.
var Module = fx.Module("devinbox/hooks",
	fx.Provide(New),
	module.Drains(func(s *Service) module.Drain { return s.Drain }), // who waits for a request would hold a stop up
)
