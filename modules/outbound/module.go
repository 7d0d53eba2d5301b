package outbound

import (
	"context"

	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/runtime/ops/module"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/node"
)

// Module provides *Service, *Ways and *TLSRecorder, keeps the configuration up to date and stores the
// counts of TLS sessions.
var Module = fx.Module("outbound",
	fx.Provide(ConfigOf, New, NewWays, NewTLSRecorder),
	module.ProvideSweep(func(s *Service) module.Sweep {
		return module.Sweep{What: "counters of sources and TLS sessions", Run: s.Sweep}
	}),
	fx.Provide(
		fx.Private,
		func(s *accounts.Service) Accounts { return s },
		func(s *domains.Service) Domains { return s },
		func(s *db.Signals) Signals { return s },
		func(n *node.Node) Nodes { return n },
	),
	fx.Invoke(func(lc fx.Lifecycle, w *Ways, r *TLSRecorder) {
		lc.Append(fx.Hook{
			OnStart: func(ctx context.Context) error { return w.Start(ctx) },
			OnStop:  func(ctx context.Context) error { return w.Stop(ctx) },
		})
		lc.Append(fx.Hook{
			OnStart: func(ctx context.Context) error { return r.Start(ctx) },
			OnStop:  func(ctx context.Context) error { return r.Stop(ctx) },
		})
	}),
)
