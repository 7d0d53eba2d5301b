package billing

import "go.uber.org/fx"

// Module gives *Service.
var Module = fx.Module("billing", fx.Provide(ConfigOf, New))
