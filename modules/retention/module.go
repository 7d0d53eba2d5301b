package retention

import (
	"context"

	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/bus"
)

// Module gives *Service and runs its purges.
var Module = fx.Module("retention",
	fx.Provide(New),
	fx.Provide(
		fx.Private,
		func(s *accounts.Service) Accounts { return s },
		func(b *bus.Bus) Facts { return b },
	),
	fx.Invoke(func(lc fx.Lifecycle, s *Service) {
		lc.Append(fx.Hook{
			OnStart: func(ctx context.Context) error { return s.Start(ctx) },
			OnStop:  func(ctx context.Context) error { return s.Stop(ctx) },
		})
	}),
)
