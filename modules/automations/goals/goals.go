package goals

import (
	"context"
	"fmt"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/automations/ingest"
	"github.com/postrider/postrider/modules/automations/runs"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/event"
)

const (
	eventsAtOnce = 100             // events per transaction
	runsAtOnce   = 500             // runs per transaction
	poll         = 5 * time.Second // maximum interval between searches for events
	shortly      = time.Second     // delay before runs locked by other transactions are tried again
)

// Params contains the dependencies of the service.
type Params struct {
	DB       *db.DB
	Bus      ingest.Bus
	Signals  worker.Signals
	Versions *runs.Store
}

// Service converts runs. It is safe for concurrent use.
type Service struct {
	db       *db.DB
	bus      ingest.Bus
	signals  worker.Signals
	versions *runs.Store
}

// New creates the service.
func New(p Params) *Service { return &Service{p.DB, p.Bus, p.Signals, p.Versions} }

// Task converts runs periodically and whenever it is woken.
func (s *Service) Task() worker.Task {
	woken, unsubscribe := s.signals.Subscribe(ingest.GoalChannel)
	return worker.Task{Name: "goals of automations", Woken: woken, After: unsubscribe,
		Step: func(ctx context.Context) (time.Duration, error) {
			left, err := s.Convert(ctx)
			if left {
				return shortly, err
			}
			return poll, err
		}}
}

var (
	// turnSQL lets only one process at a time convert runs, so that the earliest event converts a run.
	turnSQL = `SELECT pg_try_advisory_xact_lock(hashtextextended('goals of automations', 0))`

	pendingSQL = `SELECT id FROM custom_events WHERE goal_pending ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED`

	homeSQL = runs.HomeAccount("e.account_id")

	// candidates selects the runs c that the event e converts. An event and a run match as in
	// machine.Identity.Matches.
	candidates = `(SELECT r.id FROM automation_listens l JOIN automation_runs r ON r.automation_id = l.automation_id AND r.version = l.version
	 WHERE l.account_id = ` + homeSQL + ` AND l.event = e.name AND l.converts AND r.account_id = e.account_id AND r.user_id = e.user_id
	   AND r.converted_at IS NULL AND r.goal_until IS NOT NULL AND r.goal_until > e.created_at AND r.started_at < e.created_at LIMIT $2)
	UNION ALL
	(SELECT r.id FROM automation_listens l JOIN automation_runs r ON r.automation_id = l.automation_id AND r.version = l.version
	 WHERE l.account_id = ` + homeSQL + ` AND l.event = e.name AND l.converts AND r.account_id = e.account_id AND r.email_key = e.email_key
	   AND (r.user_id IS NULL OR e.user_id IS NULL)
	   AND r.converted_at IS NULL AND r.goal_until IS NOT NULL AND r.goal_until > e.created_at AND r.started_at < e.created_at LIMIT $2)`

	findSQL = `
SELECT r.id, r.account_id, r.automation_id, r.version, r.status, r.step_index, coalesce(r.event->>'name', ''), c.at FROM (
	SELECT c.id, min(e.created_at) AS at FROM custom_events e, LATERAL (` + candidates + `) c WHERE e.id = ANY($1::text[]) GROUP BY c.id ORDER BY c.id LIMIT $2
) c JOIN automation_runs r ON r.id = c.id WHERE r.converted_at IS NULL ORDER BY r.id FOR NO KEY UPDATE OF r SKIP LOCKED`

	convertSQL = `UPDATE automation_runs r SET converted_at = v.at FROM unnest($1::text[], $2::timestamptz[]) AS v (id, at) WHERE r.id = v.id`

	// doneSQL ends the mark of events that have no more runs to convert.
	doneSQL = `UPDATE custom_events e SET goal_pending = false WHERE e.id = ANY($1::text[]) AND NOT EXISTS (` + candidates + `)`
)

// conversion is a run that reached its goal.
type conversion struct {
	runID, accountID, automationID string
	version                        int
	status                         string
	step                           int
	trigger                        string
	at                             time.Time
}

func (c *conversion) columns() []any {
	return []any{&c.runID, &c.accountID, &c.automationID, &c.version, &c.status, &c.step, &c.trigger, &c.at}
}

// Convert converts the runs of all stored events. It reports whether it left runs that other transactions have
// locked.
func (s *Service) Convert(ctx context.Context) (left bool, err error) {
	for {
		var taken, done, converted int
		err := s.db.InTx(ctx, func(tx *ent.Tx) error {
			mine, err := db.One(ctx, tx, db.Value[bool], turnSQL)
			if err != nil || !mine {
				return err
			}
			taken, done, converted, err = s.convertSome(ctx, tx)
			return err
		})
		if err != nil {
			return false, fmt.Errorf("convert runs: %w", err)
		}
		if converted > 0 {
			s.bus.Wake()
		}
		switch {
		case done < taken && converted == 0:
			return true, nil
		case done == taken && taken < eventsAtOnce:
			return false, nil
		}
	}
}

// convertSome converts runs of the oldest events. It returns how many events it took, how many of them have no
// more runs to convert, and how many runs it converted.
func (s *Service) convertSome(ctx context.Context, tx *ent.Tx) (taken, done, converted int, err error) {
	events, err := db.All(ctx, tx, db.Value[string], pendingSQL, eventsAtOnce)
	if err != nil || len(events) == 0 {
		return 0, 0, 0, err
	}
	list, err := db.All(ctx, tx, (*conversion).columns, findSQL, db.Array(events), runsAtOnce)
	if err == nil {
		err = s.store(ctx, tx, list)
	}
	if err == nil {
		done, err = db.Exec(ctx, tx, doneSQL, db.Array(events), 1)
	}
	return len(events), done, len(list), err
}

// store stores conversions with their facts.
func (s *Service) store(ctx context.Context, tx *ent.Tx, list []conversion) error {
	if len(list) == 0 {
		return nil
	}
	ids, times, facts := make([]string, len(list)), make([]string, len(list)), make([]event.Fact, len(list))
	for i, c := range list {
		v, err := s.versions.Get(ctx, tx, c.automationID, c.version)
		if err != nil {
			return err
		}
		steps := v.Definition.Steps
		at := min(c.step, len(steps)-1)
		ids[i], times[i] = c.runID, c.at.UTC().Format(time.RFC3339Nano)
		facts[i] = event.New(c.accountID, event.AutomationConverted, c.at, event.Run{AutomationID: c.automationID,
			AutomationName: v.Definition.Name, RunID: c.runID, Status: c.status, EventName: c.trigger,
			StepIndex: at, StepType: steps[at].Type})
	}
	if _, err := tx.ExecContext(ctx, convertSQL, db.Array(ids), db.Array(times)); err != nil {
		return err
	}
	return s.bus.Publish(ctx, tx, facts...)
}
