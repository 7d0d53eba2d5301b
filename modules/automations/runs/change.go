package runs

import (
	"context"
	"slices"
	"time"

	"github.com/postrider/postrider/modules/automations/machine"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/batch"
	"github.com/postrider/postrider/runtime/work/event"
)

var runRows = batch.New("v",
	batch.Text("id", func(s *Settlement) string { return s.Live.Run.ID }),
	batch.Text("account_id", func(s *Settlement) string { return s.Live.AccountID }),
	batch.Text("automation_id", func(s *Settlement) string { return s.Live.Run.AutomationID }),
	batch.Int("version", func(s *Settlement) int { return s.Live.Run.Version }),
	batch.Text("definition", func(s *Settlement) string { return string(s.Live.Trial) }).OrNull().As("jsonb"),
	batch.Text("event_id", func(s *Settlement) string { return s.Live.Run.Trigger.ID }),
	batch.JSON("event", func(s *Settlement) *machine.Event { return s.Live.Run.Trigger }),
	batch.Text("user_id", func(s *Settlement) string { return s.Live.Run.Identity.UserID }).OrNull(),
	batch.Text("email_key", func(s *Settlement) string { return s.Live.Run.Identity.EmailKey }).OrNull(),
	batch.Text("status", func(s *Settlement) string { return s.status() }),
	batch.Int("step_index", func(s *Settlement) int { return s.State.Step }),
	batch.Text("error", func(s *Settlement) string { return s.Outcome.Error }),
	batch.Int("depth", func(s *Settlement) int { return s.Live.Depth }),
	batch.Time("started_at", func(s *Settlement) time.Time { return s.Live.Run.StartedAt }),
	batch.Bool("ended", func(s *Settlement) bool { return s.hasEnded() }).SourceOnly(),
	batch.Time("goal_until", (*Settlement).goalUntil),
	batch.ComputedColumn[*Settlement]("ended_at", `CASE WHEN v.ended THEN clock_timestamp() END`),
)

var workRows = batch.New("w",
	batch.Text("id", func(s *Settlement) string { return s.Live.Run.ID }),
	batch.Text("account_id", func(s *Settlement) string { return s.Live.AccountID }),
	batch.Text("automation_id", func(s *Settlement) string { return s.Live.Run.AutomationID }),
	batch.Int("version", func(s *Settlement) int { return s.Live.Run.Version }),
	batch.Text("user_id", func(s *Settlement) string { return s.findIdentity().UserID }).OrNull(),
	batch.Text("email_key", func(s *Settlement) string { return s.findIdentity().EmailKey }).OrNull(),
	batch.Int("step_index", func(s *Settlement) int { return s.State.Step }),
	batch.Text("state", func(s *Settlement) string { return s.work() }),
	batch.Text("waiting", func(s *Settlement) string { return s.waiting() }).OrNull().As("jsonb"),
	batch.Time("ready_at", func(s *Settlement) time.Time { return s.readyAt() }),
	batch.Time("due_at", func(s *Settlement) time.Time { return s.dueAt() }),
	batch.Int("lane", func(s *Settlement) int { return laneOf(s.Live.AccountID) }),
	batch.ComputedColumn[*Settlement]("parked", "false"),
	batch.ComputedColumn[*Settlement]("fence", "0"),
	batch.ComputedColumn[*Settlement]("claims", "0"),
)

var (
	insertRunsSQL  = db.Compile(runRows.Insert("automation_runs"))
	insertWorksSQL = db.Compile(workRows.Insert("automation_works"))
)

// goalUntil returns until when the event of the goal converts the run. A trial has no goal.
func (s *Settlement) goalUntil() time.Time {
	if s.Live.Trial != nil {
		return time.Time{}
	}
	return s.Program.Definition.Goal.Until(s.Live.Run.StartedAt)
}

// findIdentity returns the identity by which events find the run. A trial has none.
func (s *Settlement) findIdentity() machine.Identity {
	if s.Live.Trial != nil {
		return machine.Identity{}
	}
	return s.Live.Run.Identity
}

// publicFacts returns the facts to publish about the run. A trial publishes none.
func (s *Settlement) publicFacts(fact func(*Settlement) event.Fact) []event.Fact {
	if s.Live.Trial != nil {
		return nil
	}
	return []event.Fact{fact(s)}
}

// Begin stores runs that have just started, with the steps they have already taken. A run that begins with a
// wait looks back for earlier events like every wait.
func Begin(ctx context.Context, tx db.Execer, bus Bus, list []*Settlement) error {
	if len(list) == 0 {
		return nil
	}
	var living []*Settlement
	facts := make([]event.Fact, 0, len(list))
	for _, s := range list {
		if !s.hasEnded() {
			living = append(living, s)
		}
		facts = append(facts, s.publicFacts((*Settlement).StartedFact)...)
	}
	if _, err := tx.ExecContext(ctx, insertRunsSQL.Text, insertRunsSQL.Args(runRows.Rows(list))...); err != nil {
		return wrapError(err, "store runs")
	}
	if len(living) > 0 {
		if _, err := tx.ExecContext(ctx, insertWorksSQL.Text,
			insertWorksSQL.Args(workRows.Rows(living))...); err != nil {
			return wrapError(err, "store the work of runs")
		}
	}
	if len(facts) > 0 {
		if err := bus.Publish(ctx, tx, facts...); err != nil {
			return wrapError(err, "publish facts of runs")
		}
	}
	if err := storeEnded(ctx, tx, bus, list); err != nil {
		return err
	}
	return lookBack(ctx, tx, slices.DeleteFunc(living, func(s *Settlement) bool {
		w := s.Outcome.Waiting // the caller knows the events since the start, which are in this transaction
		return w != nil && !w.Since.Before(s.Live.Run.StartedAt)
	}))
}

const restartSQL = `
WITH run AS (
	UPDATE automation_runs SET status = 'running', error = '', ended_at = NULL, retried_at = now()
	WHERE account_id = $1 AND id = ANY($2::text[]) AND status = 'failed' AND version > 0 AND ended_at > now() - interval '30 days' RETURNING *
)
INSERT INTO automation_works (id, account_id, automation_id, version, user_id, email_key, step_index, state, ready_at, parked, due_at, lane, fence, claims)
SELECT id, account_id, automation_id, version, user_id, email_key, step_index, 'ready', now(), false, now(), $3, 0, 0 FROM run`

// Restart resumes failed runs, each at the step that failed. It returns how many of them had failed within the
// last 30 days.
func Restart(ctx context.Context, tx db.Execer, accountID string, runIDs ...string) (int, error) {
	made, err := db.Exec(ctx, tx, restartSQL, accountID, db.Array(runIDs), laneOf(accountID))
	return made, wrapError(err, "restart runs")
}

const cancelSQL = `
WITH gone AS (DELETE FROM automation_works WHERE id = ANY($1::text[]) RETURNING id)
UPDATE automation_runs r SET status = 'cancelled', ended_at = clock_timestamp() FROM gone g WHERE r.id = g.id RETURNING r.id`

// Cancelled is a run to cancel, with its program.
type Cancelled struct {
	Live    *LiveRun
	Program *machine.Program
}

// Cancel ends runs whose rows the caller has locked. Once it has committed, they send nothing, because a send
// commits only if its row of work exists.
func Cancel(ctx context.Context, tx db.Execer, bus Bus, list []Cancelled, at time.Time) (int, error) {
	if len(list) == 0 {
		return 0, nil
	}
	byID, ids := map[string]Cancelled{}, make([]string, 0, len(list))
	for _, c := range list {
		byID[c.Live.Run.ID] = c
		ids = append(ids, c.Live.Run.ID)
	}
	gone, err := db.All(ctx, tx, db.Value[string], cancelSQL, db.Array(ids))
	if err != nil {
		return 0, wrapError(err, "cancel runs")
	}
	facts := make([]event.Fact, 0, len(gone))
	for _, id := range gone {
		c := byID[id]
		facts = append(facts, (&Settlement{Live: c.Live, Program: c.Program, State: c.Live.State, Now: at}).
			publicFacts((*Settlement).Cancelled)...)
	}
	if len(facts) == 0 {
		return len(gone), nil
	}
	return len(gone), wrapError(bus.Publish(ctx, tx, facts...), "publish facts of runs")
}
