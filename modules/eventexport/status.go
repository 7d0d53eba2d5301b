package eventexport

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/postrider/postrider/modules/eventexport/jetstream"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/ops/module"
	"github.com/postrider/postrider/runtime/storage/db"
)

// BehindLimit is the delay after which the export counts as degraded.
const BehindLimit = time.Minute

// countLimit bounds the count of waiting facts.
const countLimit = 100_000

// ExportState is the state of the export.
type ExportState struct {
	Position   string        // the stream has every fact up to it
	PositionAt time.Time     // time of the position
	MovedAt    time.Time     // when the position last changed
	Waiting    int           // facts after it, counted up to 100,000
	Behind     time.Duration // age of the oldest of them; 0 if none waits
	Again      bool          // rewound and not caught up yet
	Failures   int           // consecutive failed pages; 0 if it works
	Error      string        // error of the latest failed page
	FailedAt   *time.Time    // nil if none failed
	Node       string        // the process that currently publishes, if any
}

const standingSQL = `
SELECT position, moved_at, again, failures, error, failed_at, coalesce((SELECT n.name FROM nodes n WHERE n.id = e.node), ''), now(),
	coalesce((SELECT id FROM facts WHERE id > position ORDER BY id LIMIT 1), ''),
	(SELECT count(*) FROM (SELECT FROM facts WHERE id > position ORDER BY id LIMIT $2) waiting)
FROM event_exports e WHERE name = $1`

// ErrNothing is returned if no export was ever started.
var ErrNothing = errors.New("nothing is exported: no process was ever started with POSTRIDER_EVENTS_TO")

// ReadState returns the state of the export. Error: ErrNothing.
func ReadState(ctx context.Context, d *db.DB) (ExportState, error) {
	return readState(ctx, d, countLimit)
}

func readState(ctx context.Context, d *db.DB, count int) (ExportState, error) {
	type row struct {
		ExportState
		now    time.Time
		oldest string
	}
	found, err := db.One(ctx, d.Hot, func(r *row) []any {
		return []any{&r.Position, &r.MovedAt, &r.Again, &r.Failures, &r.Error, &r.FailedAt, &r.Node, &r.now, &r.oldest,
			&r.Waiting}
	}, standingSQL, target, count)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return ExportState{}, ErrNothing
	case err != nil:
		return ExportState{}, fmt.Errorf("read the position of the event export: %w", err)
	}
	found.PositionAt = id.Time(found.Position)
	if found.oldest != "" {
		found.Behind = max(found.now.Sub(id.Time(found.oldest)), time.Millisecond)
	}
	return found.ExportState, nil
}

// Copies returns how many of the configured servers have the stream, or 0 if it does not exist yet. It
// changes nothing. The error says why the stream cannot be used.
func Copies(ctx context.Context, v setting.Values) (int, error) {
	return jetstream.Replicas(ctx, streamOf(v, slog.New(slog.DiscardHandler)))
}

const rewindSQL = `
UPDATE event_exports SET position = $2, again = true, fence = fence + 1, failures = 0, moved_at = now(), due_at = CASE WHEN node IS NULL THEN now() ELSE due_at END
WHERE name = $1 AND position > $2`

// Rewind exports all facts since a time again. A page that is being published is completed first. Errors:
// Invalid for since, ErrNothing.
func Rewind(ctx context.Context, d *db.DB, since time.Time) (ExportState, error) {
	before, err := readState(ctx, d, 0)
	if err != nil {
		return ExportState{}, err
	}
	to := id.Since(id.Fact, since)
	n, err := db.Exec(ctx, d.Hot, rewindSQL, target, to)
	switch {
	case err != nil:
		return ExportState{}, fmt.Errorf("rewind the event export: %w", err)
	case n == 0:
		return ExportState{}, fault.InvalidField("since", "must be before %s: later events were not exported yet",
			before.PositionAt.UTC().Format(time.RFC3339))
	}
	return ReadState(ctx, d)
}

// condition returns the line of GET /readyz.
func (s *Service) condition(ctx context.Context) (module.Condition, error) {
	if !s.isEnabled() {
		return module.Condition{Off: true}, nil
	}
	is, err := readState(ctx, s.db, 0)
	if err != nil {
		return module.Condition{}, err
	}
	c := module.Condition{Degraded: is.Behind > BehindLimit,
		Figures: map[string]float64{"behind_seconds": math.Floor(is.Behind.Seconds())}}
	if is.Failures > 0 {
		c.Details = []string{is.Error}
	}
	return c, nil
}

// measure registers the metrics. They exist even without an export, so that one alert rule works for all
// installations.
func (s *Service) measure(reg prometheus.Registerer) error {
	s.sent = prometheus.NewCounter(prometheus.CounterOpts{Namespace: telemetry.Namespace,
		Name: "event_export_facts_total", Help: "Events that the stream has acknowledged to this process."})
	return telemetry.Register(reg, s.sent, telemetry.NewQueryGauge("event_export_oldest_seconds",
		"Age of the oldest event that was not exported. Normally about 2; 0 if no event is waiting or "+
			"nothing is exported. All processes report the same database, so dashboards should use the maximum "+
			"over processes.",
		func(ctx context.Context) (float64, error) {
			if !s.isEnabled() {
				return 0, nil
			}
			is, err := readState(ctx, s.db, 0)
			return is.Behind.Seconds(), err
		}))
}
