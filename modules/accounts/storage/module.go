package storage

import (
	"time"

	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/ops/module"
	"github.com/postrider/postrider/runtime/storage/clockstep"
)

// Module provides *Service and runs its background work.
var Module = fx.Module("storage",
	fx.Provide(New),
	module.ProvideRepair(func() clockstep.Repair {
		return clockstep.Repair{What: "measurements and allowances of stored bytes", Columns: []clockstep.TimeColumn{
			{Table: "storage_counters", Name: "due_at", Limit: 24 * time.Hour, Reset: 24 * time.Hour},
			{Table: "storage_allowances", Name: "expires_at", Limit: livesInTable, Reset: livesInTable},
		}}
	}),
	fx.Provide(fx.Private, func(s *accounts.Service) Accounts { return s }),
	fx.Invoke(func(lc fx.Lifecycle, s *Service) { lc.Append(fx.StartStopHook(s.Start, s.Stop)) }),
)
