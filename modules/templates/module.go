package templates

import "go.uber.org/fx"

// Module provides *Service.
var Module = fx.Module("templates",
	fx.Provide(New),
)
