package inbound

import (
	"context"

	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/storage"
	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/modules/statistics"
	"github.com/postrider/postrider/runtime/ops/module"
	"github.com/postrider/postrider/runtime/storage/blob"
	"github.com/postrider/postrider/runtime/storage/clockstep"
	"github.com/postrider/postrider/runtime/work/bus"
)

// Module provides *Service, which receives mail. The assembly provides Verifier, SpamFilter and the object
// store.
var Module = fx.Module("inbound",
	fx.Provide(ConfigOf, New),
	module.ProvideRepair(func() clockstep.Repair {
		return clockstep.Repair{What: "moves of received contents", Columns: []clockstep.TimeColumn{
			{Table: "received_contents", Name: "due_at", Limit: moveLease, Reset: moveLease},
		}}
	}),
	module.ProvideRecipients(func(s *Service) module.Recipients { return module.Recipients{Handler: s.SMTPHandler()} }),
	fx.Provide(
		fx.Private,
		func(s *accounts.Service) Accounts { return s },
		func(s *storage.Service) Storage { return s },
		func(s *domains.Service) Domains { return s },
		func(b *bus.Bus) Bus { return b },
		func(b blob.Store) Objects { return b },
		module.Nearby[Sender, sending.Service],
		module.Nearby[Statistics, statistics.Service],
	),
	fx.Invoke(func(lc fx.Lifecycle, s *Service) {
		lc.Append(fx.Hook{
			OnStart: func(ctx context.Context) error { return s.Start(ctx) },
			OnStop:  func(ctx context.Context) error { return s.Stop(ctx) },
		})
	}),
)
