package app

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/ops/module"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/storage/db/months"
)

type countedSweeps struct {
	fails int // the first sweeps fail
	kept  []time.Duration
	at    []time.Time
}

func (c *countedSweeps) Sweep(_ context.Context, keep time.Duration) (int64, error) {
	c.kept, c.at = append(c.kept, keep), append(c.at, time.Now())
	if len(c.at) <= c.fails {
		return 1, errors.New("away")
	}
	return 1, nil
}

func TestOldFactsAreSweptPeriodically(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sweeps, began := &countedSweeps{}, time.Now()
		others, kept := 0, 0
		h := &housekeeping{merge: mergeNothing, facts: sweeps, log: slog.New(slog.DiscardHandler),
			tasks: worker.NewTasks(slog.New(slog.DiscardHandler), nil),
			months: func(context.Context) (months.Maintenance, error) {
				kept++
				return months.Maintenance{}, nil
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
			t.Errorf("data of the modules was swept %d times, want 3", others)
		}
		if kept != 4 {
			t.Errorf("partitions were maintained %d times; want before the first write and then every hour", kept)
		}
		for _, keep := range sweeps.kept {
			if keep != factsKept {
				t.Errorf("facts are kept %s", keep)
			}
		}
	})
}

// A failure is retried within seconds at first, then less often, and never later than SoonRetry.Max.
func TestFailedHousekeepingRetriesSoon(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sweeps, others := &countedSweeps{fails: 12}, 0
		var kept []time.Time
		h := &housekeeping{merge: mergeNothing, facts: sweeps, log: slog.New(slog.DiscardHandler),
			tasks: worker.NewTasks(slog.New(slog.DiscardHandler), nil),
			months: func(context.Context) (months.Maintenance, error) {
				if kept = append(kept, time.Now()); len(kept) == 2 {
					return months.Maintenance{}, errors.New("a table is locked")
				}
				return months.Maintenance{}, nil
			},
			sweeps: []module.Sweep{{What: "counters",
				Run: func(context.Context) (int64, error) { others++; return 0, nil }}}}
		if err := h.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-time.After(firstSweep + sweepEvery)
		if err := h.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		for i, at := range sweeps.at[1:] {
			wait := at.Sub(sweeps.at[i])
			switch {
			case i == 0 && wait > 2*time.Second:
				t.Errorf("the first retry followed after %s", wait)
			case i < sweeps.fails && wait > worker.SoonRetry.Max:
				t.Errorf("retry %d followed after %s", i, wait)
			}
		}
		if len(sweeps.at) != sweeps.fails+1 || others != len(sweeps.at) {
			t.Errorf("%d sweeps of facts and %d of modules ran, want %d of both; a failed sweep must not stop the others",
				len(sweeps.at), others, sweeps.fails+1)
		}
		if len(kept) < 3 || kept[2].Sub(kept[1]) > 2*time.Second {
			t.Errorf("partitions were maintained at %v, want again within seconds after the failure", kept)
		}
	})
}

// A lock of another session on a table delays its sweep and the maintenance of its months by seconds.
func TestHousekeepingRetriesAfterLockTimeout(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t, func(c *db.Config) { c.LockTimeout = 100 * time.Millisecond })
	var out expect.Log
	log := slog.New(slog.NewTextHandler(&out, nil))
	h := &housekeeping{merge: mergeNothing, log: log, tasks: worker.NewTasks(log, nil),
		months: func(ctx context.Context) (months.Maintenance, error) {
			_, err := d.SQL.ExecContext(ctx, `COMMENT ON TABLE rate_limits IS 'changed'`)
			return months.Maintenance{Dropped: []string{"dropped_month"}}, err
		},
		facts: sweepFunc(func(ctx context.Context) (int64, error) {
			_, err := d.SQL.ExecContext(ctx, `DELETE FROM rate_limits`)
			return 7, err
		})}
	other, err := d.SQL.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.ExecContext(t.Context(), `LOCK TABLE rate_limits IN ACCESS EXCLUSIVE MODE`); err != nil {
		t.Fatal(err)
	}
	tasks := []worker.Task{hourly("housekeeping", h.sweep), hourly("monthly partitions", h.keepMonths)}
	for _, task := range tasks {
		h.tasks.Start(task.WithFirstDelay(0))
	}
	t.Cleanup(func() { h.tasks.Stop(context.Background()) })
	contains := func(text string) func() bool { return func() bool { return strings.Contains(out.String(), text) } }
	for _, task := range tasks {
		expect.Eventually(t, "the log reports the failure", contains(task.Name+" fails"))
	}
	if err := other.Rollback(); err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		expect.Eventually(t, "the log reports the success", contains(task.Name+" works again"))
	}
	if !contains("old facts swept")() || !contains("dropped_month")() {
		t.Errorf("the retries did not do the work:\n%s", out.String())
	}
}

type sweepFunc func(context.Context) (int64, error)

func (f sweepFunc) Sweep(ctx context.Context, _ time.Duration) (int64, error) { return f(ctx) }

func mergeNothing(context.Context) (time.Duration, error) { return time.Hour, nil }
