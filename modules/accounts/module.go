package accounts

import (
	"context"

	"go.uber.org/fx"
)

// Module gives *Service and runs its background writer.
var Module = fx.Module("accounts",
	fx.Provide(New),
	fx.Invoke(func(lc fx.Lifecycle, s *Service) {
		lc.Append(fx.Hook{
			OnStart: func(ctx context.Context) error { return s.Start(ctx) },
			OnStop:  func(ctx context.Context) error { return s.Stop(ctx) },
		})
	}),
)
