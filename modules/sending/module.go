package sending

import (
	"context"

	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/storage"
	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/modules/suppression"
	"github.com/postrider/postrider/modules/templates"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/web/idempotency"
	"github.com/postrider/postrider/runtime/work/bus"
)

// Module provides *Service. The other packages of module sending have separate Fx modules; the registry lists
// them in one row.
var Module = fx.Module("sending",
	fx.Provide(New),
	fx.Provide(
		fx.Private,
		func(s *accounts.Service) (Accounts, Quota) { return s, s },
		func(s *storage.Service) Storage { return s },
		func(s *domains.Service) Domains { return s },
		func(s *suppression.Service) Suppression { return s },
		func(s *templates.Service) Templates { return s },
		func(s *records.Service) Records { return s },
		func(b *bus.Bus) Bus { return b },
		func(s *idempotency.Store) Answers { return s },
		func(s *db.Signals) Signals { return s },
	),
	fx.Invoke(func(lc fx.Lifecycle, s *Service) {
		lc.Append(fx.StopHook(func(ctx context.Context) error { return s.Stop(ctx) }))
	}),
)
