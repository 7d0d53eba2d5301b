package templates

import "go.uber.org/fx"

// Module gives *Service.
var Module = fx.Module("templates",
	fx.Provide(New),
)
