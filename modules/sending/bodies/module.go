package bodies

import (
	"go.uber.org/fx"

	"github.com/postrider/postrider/runtime/node"
)

// Module gives *Service and moves in the background. The object store is the assembly's matter.
var Module = fx.Module("sending/bodies",
	fx.Provide(New),
	fx.Provide(fx.Private, func(n *node.Node) Node { return n }),
	fx.Invoke(func(lc fx.Lifecycle, s *Service) { lc.Append(fx.StartStopHook(s.Start, s.Stop)) }),
)
