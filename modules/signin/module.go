package signin

import (
	"context"

	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/accounts/alerts"
	"github.com/postrider/postrider/modules/accounts/team"
	"github.com/postrider/postrider/modules/signin/guessing"
	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/module"
)

// Module gives *Service, which lets people in.
var Module = fx.Module("signin",
	fx.Provide(ConfigOf, New, NewGuard, func(g *guessing.Guard) team.MailBounds { return g }),
	module.Sweeps(func(s *Service) module.Sweep {
		return module.Sweep{What: "old sessions", Run: s.sweepWith(sweepSessionsSQL)}
	}),
	module.Sweeps(func(s *Service) module.Sweep {
		return module.Sweep{What: "old sign-in links", Run: s.sweepWith(sweepLinksSQL)}
	}),
	module.Sweeps(func(s *Service) module.Sweep {
		return module.Sweep{What: "security alerts", Run: func(ctx context.Context) (int64, error) { return alerts.Sweep(ctx, s.db.SQL) }}
	}),
	module.Sweeps(func(s *Service) module.Sweep {
		return module.Sweep{What: "counts of wrong sign-ins", Run: s.guard.Sweep}
	}),
	module.Sweeps(func(s *Service) module.Sweep {
		return module.Sweep{What: "sign-ins that were begun", Run: s.sweepWith(sweepChallengesSQL)}
	}),
	fx.Invoke(func(lc fx.Lifecycle, s *Service) {
		lc.Append(fx.Hook{
			OnStart: func(ctx context.Context) error { return s.Start(ctx) },
			OnStop:  func(ctx context.Context) error { return s.Stop(ctx) },
		})
	}),
)

const sweepChallengesSQL = `
DELETE FROM sign_in_challenges WHERE id IN (SELECT id FROM sign_in_challenges WHERE expires_at < now() LIMIT 10000 FOR UPDATE SKIP LOCKED)`

func (s *Service) sweepWith(statement string) func(ctx context.Context) (int64, error) {
	return func(ctx context.Context) (int64, error) {
		n, err := db.Exec(ctx, s.db.SQL, statement)
		return int64(n), err
	}
}
