package domains

import (
	"context"

	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/domains/publish"
	"github.com/postrider/postrider/modules/domains/signing"
	"github.com/postrider/postrider/runtime/mail/signer"
	"github.com/postrider/postrider/runtime/ops/module"
	"github.com/postrider/postrider/runtime/storage/clockstep"
)

// Module provides *Service and *publish.Service, and runs the domain checks.
var Module = fx.Module("domains",
	fx.Provide(ConfigOf, signing.OpenEngine, New, publish.New),
	fx.Provide(fx.Private, func(s *Service) publish.Domains { return s }),
	module.ProvideRepair(func() clockstep.Repair {
		return clockstep.Repair{What: "checks and claims of domains", Columns: []clockstep.TimeColumn{
			{Table: "domains", Name: "due_at", Limit: healthy * 11 / 10, Reset: healthy * 11 / 10},
			{Table: "domain_claims", Name: "expires_at", Limit: claimLife, Reset: claimLife},
		}}
	}),
	module.ProvideHealth(func(engine *signer.Engine) module.Health {
		return module.Health{Name: "signer", Ask: func(context.Context) (module.Condition, error) {
			return module.Condition{Details: []string{engine.Name()}}, nil
		}}
	}),
	fx.Invoke(func(lc fx.Lifecycle, s *Service) {
		lc.Append(fx.Hook{
			OnStart: func(ctx context.Context) error { return s.Start(ctx) },
			OnStop:  func(ctx context.Context) error { return s.Stop(ctx) },
		})
	}),
)
