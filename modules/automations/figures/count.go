package figures

import (
	"context"
	"fmt"

	"github.com/postrider/postrider/ent/smsmessage"
	"github.com/postrider/postrider/modules/automations/definition"
	"github.com/postrider/postrider/modules/automations/runs"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Kinds of rows.
const (
	ofStarted = "started" // number of runs
	ofEnded   = "ended"   // number of runs by status
	ofSteps   = "steps"   // number of steps by status
	ofLive    = "live"    // runs at a step, by the state of their work
	ofGoal    = "goal"    // number of runs with a goal, by whether they converted
)

// countSQL counts everything in one snapshot, using index ranges of the automations. No index contains the
// account, so automations of other accounts are removed at the end. Completed runs are the total minus the
// other counts. Trials are not counted.
const countSQL = `
WITH counted AS (
	SELECT 'started' AS what, automation_id, 0 AS version, 0 AS step_index, '' AS status, count(*) AS n
	FROM automation_runs WHERE automation_id = ANY ($2::text[]) GROUP BY automation_id
	UNION ALL
	SELECT 'started', automation_id, 0, 0, '', -count(*) FROM automation_runs WHERE automation_id = ANY ($2::text[]) AND version = 0 GROUP BY automation_id
	UNION ALL
	SELECT 'ended', automation_id, version, step_index, status, count(*)
	FROM automation_runs WHERE automation_id = ANY ($2::text[]) AND (status = 'failed' OR status = 'cancelled') AND version > 0 GROUP BY automation_id, version, step_index, status
	UNION ALL
	SELECT 'steps', automation_id, version, step_index, status, count(*)
	FROM automation_steps WHERE automation_id = ANY ($2::text[]) AND version > 0 GROUP BY automation_id, version, step_index, status
	UNION ALL
	SELECT 'live', automation_id, version, step_index, CASE WHEN blocked IS NULL THEN state ELSE 'waiting' END, count(*)
	FROM automation_works WHERE automation_id = ANY ($2::text[]) AND version > 0 GROUP BY 1, 2, 3, 4, 5
	UNION ALL
	SELECT 'goal', automation_id, 0, 0, CASE WHEN converted_at IS NULL THEN '' ELSE 'converted' END, count(*)
	FROM automation_runs WHERE automation_id = ANY ($2::text[]) AND goal_until IS NOT NULL GROUP BY 1, 2, 3, 4, 5
)
SELECT c.what, c.automation_id, c.version, c.step_index, c.status, c.n, coalesce(v.definition->'steps'->c.step_index::int->>'key', '')
FROM counted c JOIN automations a ON a.id = c.automation_id AND a.account_id = $1
	LEFT JOIN automation_versions v ON v.automation_id = c.automation_id AND v.number = c.version`

// countRow is one row of counts.
type countRow struct {
	what, automationID, status, key string
	version, index, n               int
}

func (c *countRow) columns() []any {
	return []any{&c.what, &c.automationID, &c.version, &c.index, &c.status, &c.n, &c.key}
}

// count counts the outcomes of runs and steps of automations. It leaves out automations of other accounts.
func (s *Service) count(ctx context.Context, accountID string, automationIDs []string) (map[string]*Figures, error) {
	rows, err := db.All(ctx, s.db.SQL, (*countRow).columns, countSQL, accountID, db.Array(automationIDs))
	if err != nil {
		return nil, fmt.Errorf("count runs and steps: %w", err)
	}
	out := make(map[string]*Figures, len(automationIDs))
	for _, id := range automationIDs {
		out[id] = &Figures{Steps: map[StepPosition]StepFigures{}, Messages: map[StepPosition]Texts{}}
	}
	for _, row := range rows {
		out[row.automationID].addRow(row)
	}
	for _, f := range out {
		f.Runs.Completed = f.Runs.Started - f.Runs.Running - f.Runs.Waiting - f.Runs.Failed - f.Runs.Cancelled
	}
	return out, s.countTexts(ctx, accountID, automationIDs, out)
}

func (f *Figures) addRow(row countRow) {
	at := StepPosition{row.version, row.key}
	step := f.Steps[at]
	switch row.what {
	case ofStarted:
		f.Runs.Started += row.n
		return
	case ofGoal:
		if f.Runs.WithGoal += row.n; row.status != "" {
			f.Runs.Converted += row.n
		}
		return
	case ofEnded:
		if row.status == runs.StatusFailed { // the step is already counted among those that ended
			f.Runs.Failed += row.n
			return
		}
		f.Runs.Cancelled += row.n
		step.Cancelled += row.n
	case ofSteps:
		step = step.add(countEnded(row.status, row.n))
	case ofLive:
		if row.status == runs.Waiting {
			f.Runs.Waiting += row.n
		} else {
			f.Runs.Running += row.n
		}
		step.Waiting += row.n
	}
	f.Steps[at] = step
}

const keysSQL = `
SELECT automation_id, number, n - 1, s->>'key' FROM automation_versions, jsonb_array_elements(definition->'steps') WITH ORDINALITY AS e (s, n)
WHERE account_id = $1 AND automation_id = ANY ($2::text[]) AND s->>'type' = ANY ($3::text[])`

// keyedStep is the position of a step with its key.
type keyedStep struct {
	automationID   string
	version, index int
}

// countTexts adds the figures of text messages.
func (s *Service) countTexts(ctx context.Context, accountID string, automationIDs []string,
	out map[string]*Figures) error {
	if s.near.Texts == nil {
		return nil
	}
	counts, err := s.near.Texts.StepCounts(ctx, accountID, automationIDs...)
	if err != nil || len(counts) == 0 {
		return err
	}
	keys := map[keyedStep]string{}
	err = db.Each(ctx, s.db.SQL, func(row db.Row) error {
		var at keyedStep
		var key string
		err := row.Scan(&at.automationID, &at.version, &at.index, &key)
		keys[at] = key
		return err
	}, keysSQL, accountID, db.Array(automationIDs), db.Array(definition.TypesSending(definition.MediumText)))
	if err != nil {
		return fmt.Errorf("read the keys of steps: %w", err)
	}
	for _, c := range counts {
		f, at := out[c.AutomationID], StepPosition{c.Version, keys[keyedStep{c.AutomationID, c.Version, c.StepIndex}]}
		t := f.Messages[at]
		t.Sent += c.Count
		switch c.Status {
		case smsmessage.StatusDelivered:
			t.Delivered += c.Count
		case smsmessage.StatusFailed:
			t.Failed += c.Count
		default: // not final, or the outcome is unknown
		}
		f.Messages[at] = t
	}
	return nil
}
