package runs

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"time"

	"github.com/postrider/postrider/modules/automations/machine"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/batch"
	"github.com/postrider/postrider/runtime/work/event"
)

// Bus publishes facts inside a transaction.
type Bus interface {
	Publish(ctx context.Context, tx db.Execer, facts ...event.Fact) error
}

// Settlement is a decision of the machine about a run.
type Settlement struct {
	Live    *LiveRun
	Program *machine.Program
	State   machine.State
	Outcome machine.Decision
	Blocked *Blocker // why the effect of Outcome could not be finished yet; may be nil
	EmailID string   // id of the email if the step sent one
	Now     time.Time
}

// Statuses of a run.
const (
	StatusRunning   = "running"
	StatusWaiting   = "waiting"
	StatusCompleted = "completed"
	StatusFailed    = "failed"
	StatusCancelled = "cancelled"
)

func (s *Settlement) hasEnded() bool { return s.Outcome.Ended != "" }

func (s *Settlement) status() string {
	switch {
	case s.hasEnded():
		return s.Outcome.Ended
	case s.Outcome.Waiting != nil, s.Blocked != nil:
		return StatusWaiting
	default:
		return StatusRunning
	}
}

func (s *Settlement) work() string {
	if s.Outcome.Waiting != nil {
		return Waiting
	}
	return Ready
}

func (s *Settlement) dueAt() time.Time {
	switch {
	case s.Outcome.Waiting != nil:
		return s.Outcome.Waiting.Until
	case s.Blocked != nil:
		return s.Blocked.Until
	}
	return s.Now
}

// countClaims returns how many tries have counted so far.
func (s *Settlement) countClaims() int {
	switch {
	case s.Blocked == nil:
		return 0
	case s.Blocked.Counted:
		return s.Live.Claims
	}
	return max(s.Live.Claims-1, 0)
}

func (s *Settlement) readyAt() time.Time {
	if s.State.Ready.IsZero() {
		return s.Now
	}
	return s.State.Ready
}

func (s *Settlement) waiting() string {
	if s.Outcome.Waiting == nil {
		return ""
	}
	text, err := json.Marshal(s.Outcome.Waiting)
	if err != nil {
		panic("runs: a wait cannot be encoded: " + err.Error()) // contains only times and strings
	}
	return string(text)
}

// laneOf assigns an account to a lane.
func laneOf(accountID string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(accountID)) // hash.Hash.Write never fails
	return int(h.Sum32() % Lanes)
}

var settledRows = batch.New("v",
	batch.Text("id", func(s *Settlement) string { return s.Live.Run.ID }),
	batch.Int("fence", func(s *Settlement) int64 { return s.Live.Fence }),
	batch.Bool("ended", func(s *Settlement) bool { return s.hasEnded() }),
	batch.Text("status", func(s *Settlement) string { return s.status() }),
	batch.Text("error", func(s *Settlement) string { return s.Outcome.Error }),
	batch.Int("step_index", func(s *Settlement) int { return s.State.Step }),
	batch.Text("state", func(s *Settlement) string { return s.work() }),
	batch.Text("waiting", func(s *Settlement) string { return s.waiting() }),
	batch.Time("ready_at", func(s *Settlement) time.Time { return s.readyAt() }),
	batch.Time("due_at", func(s *Settlement) time.Time { return s.dueAt() }),
	batch.Text("blocked", func(s *Settlement) string { return s.Blocked.encode() }),
	batch.Bool("by_account", func(s *Settlement) bool { return s.Blocked != nil && s.Blocked.ByAccount }),
	batch.Int("claims", func(s *Settlement) int { return s.countClaims() }),
)

// settleSQL stores the next action under the fencing number of the claim. It locks rows of work in id order and
// returns the runs that were still held.
var settleSQL = db.Compile(`
WITH v AS MATERIALIZED (SELECT * FROM ` + settledRows.Source() + `),
held AS MATERIALIZED (
	SELECT w.id FROM automation_works w JOIN v ON v.id = w.id AND v.fence = w.fence ORDER BY w.id FOR UPDATE OF w
), moved AS (
	UPDATE automation_works w SET step_index = v.step_index, state = v.state, waiting = NULLIF(v.waiting, '')::jsonb, input = NULL,
		ready_at = v.ready_at::timestamptz, due_at = v.due_at::timestamptz, fence = w.fence + 1, claims = v.claims,
		blocked = NULLIF(v.blocked, '')::jsonb, refused_at = CASE WHEN v.by_account THEN clock_timestamp() END
	FROM v JOIN held h ON h.id = v.id WHERE w.id = v.id AND NOT v.ended
), gone AS (
	DELETE FROM automation_works w USING v JOIN held h ON h.id = v.id WHERE w.id = v.id AND v.ended
), run AS (
	UPDATE automation_runs r SET status = v.status, step_index = v.step_index, error = v.error, ended_at = CASE WHEN v.ended THEN clock_timestamp() END
	FROM v JOIN held h ON h.id = v.id WHERE r.id = v.id
)
SELECT id FROM held`)

// Settle stores outcomes of claimed runs. held[i] reports whether list[i] was still held; nothing is stored for
// the others. After an error, the caller must not commit.
func Settle(ctx context.Context, tx db.Execer, bus Bus, list []*Settlement) (held []bool, err error) {
	held = make([]bool, len(list))
	if len(list) == 0 {
		return held, nil
	}
	ids, err := db.All(ctx, tx, db.Value[string], settleSQL.Text, settleSQL.Args(settledRows.Rows(list))...)
	if err != nil {
		return nil, fmt.Errorf("settle runs: %w", err)
	}
	ours := map[string]bool{}
	for _, id := range ids {
		ours[id] = true
	}
	stored := make([]*Settlement, 0, len(list))
	for i, s := range list {
		if held[i] = ours[s.Live.Run.ID]; held[i] {
			stored = append(stored, s)
		}
	}
	if err := storeEnded(ctx, tx, bus, stored); err != nil {
		return nil, err
	}
	return held, lookBack(ctx, tx, stored)
}

// ended is a step that a settlement ended.
type endedStep struct {
	*Settlement

	record machine.Record
}

var stepRows = batch.New("v",
	batch.Text("account_id", func(s endedStep) string { return s.Live.AccountID }),
	batch.Text("automation_id", func(s endedStep) string { return s.Live.Run.AutomationID }),
	batch.Int("version", func(s endedStep) int { return s.Live.Run.Version }),
	batch.Text("run_id", func(s endedStep) string { return s.Live.Run.ID }),
	batch.Int("step_index", func(s endedStep) int { return s.record.Index }),
	batch.Text("key", func(s endedStep) string { return s.record.Key }),
	batch.Text("type", func(s endedStep) string { return s.record.Type }),
	batch.Text("status", func(s endedStep) string { return s.record.Status }),
	batch.JSON("output", func(s endedStep) map[string]any { return s.record.Output }),
	batch.Text("error", func(s endedStep) string { return s.record.Error }),
	batch.Text("email_id", func(s endedStep) string { id, _ := s.record.Output["email_id"].(string); return id }).
		OrNull(),
	batch.Time("started_at", func(s endedStep) time.Time { return s.record.Started }),
	batch.Time("ended_at", func(s endedStep) time.Time { return s.record.Ended }),
)

var insertStepsSQL = db.Compile(stepRows.Insert("automation_steps"))

// storeEnded stores the steps that ended and publishes the facts.
func storeEnded(ctx context.Context, tx db.Execer, bus Bus, list []*Settlement) error {
	var steps []endedStep
	var facts []event.Fact
	for _, s := range list {
		for _, r := range s.Outcome.Records {
			steps = append(steps, endedStep{s, r})
		}
		facts = append(facts, s.Facts()...)
	}
	if len(steps) > 0 {
		if _, err := tx.ExecContext(ctx, insertStepsSQL.Text,
			insertStepsSQL.Args(stepRows.Rows(steps))...); err != nil {
			return fmt.Errorf("store steps: %w", err)
		}
	}
	if len(facts) == 0 {
		return nil
	}
	return wrapError(bus.Publish(ctx, tx, facts...), "publish facts of runs")
}

// StartedFact is the fact that a run has started.
func (s *Settlement) StartedFact() event.Fact {
	return s.fact(event.AutomationStarted, StatusRunning, 0, s.Program.Definition.Steps[0].Type, "")
}

// Cancelled is the fact that a run was cancelled.
func (s *Settlement) Cancelled() event.Fact {
	return s.fact(event.AutomationCancelled, StatusCancelled, s.State.Step,
		s.Program.Definition.Steps[s.State.Step].Type, "")
}

// Facts returns the facts of a settlement: one for each step that did not fail the run, and one for its end. A
// trial has none.
func (s *Settlement) Facts() (facts []event.Fact) {
	if s.Live.Trial != nil {
		return nil
	}
	for _, r := range s.Outcome.Records {
		if !r.Failed {
			facts = append(facts, s.fact(event.AutomationStepCompleted, StatusRunning, r.Index, r.Type, r.Error))
		}
	}
	if !s.hasEnded() {
		return facts
	}
	index, kind := s.State.Step, s.Program.Definition.Steps[s.State.Step].Type
	if n := len(s.Outcome.Records); n > 0 {
		index, kind = s.Outcome.Records[n-1].Index, s.Outcome.Records[n-1].Type
	}
	if s.Outcome.Ended == StatusFailed {
		return append(facts, s.fact(event.AutomationFailed, StatusFailed, index, kind, s.Outcome.Error))
	}
	return append(facts, s.fact(event.AutomationCompleted, StatusCompleted, index, kind, ""))
}

func (s *Settlement) fact(typ event.Type, status string, step int, stepType, failure string) event.Fact {
	run := s.Live.Run
	data := event.Run{AutomationID: run.AutomationID, AutomationName: s.Program.Definition.Name, RunID: run.ID,
		Status: status, EventName: run.Trigger.Name,
		StepIndex: step, StepType: stepType}
	if failure != "" {
		data.Error = &failure
	}
	return event.New(s.Live.AccountID, typ, s.Now, data)
}
