package storage

import (
	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/accounts"
)

// Module gives *Service and runs its background work.
var Module = fx.Module("storage",
	fx.Provide(New),
	fx.Provide(fx.Private, func(s *accounts.Service) Accounts { return s }),
	fx.Invoke(func(lc fx.Lifecycle, s *Service) { lc.Append(fx.StartStopHook(s.Start, s.Stop)) }),
)
