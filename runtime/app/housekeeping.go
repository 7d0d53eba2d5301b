package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"go.uber.org/fx"

	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/ops/module"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/months"
	"github.com/postrider/postrider/runtime/storage/search"
	"github.com/postrider/postrider/runtime/work/bus"
)

const (
	// factsKept is how long messages wait for a disabled module, and how long facts that do not concern an email are
	// kept. Facts about an email are deleted with it (modules/retention), at the latest a year after it was sent.
	factsKept = 400 * 24 * time.Hour

	firstSweep = 5 * time.Minute // after the startup work
	sweepEvery = time.Hour
	firstMerge = 5 * time.Second
)

// factSweeper deletes old facts and the rows that depend on them.
type factSweeper interface {
	Sweep(ctx context.Context, keep time.Duration) (facts int64, err error)
}

// housekeeping deletes old rows in tables that belong to no module, and in those of modules that request it. It also
// maintains monthly partitions and the indexes of searches. Every process runs it; processes skip rows that another
// process is deleting.
type housekeeping struct {
	facts  factSweeper
	sweeps []module.Sweep
	months func(context.Context) (months.Maintenance, error)
	merge  func(context.Context) (time.Duration, error) // of new documents into the indexes of searches
	log    *slog.Logger
	tasks  *worker.Tasks
}

type housekeepingParams struct {
	fx.In

	Lifecycle fx.Lifecycle
	Bus       *bus.Bus
	DB        *db.DB
	Sweeps    []module.Sweep    `group:"sweeps"`
	Unneeded  []months.DropRule `group:"unneeded"`
	Logger    *slog.Logger
	Workers   *worker.Metrics
}

func keepHouse(p housekeepingParams) {
	h := &housekeeping{facts: p.Bus, sweeps: p.Sweeps, log: p.Logger, tasks: worker.NewTasks(p.Logger, p.Workers),
		months: func(ctx context.Context) (months.Maintenance, error) {
			return months.Maintain(ctx, p.DB, p.Logger, p.Unneeded...)
		}, merge: search.NewMerger(p.DB).Run}
	p.Lifecycle.Append(fx.StartStopHook(h.Start, h.Stop))
}

// Start sweeps in the background until Stop. Monthly partitions are created before any row is stored: no
// process may have run for a long time.
func (h *housekeeping) Start(ctx context.Context) error {
	if err := h.keepMonths(ctx); err != nil {
		h.log.WarnContext(ctx, "cannot maintain monthly partitions; retrying in a few minutes", telemetry.KeyError, err)
	}
	h.tasks.Start(hourly("housekeeping", h.sweep), hourly("monthly partitions", h.keepMonths),
		worker.Task{Name: "merging of search indexes", First: firstMerge, Step: h.merge})
	return nil
}

// hourly returns a task that retries soon after a failure, such as a lock timeout.
func hourly(name string, run func(context.Context) error) worker.Task {
	task := worker.Every(name, sweepEvery, run).WithFirstDelay(firstSweep)
	task.Retry = worker.SoonRetry
	return task
}

// Stop ends the sweeping and waits for it.
func (h *housekeeping) Stop(ctx context.Context) error {
	h.tasks.Stop(ctx)
	return nil
}

// keepMonths creates and drops monthly partitions, and logs which.
func (h *housekeeping) keepMonths(ctx context.Context) error {
	kept, err := h.months(ctx)
	if len(kept.Created) > 0 || len(kept.Dropped) > 0 {
		h.log.InfoContext(ctx, "monthly partitions updated", "made", kept.Created, "dropped", kept.Dropped)
	}
	if len(kept.Full) > 0 {
		h.log.WarnContext(ctx, "rows are past the last month of their table: run postrider admin partition",
			"tables", kept.Full)
	}
	return err
}

// sweep runs all sweeps. A failed sweep does not stop the others, and the next call repeats all of them.
func (h *housekeeping) sweep(ctx context.Context) error {
	facts := module.Sweep{What: "facts",
		Run: func(ctx context.Context) (int64, error) { return h.facts.Sweep(ctx, factsKept) }}
	var failed []error
	for _, old := range append([]module.Sweep{facts}, h.sweeps...) {
		swept, err := old.Run(ctx)
		if err != nil {
			failed = append(failed, fmt.Errorf("sweep of old %s: %w", old.What, err))
		} else if swept > 0 {
			h.log.InfoContext(ctx, "old "+old.What+" swept", telemetry.KeyCount, swept)
		}
	}
	return errors.Join(failed...)
}
