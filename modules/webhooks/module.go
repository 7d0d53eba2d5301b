package webhooks

import (
	"context"
	"time"

	"go.uber.org/fx"

	"github.com/postrider/postrider/runtime/ops/module"
	"github.com/postrider/postrider/runtime/storage/clockstep"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/bus"
	"github.com/postrider/postrider/runtime/work/node"
)

// Module provides *Service, subscribes it to every public event and starts deliveries.
var Module = fx.Module("webhooks",
	fx.Provide(ConfigOf, New),
	module.ProvideSweep(func(s *Service) module.Sweep { return module.Sweep{What: "webhook deliveries", Run: s.Sweep} }),
	module.ProvideRepair(func() clockstep.Repair {
		return clockstep.Repair{What: "webhook deliveries", Columns: []clockstep.TimeColumn{
			{Table: "webhook_works", Name: "due_at", Where: "attempts = 0"},
			{Table: "webhook_works", Name: "due_at", Where: "attempts > 0", Limit: lease, Reset: lease},
			{Table: "webhooks", Name: "previous_secret_until", Limit: 24 * time.Hour, Reset: 24 * time.Hour},
		}}
	}),
	module.ProvideDropRule(unneededMonths),
	fx.Provide(
		fx.Private,
		func(s *db.Signals) Signals { return s },
		func(n *node.Node) Node { return n },
		func(b *bus.Bus) Publisher { return b },
	),
	// Fx runs this before the first start hook, so the bus has not started.
	fx.Invoke(func(lc fx.Lifecycle, s *Service, b *bus.Bus) {
		if c := s.newConsumer(); len(c.Types) > 0 { // otherwise none of the enabled modules publishes events
			b.Register(c)
		}
		lc.Append(fx.Hook{
			OnStart: func(ctx context.Context) error { return s.Start(ctx) },
			OnStop:  func(ctx context.Context) error { return s.Stop(ctx) },
		})
	}),
)
