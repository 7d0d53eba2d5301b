package relay

import (
	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

// Module provides *Service and *Credentials. The assembly provides their listeners.
var Module = fx.Module("relay",
	fx.Provide(New, NewCredentials),
	fx.Provide(
		fx.Private,
		func(s *sending.Service) Sender { return s },
		func(s *accounts.Service) Accounts { return s },
		func(s *idempotency.Store) Answers { return s },
		func(s *db.Signals) Signals { return s },
	),
	fx.Invoke(func(lc fx.Lifecycle, c *Credentials) { lc.Append(fx.StartStopHook(c.Start, c.Stop)) }),
)
