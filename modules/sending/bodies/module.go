package bodies

import (
	"go.uber.org/fx"

	"github.com/postrider/postrider/runtime/ops/module"
	"github.com/postrider/postrider/runtime/storage/clockstep"
	"github.com/postrider/postrider/runtime/work/node"
)

// Module provides *Service and moves bodies in the background. The assembly provides the object store.
var Module = fx.Module("sending/bodies",
	fx.Provide(New),
	module.ProvideRepair(func(s *Service) clockstep.Repair {
		return clockstep.Repair{What: "moves of bodies", Columns: []clockstep.TimeColumn{
			{Table: "body_moves", Name: "due_at", Where: "remove OR attempts > 0", Limit: moveWait.Max, Reset: moveWait.Max},
		}, Run: s.rewindWalk}
	}),
	fx.Provide(fx.Private, func(n *node.Node) Node { return n }),
	fx.Invoke(func(lc fx.Lifecycle, s *Service) { lc.Append(fx.StartStopHook(s.Start, s.Stop)) }),
)
