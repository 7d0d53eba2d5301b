package statistics

import (
	"context"
	"fmt"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/statistics/rollup"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/timeseries"
)

// RunQuestion is a query about runs of automations.
type RunQuestion struct {
	Range        Range
	Interval     Interval
	Timezone     string // for example Europe/Vienna
	AutomationID string // empty: all automations
	ByStart      bool   // count results at the time the run started instead of the time they happened
}

// RunFigures are counts of runs. A run that fails, is retried and completes counts as failed and as completed.
type RunFigures struct {
	Started   int64
	WithGoal  int64 // the part of Started whose version has a goal
	Completed int64
	Failed    int64
	Cancelled int64
	Converted int64
}

func (f *RunFigures) add(counts *sum) {
	c := &counts.counts
	f.Started += c[rollup.RunsStarted]
	f.WithGoal += c[rollup.RunsWithGoal]
	f.Completed += c[rollup.RunsCompleted]
	f.Failed += c[rollup.RunsFailed]
	f.Cancelled += c[rollup.RunsCancelled]
	f.Converted += c[rollup.RunsConverted]
}

// RunBucket is a period.
type RunBucket = timeseries.Bucket[RunFigures]

// RunAnswer is the result of a RunQuestion.
type RunAnswer struct {
	timeseries.Result[RunFigures]

	AsOf time.Time // everything before it is counted
}

// QueryRuns returns figures of the runs of an account's automations. Error: Invalid.
func (s *Service) QueryRuns(ctx context.Context, accountID string, q RunQuestion) (answer RunAnswer, err error) {
	wrong := fault.Fields{}
	axis := timeseries.Query{Range: q.Range, Interval: q.Interval, Timezone: q.Timezone}.Axis(wrong, 0)
	if err := wrong.Err(); err != nil {
		return RunAnswer{}, err
	}
	var keys []string
	if q.AutomationID != "" {
		keys = []string{q.AutomationID}
	}
	err = s.db.Read(ctx, func(on *ent.Client) error {
		return atOnce(ctx, on, func(tx db.Execer) error {
			recent, err := boundTail(ctx, tx, accountID)
			if err != nil {
				return err
			}
			recent.Rollup = rollup.New()
			if err := recent.ReadRuns(ctx, tx, rollup.OfAccount, 1, recent.from, recent.to, accountID); err != nil {
				return err
			}
			found, err := newReading(tx, accountID, axis, Question{ByEmail: q.ByStart}, recent).
				rows(ctx, rollup.Runs, noGroup, keys)
			if err != nil {
				return err
			}
			answer = RunAnswer{AsOf: recent.asOf}
			answer.Buckets = timeseries.Buckets[RunFigures](axis)
			for period, counts := range found.groupSums("", len(axis.Starts)) {
				answer.Buckets[period].Figures.add(&counts)
				answer.Totals.add(&counts)
			}
			return nil
		})
	})
	if err != nil {
		return RunAnswer{}, fmt.Errorf("statistics of runs: %w", err)
	}
	return answer, nil
}
