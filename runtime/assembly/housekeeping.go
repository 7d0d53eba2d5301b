package assembly

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"go.uber.org/fx"

	"github.com/postrider/postrider/runtime/bus"
	"github.com/postrider/postrider/runtime/module"
	"github.com/postrider/postrider/runtime/telemetry"
)

const (
	// factsKept is how long messages wait for a module that is switched off, and how
	// long facts are kept that are about no email: those about one go when it does
	// (modules/retention), which is a year after its sending at the latest.
	factsKept = 400 * 24 * time.Hour

	firstSweep = 5 * time.Minute // after a start, which has enough to do
	sweepEvery = time.Hour
)

// factSweeper deletes old facts with what hangs on them.
type factSweeper interface {
	Sweep(ctx context.Context, keep time.Duration) (facts int64, err error)
}

// housekeeping deletes what has grown old in the tables that belong to no module, and
// in those of modules that ask for it. Every process does it: they leave each other's
// rows alone.
type housekeeping struct {
	facts  factSweeper
	sweeps []module.Sweep
	log    *slog.Logger

	stop context.CancelFunc
	done sync.WaitGroup
}

type housekeepingParams struct {
	fx.In

	Lifecycle fx.Lifecycle
	Bus       *bus.Bus
	Sweeps    []module.Sweep `group:"sweeps"`
	Logger    *slog.Logger
}

func keepHouse(p housekeepingParams) {
	h := &housekeeping{facts: p.Bus, sweeps: p.Sweeps, log: p.Logger}
	p.Lifecycle.Append(fx.StartStopHook(h.Start, h.Stop))
}

// Start sweeps in the background until Stop.
func (h *housekeeping) Start(context.Context) error {
	ctx, stop := context.WithCancel(context.Background())
	h.stop = stop
	h.done.Go(func() {
		next := time.NewTimer(firstSweep)
		defer next.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-next.C:
				h.sweep(ctx)
				next.Reset(sweepEvery)
			}
		}
	})
	return nil
}

// Stop ends the sweeping and waits for it.
func (h *housekeeping) Stop(context.Context) error {
	h.stop()
	h.done.Wait()
	return nil
}

func (h *housekeeping) sweep(ctx context.Context) {
	facts := module.Sweep{What: "facts", Run: func(ctx context.Context) (int64, error) { return h.facts.Sweep(ctx, factsKept) }}
	for _, old := range append([]module.Sweep{facts}, h.sweeps...) {
		swept, err := old.Run(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			h.log.WarnContext(ctx, "sweep of old "+old.What+" stopped; the next one goes on", telemetry.KeyError, err)
		case swept > 0:
			h.log.InfoContext(ctx, "old "+old.What+" swept", telemetry.KeyCount, swept)
		}
	}
}
