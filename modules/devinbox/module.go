package devinbox

import (
	"context"

	"go.uber.org/fx"

	"github.com/postrider/postrider/runtime/ops/module"
)

// Module provides *Service and runs the sink. It starts when it is created, before the modules that deliver to it, and
// stops after them.
var Module = fx.Module("devinbox",
	fx.Provide(func(lc fx.Lifecycle, p Params) (*Service, error) {
		s, err := New(p)
		if err == nil {
			lc.Append(fx.Hook{
				OnStart: func(ctx context.Context) error { return s.Start(ctx) },
				OnStop:  func(ctx context.Context) error { return s.Stop(ctx) },
			})
		}
		return s, err
	}),
	module.ProvidePersonalData(func(s *Service) module.PersonalData {
		return module.PersonalData{What: "captured mail of test mode", Purge: s.Purge, Erase: s.Erase}
	}),
	module.ProvideDrain(func(s *Service) module.Drain { return s.Drain }), // because waiting requests would delay a stop
	fx.Invoke(func(*Service) {}),
)
