package domains

import (
	"context"

	"go.uber.org/fx"
)

// Module gives *Service, runs its checks, and gives *Publisher.
var Module = fx.Module("domains",
	fx.Provide(ConfigOf, New, NewPublisher),
	fx.Invoke(func(lc fx.Lifecycle, s *Service) {
		lc.Append(fx.Hook{
			OnStart: func(ctx context.Context) error { return s.Start(ctx) },
			OnStop:  func(ctx context.Context) error { return s.Stop(ctx) },
		})
	}),
)
