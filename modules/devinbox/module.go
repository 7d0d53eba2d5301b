package devinbox

import (
	"context"

	"go.uber.org/fx"

	"github.com/postrider/postrider/runtime/ops/module"
)

// Module provides *Service and runs the sink. It starts before the sending module, which delivers to it, and
// stops after it.
var Module = fx.Module("devinbox",
	fx.Provide(New),
	module.ProvidePersonalData(func(s *Service) module.PersonalData {
		return module.PersonalData{What: "captured mail of test mode", Purge: s.Purge, Erase: s.Erase}
	}),
	module.ProvideDrain(func(s *Service) module.Drain { return s.Drain }), // because waiting requests would delay a stop
	fx.Invoke(func(lc fx.Lifecycle, s *Service) {
		lc.Append(fx.Hook{
			OnStart: func(ctx context.Context) error { return s.Start(ctx) },
			OnStop:  func(ctx context.Context) error { return s.Stop(ctx) },
		})
	}),
)
