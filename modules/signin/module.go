package signin

import (
	"context"
	"fmt"
	"time"

	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/accounts/alerts"
	"github.com/postrider/postrider/modules/accounts/team"
	"github.com/postrider/postrider/modules/signin/guessing"
	"github.com/postrider/postrider/runtime/ops/module"
	"github.com/postrider/postrider/runtime/storage/clockstep"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/bus"
)

// Module provides *Service and runs its workers and sweeps.
var Module = fx.Module("signin",
	fx.Provide(ConfigOf, New, NewGuard, func(g *guessing.Guard) team.MailBounds { return g }),
	module.ProvideRepair(func(s *Service) clockstep.Repair {
		return clockstep.Repair{What: "links, sessions and failure counters", Columns: []clockstep.TimeColumn{
			{Table: "sign_in_links", Name: "due_at"},
			{Table: "sign_in_challenges", Name: "expires_at", Limit: 2 * time.Hour, Reset: 2 * time.Hour},
		}, Run: s.repairAfterStep}
	}),
	module.ProvideSweep(func(s *Service) module.Sweep {
		return module.Sweep{What: "old sessions", Run: s.sweepWith(sweepSessionsSQL)}
	}),
	module.ProvideSweep(func(s *Service) module.Sweep {
		return module.Sweep{What: "old sign-in links", Run: s.sweepWith(sweepLinksSQL)}
	}),
	module.ProvideSweep(func(s *Service) module.Sweep {
		return module.Sweep{What: "security alerts",
			Run: func(ctx context.Context) (int64, error) { return alerts.Sweep(ctx, s.db.SQL) }}
	}),
	module.ProvideSweep(func(s *Service) module.Sweep {
		return module.Sweep{What: "sign-in failure counters", Run: s.guard.Sweep}
	}),
	module.ProvideSweep(func(s *Service) module.Sweep {
		return module.Sweep{What: "expired sign-in challenges", Run: s.sweepWith(sweepChallengesSQL)}
	}),
	// Fx runs this before the first start hook, so the bus has not started.
	fx.Invoke(func(lc fx.Lifecycle, s *Service, b *bus.Bus) {
		b.Register(alerts.NewConsumer())
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

const (
	// These statements keep the remaining lifetime of links and sessions that were created in the future.
	repairLinksSQL = `UPDATE sign_in_links SET expires_at = expires_at - (created_at - now()), created_at = now() WHERE created_at > now()`

	repairSessionsSQL = `
UPDATE sessions SET expires_at = expires_at - greatest(created_at - now(), interval '0'), created_at = least(created_at, now()),
	confirmed_at = least(confirmed_at, now()), last_used_at = least(last_used_at, now())
WHERE greatest(created_at, confirmed_at, last_used_at) > now()`
)

// repairAfterStep corrects links, sessions and failure counters after the database clock stepped back
// (runtime/storage/clockstep).
func (s *Service) repairAfterStep(ctx context.Context, _ clockstep.Step) (rows int64, err error) {
	for what, statement := range map[string]string{"links": repairLinksSQL, "sessions": repairSessionsSQL} {
		n, err := db.Exec(ctx, s.db.SQL, statement)
		if rows += int64(n); err != nil {
			return rows, fmt.Errorf("repair %s: %w", what, err)
		}
	}
	counts, err := s.guard.Reset(ctx)
	return rows + counts, err
}
