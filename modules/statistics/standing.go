package statistics

import (
	"context"
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/ops/module"
	"github.com/postrider/postrider/runtime/storage/db"
)

// BehindLimit is how long an event may remain uncounted before /readyz reports degraded statistics.
const BehindLimit = 10 * time.Minute

// CountingState is the state of counting.
type CountingState struct {
	Behind  time.Duration // age of the oldest uncounted event
	Skipped int64         // events that could not be counted
	Error   string        // error of the latest failed batch; empty after the next success
}

const (
	standingSQL   = `SELECT fact_id, skipped, error FROM statistics_marks WHERE id = 1`
	oldestFactSQL = `SELECT id FROM facts WHERE id >= $1 ORDER BY id LIMIT 1`
)

// ReadState returns the state of counting.
func ReadState(ctx context.Context, on db.Execer) (is CountingState, err error) {
	var mark string
	all, err := db.All(ctx, on, func(s *CountingState) []any { return []any{&mark, &s.Skipped, &s.Error} }, standingSQL)
	if err != nil || len(all) == 0 { // no fact was ever counted: a process is about to start
		return is, err
	}
	is = all[0]
	oldest, err := db.All(ctx, on, db.Value[string], oldestFactSQL, mark)
	if err != nil || len(oldest) == 0 {
		return is, err
	}
	now, err := db.Now(ctx, on)
	is.Behind = max(0, now.Sub(id.Time(oldest[0])))
	return is, err
}

// health returns a line of GET /readyz.
func (s *Service) health() module.Health {
	return module.Health{Name: "statistics", Ask: func(ctx context.Context) (module.Condition, error) {
		is, err := ReadState(ctx, s.db.SQL)
		c := module.Condition{Degraded: is.Behind > BehindLimit,
			Figures: map[string]float64{"behind_seconds": math.Floor(is.Behind.Seconds())}}
		if is.Error != "" {
			c.Details = []string{"the latest batch failed: " + is.Error}
		}
		return c, err
	}}
}

// register adds the state of counting to the metrics. It is queried at each scrape, and is NaN while the
// database does not respond.
func (s *Service) register(registry prometheus.Registerer) error {
	gauge := func(name, help string, value func(CountingState) float64) prometheus.Collector {
		return telemetry.NewQueryGauge(name, help, func(ctx context.Context) (float64, error) {
			is, err := ReadState(ctx, s.db.SQL)
			return value(is), err
		})
	}
	return telemetry.Register(registry, s.outcomes.recipients,
		gauge("statistics_behind_seconds",
			"Age of the oldest event that statistics have not counted. Normally less than 90.",
			func(is CountingState) float64 { return is.Behind.Seconds() }),
		gauge("statistics_skipped_events",
			"Events that statistics skipped because they could not be counted.",
			func(is CountingState) float64 { return float64(is.Skipped) }))
}
