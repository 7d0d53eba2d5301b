package retention

import (
	"context"

	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/inbound"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/modules/suppression"
	"github.com/postrider/postrider/modules/tracking"
	"github.com/postrider/postrider/modules/webhooks"
	"github.com/postrider/postrider/runtime/ops/module"
	"github.com/postrider/postrider/runtime/work/bus"
)

// Module provides *Service and runs its purges.
var Module = fx.Module("retention",
	fx.Provide(New),
	fx.Provide(
		fx.Private,
		func(s *accounts.Service) Accounts { return s },
		func(b *bus.Bus) Facts { return b },
		module.Nearby[Mail, records.Service],
		module.Nearby[Inbox, inbound.Service],
		module.Nearby[Follower, tracking.Service],
		module.Nearby[Blocklist, suppression.Service],
		module.Nearby[Listeners, webhooks.Service],
	),
	fx.Invoke(func(lc fx.Lifecycle, s *Service) {
		lc.Append(fx.Hook{
			OnStart: func(ctx context.Context) error { return s.Start(ctx) },
			OnStop:  func(ctx context.Context) error { return s.Stop(ctx) },
		})
	}),
)
