package clockstep

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/storage/db"
)

const (
	// MinStep is the smallest step that is detected.
	MinStep = 2 * time.Second
	// StatementDelay is how far a statement may run behind its own now(): it waited for a connection, a lock or
	// the processor while other statements began later and finished first. A row that is ahead of now() by less
	// than this may have been written by such a statement, so it does not show that the clock stepped back.
	StatementDelay = 10 * time.Second
	// ReportPeriod is how long a step is reported.
	ReportPeriod = 24 * time.Hour

	recordEvery = time.Minute      // how often the time is recorded
	sameStep    = 30 * time.Second // observations of several processes within this time are the same step
)

// Step is a backward step of the database clock.
type Step struct {
	At time.Time // by the corrected clock
	By time.Duration
}

// Peak returns a time that the clock had not reached before it stepped back: earlier due times were due
// before the step.
func (s Step) Peak() time.Time { return s.At.Add(s.By + recordEvery) }

func (s Step) String() string {
	return fmt.Sprintf("the database clock stepped back by %s at %s", s.By.Round(time.Second), s.At.UTC().
		Format(time.RFC3339))
}

// Params contains the parameters of New.
type Params struct {
	DB      *db.DB
	Logger  *slog.Logger
	Workers *worker.Metrics // may be nil
}

// Watch monitors the clock for one process. It is safe for concurrent use.
type Watch struct {
	db      *db.DB
	log     *slog.Logger
	tasks   *worker.Tasks
	woken   chan struct{}
	repairs []Repair

	mu       sync.Mutex
	read     time.Time     // the database clock at the latest reading
	answered time.Time     // when that reading arrived, by the local clock
	observed time.Duration // a step that is not recorded yet, or 0
	latest   *Step         // as recorded; nil if there was none within ReportPeriod
}

// New returns a new Watch, which records nothing before Start.
func New(p Params) *Watch {
	return &Watch{db: p.DB, log: p.Logger, tasks: worker.NewTasks(p.Logger, p.Workers), woken: make(chan struct{}, 1)}
}

// Add adds repairs to run after a step. Call it before Start.
func (w *Watch) Add(repairs ...Repair) { w.repairs = append(w.repairs, repairs...) }

// Start records the time until Stop, the first time immediately.
func (w *Watch) Start(context.Context) error {
	w.tasks.Start(worker.Task{Name: "clock of the database", Woken: w.woken,
		Step: func(ctx context.Context) (time.Duration, error) {
			return recordEvery, w.recordTime(ctx)
		}})
	return nil
}

// Stop stops recording.
func (w *Watch) Stop(ctx context.Context) error {
	w.tasks.Stop(ctx)
	return nil
}

// Observe processes a reading of the clock: the database returned seen at some moment between sent and
// answered. Readings must be passed in order.
func (w *Watch) Observe(sent, answered, seen time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.answered.IsZero() {
		// Differences of monotonic times, because the local wall clock may be set as well.
		if back := w.read.Add(sent.Sub(w.answered)).Sub(seen); back >= MinStep {
			w.observed = max(w.observed, back)
			select {
			case w.woken <- struct{}{}:
			default:
			}
		}
	}
	w.read, w.answered = seen, answered
}

// Latest returns the latest step, or nil if there was none within ReportPeriod.
func (w *Watch) Latest() *Step {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.latest
}

// Register adds the gauge of the latest step.
func (w *Watch) Register(reg prometheus.Registerer) error {
	gauge := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: telemetry.Namespace,
		Name: "database_clock_stepped_back_seconds",
		Help: "Size of the last backward step of the database clock, for a day after the step; otherwise 0. All " +
			"processes report the same value."}, func() float64 {
		if step := w.Latest(); step != nil {
			return step.By.Seconds()
		}
		return 0
	})
	if err := reg.Register(gauge); err != nil {
		return fmt.Errorf("clock of the database: %w", err)
	}
	return nil
}

// recordSQL records the time, and a step if the recorded time is in the future or this process has observed a
// step that no other process has recorded. It changes the row at most once a minute.
var recordSQL = db.Compile(`
INSERT INTO database_clocks AS c (id, seen_at) VALUES (1, clock_timestamp())
ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at,
	stepped_at = CASE WHEN ` + steppedSQL + ` THEN excluded.seen_at ELSE c.stepped_at END,
	stepped_by_ms = CASE WHEN ` + steppedSQL + ` THEN greatest((extract(epoch FROM c.seen_at - excluded.seen_at) * 1000)::bigint, @observed::bigint) ELSE c.stepped_by_ms END,
	settled = c.settled AND NOT (` + steppedSQL + `)
WHERE c.seen_at < excluded.seen_at - @every * interval '1 microsecond' OR ` + steppedSQL + `
RETURNING coalesce(c.stepped_at = c.seen_at, false)`)

// steppedSQL is a condition that is true for a step that is not recorded.
const steppedSQL = `(c.seen_at > excluded.seen_at + @matters * interval '1 microsecond'
	OR @observed::bigint > 0 AND coalesce(c.stepped_at NOT BETWEEN excluded.seen_at - @same * interval '1 microsecond' AND excluded.seen_at, true))`

// recordTime records the time, reports a step, and runs outstanding repairs.
func (w *Watch) recordTime(ctx context.Context) error {
	w.mu.Lock()
	observed := w.observed
	w.mu.Unlock()
	isNew, err := db.One(ctx, w.db.SQL, db.Value[bool], recordSQL.Text,
		recordSQL.Args(db.Arg("observed", observed.Milliseconds()),
			db.Arg("every", recordEvery.Microseconds()), db.Arg("matters", MinStep.Microseconds()),
			db.Arg("same", sameStep.Microseconds()))...)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("record the clock of the database: %w", err)
	}
	found, err := readRecorded(ctx, w.db.SQL)
	if err != nil {
		return err
	}
	w.mu.Lock()
	w.observed -= observed
	w.latest = found.step
	w.mu.Unlock()
	if found.step != nil && (isNew || observed > 0) {
		w.log.WarnContext(ctx, "the database clock stepped back: run NTP on its machine",
			"by", found.step.By.String(), "at", found.step.At.UTC().Format(time.RFC3339))
	}
	if found.settled || found.step == nil {
		return nil
	}
	return w.runRepairs(ctx, *found.step)
}

const settledSQL = `UPDATE database_clocks SET settled = true WHERE id = 1 AND stepped_at = $1`

// runRepairs runs all repairs. A failed repair does not stop the others and is retried.
func (w *Watch) runRepairs(ctx context.Context, step Step) error {
	if err := errors.Join(w.Apply(ctx, step)...); err != nil {
		return err
	}
	if _, err := db.Exec(ctx, w.db.SQL, settledSQL, step.At); err != nil {
		return fmt.Errorf("record the clock of the database: %w", err)
	}
	return nil
}

const readSQL = `
SELECT stepped_at, stepped_by_ms, settled, stepped_at > now() - $1 * interval '1 microsecond' FROM database_clocks WHERE id = 1`

// clockRow is the row of database_clocks.
type clockRow struct {
	step    *Step // within ReportPeriod, or not settled
	settled bool
}

func readRecorded(ctx context.Context, on db.Execer) (clockRow, error) {
	type row struct {
		at      sql.NullTime
		ms      int64
		settled bool
		recent  sql.NullBool
	}
	r, err := db.One(ctx, on, func(r *row) []any { return []any{&r.at, &r.ms, &r.settled, &r.recent} }, readSQL,
		ReportPeriod.Microseconds())
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return clockRow{settled: true}, nil
	case err != nil:
		return clockRow{}, fmt.Errorf("read the clock of the database: %w", err)
	}
	out := clockRow{settled: r.settled}
	if r.at.Valid && (r.recent.Bool || !r.settled) {
		out.step = &Step{At: r.at.Time, By: time.Duration(r.ms) * time.Millisecond}
	}
	return out, nil
}

// Read returns the latest step recorded in a database, or nil if there was none within ReportPeriod.
func Read(ctx context.Context, on db.Execer) (*Step, error) {
	found, err := readRecorded(ctx, on)
	return found.step, err
}
