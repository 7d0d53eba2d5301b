package sms

import (
	"context"

	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/sms/handover"
	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/module"
	"github.com/postrider/postrider/runtime/node"
)

// Module gives *Service, which stores text messages and hands them over.
var Module = fx.Module("sms",
	fx.Provide(ConfigOf, New),
	module.Keeps(func(s *Service) module.Kept {
		return module.Kept{What: "text messages", Purge: s.Purge, Erase: s.Erase, EraseUser: s.EraseUser}
	}),
	module.Sweeps(func(s *Service) module.Sweep {
		return module.Sweep{What: "counters of text messages", Run: s.Sweep}
	}),
	module.Healths(func(s *Service) module.Health { return module.Health{Name: "sms", Ask: s.condition} }),
	fx.Provide(
		fx.Private,
		func(s *accounts.Service) Accounts { return s },
		func(s *db.Signals) handover.Signals { return s },
		func(n *node.Node) handover.Node { return n },
	),
	fx.Invoke(func(lc fx.Lifecycle, s *Service) {
		lc.Append(fx.Hook{
			OnStart: func(ctx context.Context) error { return s.Start(ctx) },
			OnStop:  func(ctx context.Context) error { return s.Stop(ctx) },
		})
	}),
)
