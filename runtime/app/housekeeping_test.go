package app

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/ops/module"
	"github.com/postrider/postrider/runtime/storage/db/months"
)

type countedSweeps struct {
	kept []time.Duration
	at   []time.Time
}

func (c *countedSweeps) Sweep(_ context.Context, keep time.Duration) (int64, error) {
	c.kept, c.at = append(c.kept, keep), append(c.at, time.Now())
	return 1, errors.New("away")
}

func TestOldFactsAreSweptPeriodically(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sweeps, began := &countedSweeps{}, time.Now()
		others, kept := 0, 0
		h := &housekeeping{facts: sweeps, log: slog.New(slog.DiscardHandler),
			tasks: worker.NewTasks(slog.New(slog.DiscardHandler), nil),
			months: func(context.Context) (months.Maintenance, error) {
				kept++
				return months.Maintenance{}, errors.New("away")
			},
			sweeps: []module.Sweep{{What: "counters",
				Run: func(context.Context) (int64, error) { others++; return 0, nil }}}}
		if err := h.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-time.After(firstSweep + 2*sweepEvery + time.Second)
		if err := h.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-time.After(3 * sweepEvery)
		if len(sweeps.at) != 3 || sweeps.at[0].Sub(began) != firstSweep ||
			sweeps.at[2].Sub(sweeps.at[1]) != sweepEvery {
			t.Errorf("swept at %v, started at %v", sweeps.at, began)
		}
		if others != 3 {
			t.Errorf("data of the modules was swept %d times; a failed sweep must not stop the others", others)
		}
		if kept != 4 {
			t.Errorf("partitions were maintained %d times; want before the first write and with each sweep", kept)
		}
		for _, keep := range sweeps.kept {
			if keep != factsKept {
				t.Errorf("facts are kept %s", keep)
			}
		}
	})
}
