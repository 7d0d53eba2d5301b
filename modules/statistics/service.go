package statistics

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/statistics/store"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/ops/module"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/months"
	"github.com/postrider/postrider/runtime/work/bus"
)

// Module provides *Service, which counts in the background.
var Module = fx.Module("statistics",
	fx.Provide(New),
	fx.Provide(fx.Private, func(b *bus.Bus) (Facts, Publisher) { return b.Log(), b }),
	module.ProvideSweep(func(s *Service) module.Sweep { return module.Sweep{What: "old statistics", Run: s.sweep} }),
	module.ProvideHealth(func(s *Service) module.Health { return s.health() }),
	fx.Invoke(func(lc fx.Lifecycle, s *Service, registry prometheus.Registerer) error {
		lc.Append(fx.Hook{OnStart: s.Start, OnStop: s.Stop})
		return s.register(registry)
	}),
	dropMonths("statistics_days"), dropMonths("statistics_months"), dropMonths("statistics_reasons"),
	dropMonths("statistics_received"),
)

// dropMonths drops the months of a partitioned table once they exceed the retention.
func dropMonths(table string) fx.Option {
	return module.ProvideDropRule(func() months.DropRule {
		return months.DropRule{Table: table,
			Ask: func(_ context.Context, _ db.Execer, below string, now time.Time) (bool, error) {
				end, err := time.Parse(time.RFC3339, below)
				return err == nil && !end.After(now.AddDate(0, -KeptMonths, 0)), err
			}}
	})
}

// Facts is the part of the event log that the service needs.
type Facts interface {
	Horizon(ctx context.Context) (time.Time, error)
}

// Params contains the parameters of New.
type Params struct {
	fx.In

	DB        *db.DB
	Facts     Facts
	Publisher Publisher // nil in a process that does not check rates
	Logger    *slog.Logger
	Workers   *worker.Metrics `optional:"true"`
}

// Service counts and reports the results of mail. It is safe for concurrent use, including across processes.
type Service struct {
	db        *db.DB
	facts     Facts
	publisher Publisher
	log       *slog.Logger
	tasks     *worker.Tasks

	counting sync.Mutex
	batch    pace
	outcomes *outcomes
}

// New returns a new Service.
func New(p Params) *Service {
	return &Service{db: p.DB, facts: p.Facts, publisher: p.Publisher, log: p.Logger,
		tasks: worker.NewTasks(p.Logger, p.Workers), batch: newPace(), outcomes: newOutcomes()}
}

const (
	// every is the interval at which facts are counted. With many facts, they are counted more often.
	every = time.Minute
	// glance is the interval at which the service checks for a large backlog: manyFacts.
	glance    = 5 * time.Second
	manyFacts = 1000
	// packEvery is the interval at which the service checks for completed months.
	packEvery = 6 * time.Hour
)

// Start starts counting.
func (s *Service) Start(context.Context) error {
	var counted time.Time
	s.tasks.Start(worker.Every("statistics", glance, func(ctx context.Context) error {
		if time.Since(counted) < every {
			if many, err := s.hasBacklog(ctx, manyFacts); err != nil || !many {
				return err
			}
		}
		counted = time.Now()
		return s.Count(ctx)
	}))
	s.tasks.Start(worker.Every("packing of statistics", packEvery, s.Pack).WithFirstDelay(time.Minute),
		worker.Every("bounce and complaint rates", ratesEvery, s.CheckRates))
	s.tasks.Start(worker.Task{Name: "statistics of earlier versions", First: glance,
		Step: func(ctx context.Context) (time.Duration, error) {
			left, err := s.takeOver(ctx)
			if left {
				return time.Millisecond, err
			}
			return every, err
		}})
	return nil
}

// Stop stops counting.
func (s *Service) Stop(ctx context.Context) error {
	s.tasks.Stop(ctx)
	return nil
}

// Pack packs the rows of completed months.
func (s *Service) Pack(ctx context.Context) error {
	now, err := db.Now(ctx, s.db.SQL)
	if err != nil {
		return fmt.Errorf("pack statistics: %w", err)
	}
	return store.Pack(ctx, s.db, now)
}

// KeptMonths is how long statistics are kept, far longer than the emails themselves.
const KeptMonths = 25

// testDays is how long statistics of test mode are kept after their day: as long as its other data.
const testDays = 7

const sweepBatch = 1000

// sweep deletes old rows.
func (s *Service) sweep(ctx context.Context) (deleted int64, err error) {
	const isTest = `account_id > '` + string(id.TestTenant) + `_' AND account_id < '` + string(id.TestTenant) + "_~'"
	for _, table := range []string{"statistics_days", "statistics_months", "statistics_reasons",
		"statistics_received"} {
		testAge := fmt.Sprintf(`start < now() - interval '%d days'`, testDays+1)
		if table == "statistics_months" {
			testAge = "true" // only days older than that are packed (store.Settle)
		}
		for _, old := range []string{fmt.Sprintf(`start < now() - interval '%d months'`, KeptMonths),
			isTest + ` AND ` + testAge} {
			n, err := s.deleteRows(ctx, table, old)
			if deleted += n; err != nil {
				return deleted, err
			}
		}
	}
	return deleted, nil
}

// deleteRows deletes the rows of a table in batches. Rows of two partitions can have the same ctid, so the outer
// statement has the condition too.
func (s *Service) deleteRows(ctx context.Context, table, condition string) (deleted int64, err error) {
	statement := `DELETE FROM ` + table + ` WHERE ctid IN (SELECT ctid FROM ` + table + ` WHERE ` + condition +
		` LIMIT $1 FOR UPDATE SKIP LOCKED) AND ` + condition
	for {
		n, err := db.Exec(ctx, s.db.SQL, statement, sweepBatch)
		if err != nil {
			return deleted, fmt.Errorf("sweep %s: %w", table, err)
		}
		if deleted += int64(n); n < sweepBatch {
			return deleted, nil
		}
	}
}
