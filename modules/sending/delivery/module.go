package delivery

import (
	"context"

	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/outbound"
	"github.com/postrider/postrider/modules/sending/compose"
	"github.com/postrider/postrider/modules/sending/handover"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
	"github.com/postrider/postrider/runtime/ops/module"
	"github.com/postrider/postrider/runtime/storage/clockstep"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/bus"
	"github.com/postrider/postrider/runtime/work/node"
)

// Module provides *Service and runs its deliveries.
var Module = fx.Module("sending/delivery",
	fx.Provide(New, func(s *Service) handover.Claimer { return s }),
	module.ProvideRepair(func(s *Service) clockstep.Repair {
		return clockstep.Repair{What: "recipients",
			Run: s.repairDueTimes}
	}),
	fx.Provide(
		fx.Private,
		func(s *accounts.Service) Accounts { return s },
		func(c *compose.Composer) Composer { return c },
		func(b *bus.Bus) Bus { return b },
		func(w *outbound.Ways) Ways { return w },
		func(t *smtpclient.Transport) Transport { return t },
		func(s *db.Signals) Signals { return s },
		func(n *node.Node) Node { return n },
	),
	fx.Invoke(func(lc fx.Lifecycle, s *Service) {
		lc.Append(fx.Hook{
			OnStart: func(ctx context.Context) error { return s.Start(ctx) },
			OnStop:  func(ctx context.Context) error { return s.Stop(ctx) },
		})
	}),
)
