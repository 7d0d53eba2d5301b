package accounts

import (
	"context"

	"go.uber.org/fx"

	"github.com/postrider/postrider/runtime/ops/module"
	"github.com/postrider/postrider/runtime/storage/clockstep"
)

// Module provides *Service and runs its background tasks.
var Module = fx.Module("accounts",
	fx.Provide(New),
	module.ProvideRepair(func(s *Service) clockstep.Repair {
		return clockstep.Repair{What: "hours of usage and alerts", Columns: []clockstep.TimeColumn{
			{Table: "usage_recounts", Name: "ready_at", Key: "account_id"},
			{Table: "security_alerts", Name: "due_at"},
		}, Run: s.reopenHours}
	}),
	fx.Invoke(func(lc fx.Lifecycle, s *Service) {
		lc.Append(fx.Hook{
			OnStart: func(ctx context.Context) error { return s.Start(ctx) },
			OnStop:  func(ctx context.Context) error { return s.Stop(ctx) },
		})
	}),
)
