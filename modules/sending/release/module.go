package release

import (
	"context"

	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/modules/suppression"
	"github.com/postrider/postrider/runtime/ops/module"
	"github.com/postrider/postrider/runtime/storage/clockstep"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/bus"
	"github.com/postrider/postrider/runtime/work/node"
)

// Module releases scheduled emails while the process runs.
var Module = fx.Module("sending/release",
	fx.Provide(New),
	module.ProvideRepair(func() clockstep.Repair {
		return clockstep.Repair{What: "scheduled emails that could not be released", Columns: []clockstep.TimeColumn{
			{Table: "emails", Name: "release_at", Where: "status = 'queued' OR scheduled_at < release_at", Limit: releaseAgain, Reset: releaseAgain},
		}}
	}),
	fx.Provide(
		fx.Private,
		func(s *accounts.Service) (Accounts, Quota) { return s, s },
		func(s *domains.Service) Domains { return s },
		func(s *suppression.Service) Suppression { return s },
		func(b *bus.Bus) Bus { return b },
		func(s *db.Signals) Signals { return s },
		func(n *node.Node) Holder { return n },
	),
	fx.Invoke(func(lc fx.Lifecycle, s *Service) {
		lc.Append(fx.Hook{
			OnStart: func(ctx context.Context) error { return s.Start(ctx) },
			OnStop:  func(ctx context.Context) error { return s.Stop(ctx) },
		})
	}),
)
