package tracking

import (
	"context"

	"go.uber.org/fx"

	"github.com/postrider/postrider/runtime/bus"
)

// Module gives *Rewriter and *Service, and records.
var Module = fx.Module("tracking",
	fx.Provide(NewRewriter, New),
	fx.Provide(fx.Private, func(b *bus.Bus) Bus { return b }),
	fx.Invoke(func(lc fx.Lifecycle, s *Service) {
		lc.Append(fx.Hook{
			OnStart: func(ctx context.Context) error { return s.Start(ctx) },
			OnStop:  func(ctx context.Context) error { return s.Stop(ctx) },
		})
	}),
)
