package statistics

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"go.uber.org/fx"

	"github.com/postrider/postrider/runtime/bus"
	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/module"
	"github.com/postrider/postrider/runtime/worker"
)

// Module gives *Service and counts in the background.
var Module = fx.Module("statistics",
	fx.Provide(New),
	fx.Provide(fx.Private, func(b *bus.Bus) Facts { return b.Log() }),
	module.Sweeps(func(s *Service) module.Sweep { return module.Sweep{What: "old statistics", Run: s.sweep} }),
	fx.Invoke(func(lc fx.Lifecycle, s *Service) {
		lc.Append(fx.Hook{OnStart: s.Start, OnStop: s.Stop})
	}),
)

// Facts is what the service needs of the event log.
type Facts interface {
	Horizon(ctx context.Context) (time.Time, error)
}

// Params of New.
type Params struct {
	fx.In

	DB      *db.DB
	Facts   Facts
	Logger  *slog.Logger
	Workers *worker.Metrics `optional:"true"`
}

// Service counts what became of mail, and answers for it. Safe for concurrent use, and in several
// processes.
type Service struct {
	db    *db.DB
	facts Facts
	tasks *worker.Tasks
}

// New makes the service.
func New(p Params) *Service { return &Service{p.DB, p.Facts, worker.NewTasks(p.Logger, p.Workers)} }

// every is how often facts are counted. Answers are not later for it.
const every = time.Minute

// Start begins to count.
func (s *Service) Start(context.Context) error {
	s.tasks.Start(worker.Every("statistics", every, s.Count))
	return nil
}

// Stop ends that.
func (s *Service) Stop(ctx context.Context) error {
	s.tasks.Stop(ctx)
	return nil
}

// KeptMonths is how long statistics are kept, when the messages they are about are long gone.
const KeptMonths = 25

const sweepBatch = 1000

func (s *Service) sweep(ctx context.Context) (deleted int64, err error) {
	for _, table := range []string{"statistics", "statistics_latencies", "statistics_reasons", "statistics_received"} {
		statement := `DELETE FROM ` + table + ` WHERE ctid IN (SELECT ctid FROM ` + table + ` WHERE start < now() - $1 * interval '1 month' LIMIT $2 FOR UPDATE SKIP LOCKED)`
		for n := sweepBatch; n == sweepBatch; deleted += int64(n) {
			if n, err = db.Exec(ctx, s.db.SQL, statement, KeptMonths, sweepBatch); err != nil {
				return deleted, fmt.Errorf("sweep statistics: %w", err)
			}
		}
	}
	return deleted, nil
}
