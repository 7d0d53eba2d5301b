package drain

import (
	"context"
	"fmt"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/automations/ingest"
	"github.com/postrider/postrider/modules/automations/runs"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Channel is woken when an automation has runs to drain.
const Channel = "automation_drains"

const (
	step    = 1000             // runs per transaction
	every   = 10 * time.Second // interval between searches for work
	shortly = time.Second      // delay before rows locked by other transactions are tried again
)

// Signals wakes other processes, and reports their wake-ups.
type Signals interface {
	Wake(channel string)
	worker.Signals
}

// Params contains the dependencies of the service.
type Params struct {
	DB       *db.DB
	Bus      ingest.Bus
	Signals  Signals
	Versions *runs.Store
}

// Service drains automations. It is safe for concurrent use.
type Service struct {
	db       *db.DB
	bus      ingest.Bus
	signals  Signals
	versions *runs.Store
}

// New creates the service.
func New(p Params) *Service { return &Service{p.DB, p.Bus, p.Signals, p.Versions} }

// Task drains automations periodically and whenever it is woken.
func (s *Service) Task() worker.Task {
	woken, unsubscribe := s.signals.Subscribe(Channel)
	return worker.Task{Name: "held and cancelled runs of automations", Woken: woken, After: unsubscribe,
		Step: func(ctx context.Context) (time.Duration, error) {
			more, err := s.Run(ctx)
			if more {
				return shortly, err
			}
			return every, err
		}}
}

// job is an automation with pending work.
type job struct {
	automationID string
	cancels      bool       // cancel the runs; otherwise release them
	before       *time.Time // only runs that started before; nil: all
	noted        bool       // the automation has work recorded in automations.draining
}

// jobsSQL finds automations with recorded work, and those with parked runs that are no longer held. It skips
// from one automation to the next in the index of parked work.
const jobsSQL = `
WITH RECURSIVE parked AS (
	(SELECT automation_id FROM automation_works WHERE parked ORDER BY automation_id LIMIT 1)
	UNION ALL
	SELECT (SELECT w.automation_id FROM automation_works w WHERE w.parked AND w.automation_id > p.automation_id ORDER BY w.automation_id LIMIT 1)
	FROM parked p WHERE p.automation_id IS NOT NULL
)
SELECT id, draining = 'cancel', drain_before, true FROM automations WHERE draining IS NOT NULL
UNION ALL
SELECT p.automation_id, a.id IS NULL OR a.status = 'archived', NULL, false
FROM parked p LEFT JOIN automations a ON a.id = p.automation_id
WHERE p.automation_id IS NOT NULL AND a.draining IS NULL AND (a.id IS NULL OR a.status = 'archived' OR NOT a.held)`

// Run does all pending work, one batch per automation at a time. It reports whether more remains that other
// transactions have locked.
func (s *Service) Run(ctx context.Context) (more bool, err error) {
	jobs, err := db.All(ctx, s.db.SQL,
		func(j *job) []any { return []any{&j.automationID, &j.cancels, &j.before, &j.noted} }, jobsSQL)
	if err != nil {
		return false, fmt.Errorf("find automations to drain: %w", err)
	}
	for len(jobs) > 0 {
		var left []job
		for _, j := range jobs {
			n, err := s.drainBatch(ctx, j)
			if err != nil {
				return true, fmt.Errorf("drain %s: %w", j.automationID, err)
			}
			if n > 0 {
				left = append(left, j)
				continue
			}
			next, err := s.finishJob(ctx, j)
			if err != nil {
				return true, fmt.Errorf("drain %s: %w", j.automationID, err)
			}
			left = append(left, next.jobs...)
			more = more || next.later
		}
		jobs = left
	}
	return more, nil
}

// drainBatch drains the next batch of an automation's runs and returns its size.
func (s *Service) drainBatch(ctx context.Context, j job) (n int, err error) {
	if !j.cancels {
		released, err := runs.Unpark(ctx, s.db.SQL, j.automationID, step)
		if released > 0 {
			s.signals.Wake(ingest.WorkChannel)
		}
		return released, err
	}
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		list, err := runs.LockSome(ctx, tx, j.automationID, j.before, step)
		if n = len(list); err != nil || n == 0 {
			return err
		}
		return s.Cancel(ctx, tx, list)
	})
	if n > 0 && err == nil {
		s.bus.Wake()
	}
	return n, err
}

// finishedSQL clears the recorded work when no run is left. Runs that were parked while others were cancelled
// are released next.
const finishedSQL = `
UPDATE automations a SET draining = CASE WHEN a.draining = 'cancel' AND NOT a.held THEN 'release' END, drain_before = NULL
WHERE a.id = $1 AND CASE WHEN $2 THEN a.draining = 'cancel' AND a.drain_before IS NOT DISTINCT FROM $3 AND NOT EXISTS (
		SELECT FROM automation_works w JOIN automation_runs r ON r.id = w.id WHERE w.automation_id = a.id AND w.version > 0 AND ($3::timestamptz IS NULL OR r.started_at < $3))
	ELSE a.draining = 'release' AND NOT EXISTS (SELECT FROM automation_works w WHERE w.automation_id = a.id AND w.parked) END
RETURNING coalesce(a.draining, '')`

// remaining is the work that remains after a batch found no runs.
type remaining struct {
	jobs  []job
	later bool // other transactions have locked runs
}

// finishJob clears the recorded work. For an automation without any, it reports whether parked runs are left,
// because a batch skips runs that other transactions have locked.
func (s *Service) finishJob(ctx context.Context, j job) (remaining, error) {
	if !j.noted {
		left, err := db.One(ctx, s.db.SQL, db.Value[bool], `SELECT EXISTS (SELECT FROM automation_works WHERE automation_id = $1 AND parked)`, j.automationID)
		return remaining{later: left}, err
	}
	list, err := db.All(ctx, s.db.SQL, db.Value[string], finishedSQL, j.automationID, j.cancels, j.before)
	switch {
	case err != nil:
		return remaining{}, err
	case len(list) == 0:
		return remaining{later: true}, nil
	case list[0] != "":
		return remaining{jobs: []job{{automationID: j.automationID, noted: true}}}, nil
	}
	return remaining{}, nil
}

// Cancel ends live runs whose rows the caller has locked.
func (s *Service) Cancel(ctx context.Context, tx db.Execer, list []*runs.LiveRun) error {
	cancelled := make([]runs.Cancelled, 0, len(list))
	for _, l := range list {
		v, err := s.versions.ProgramOf(ctx, tx, l)
		if err != nil {
			return err
		}
		cancelled = append(cancelled, runs.Cancelled{Live: l, Program: v.Program})
	}
	_, err := runs.Cancel(ctx, tx, s.bus, cancelled, time.Now())
	return err
}

// strayedSQL finds automations that are archived or deleted and still have a live run, started by an event that
// was in progress at that time.
const strayedSQL = `
WITH RECURSIVE live AS (
	(SELECT automation_id FROM automation_works ORDER BY automation_id LIMIT 1)
	UNION ALL
	SELECT (SELECT w.automation_id FROM automation_works w WHERE w.automation_id > l.automation_id ORDER BY w.automation_id LIMIT 1)
	FROM live l WHERE l.automation_id IS NOT NULL
)
SELECT l.automation_id FROM live l LEFT JOIN automations a ON a.id = l.automation_id
WHERE l.automation_id IS NOT NULL AND (a.id IS NULL OR a.status = 'archived' AND a.draining IS NULL)`

// Sweep cancels live runs that events in progress started while their automation was being archived or deleted,
// and returns how many there were.
func (s *Service) Sweep(ctx context.Context) (cancelled int64, err error) {
	ids, err := db.All(ctx, s.db.SQL, db.Value[string], strayedSQL)
	if err != nil {
		return 0, fmt.Errorf("find runs of archived automations: %w", err)
	}
	for _, id := range ids {
		for {
			n, err := s.drainBatch(ctx, job{automationID: id, cancels: true})
			if err != nil {
				return cancelled, fmt.Errorf("cancel runs of %s: %w", id, err)
			}
			if cancelled += int64(n); n == 0 {
				break
			}
		}
	}
	return cancelled, nil
}
