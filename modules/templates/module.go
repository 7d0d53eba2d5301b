package templates

import "go.uber.org/fx"

// Module gives *Service.
var Module = fx.Module("templates",
	fx.Provide(New),
	fx.Invoke(func(lc fx.Lifecycle, s *Service) { lc.Append(fx.StopHook(s.Stop)) }),
)
