package suppression

import (
	"context"

	"go.uber.org/fx"

	"github.com/postrider/postrider/runtime/work/bus"
)

// Module provides *Service and subscribes it to bounces, failures and complaints.
var Module = fx.Module("suppression",
	fx.Provide(ConfigOf, New),
	fx.Provide(
		fx.Private,
		func(b *bus.Bus) Bus { return b },
	),
	// Fx runs this before the first start hook, so the bus has not started yet.
	fx.Invoke(func(lc fx.Lifecycle, s *Service, b *bus.Bus) {
		b.Register(s.consumer())
		lc.Append(fx.Hook{
			OnStart: func(ctx context.Context) error { return s.Start(ctx) },
			OnStop:  func(ctx context.Context) error { return s.Stop(ctx) },
		})
	}),
)
