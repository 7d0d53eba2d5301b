package tracking

import (
	"context"

	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/runtime/bus"
)

// Module gives *Rewriter and *Service, and records.
var Module = fx.Module("tracking",
	fx.Provide(ConfigOf, NewRewriter, New),
	fx.Provide(
		fx.Private,
		func(b *bus.Bus) Bus { return b },
		func(s *domains.Service) Domains { return s },
	),
	// When Fx joins the modules, before the first hook runs: the bus has not started.
	fx.Invoke(func(lc fx.Lifecycle, s *Service, r *Rewriter, b *bus.Bus) {
		b.Register(s.consumer())
		lc.Append(fx.Hook{
			OnStart: func(ctx context.Context) error { return s.Start(ctx) },
			OnStop:  func(ctx context.Context) error { r.Close(); return s.Stop(ctx) },
		})
	}),
)
