package domains

import (
	"context"

	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/domains/publish"
	"github.com/postrider/postrider/modules/domains/signing"
)

// Module gives *Service, runs its checks, and gives *publish.Service.
var Module = fx.Module("domains",
	fx.Provide(ConfigOf, signing.OpenEngine, New, publish.New),
	fx.Provide(fx.Private, func(s *Service) publish.Domains { return s }),
	fx.Invoke(func(lc fx.Lifecycle, s *Service) {
		lc.Append(fx.Hook{
			OnStart: func(ctx context.Context) error { return s.Start(ctx) },
			OnStop:  func(ctx context.Context) error { return s.Stop(ctx) },
		})
	}),
)
