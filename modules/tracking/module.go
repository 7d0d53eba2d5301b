package tracking

import "go.uber.org/fx"

// Module gives *Rewriter.
var Module = fx.Module("tracking", fx.Provide(NewRewriter))
