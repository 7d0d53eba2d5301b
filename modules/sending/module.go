package sending

import (
	"context"

	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/runtime/bus"
	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/idempotency"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
)

// Module gives *Service and runs its deliveries.
var Module = fx.Module("sending",
	fx.Provide(New),
	fx.Provide(
		fx.Private,
		func(s *accounts.Service) Accounts { return s },
		func(s *domains.Service) Domains { return s },
		func(b *bus.Bus) (Bus, Timeline) { return b, b.Log() },
		func(s *idempotency.Store) Answers { return s },
		func(t *smtpclient.Transport) Transport { return t },
		func(s *db.Signals) Signals { return s },
	),
	fx.Invoke(func(lc fx.Lifecycle, s *Service) {
		lc.Append(fx.Hook{
			OnStart: func(ctx context.Context) error { return s.Start(ctx) },
			OnStop:  func(ctx context.Context) error { return s.Stop(ctx) },
		})
	}),
)
