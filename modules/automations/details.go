package automations

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/automationrun"
	"github.com/postrider/postrider/ent/automationstep"
	"github.com/postrider/postrider/ent/automationwork"
	"github.com/postrider/postrider/modules/automations/machine"
	"github.com/postrider/postrider/modules/automations/runs"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Details returns runs of the account, each with its steps and its next action, keyed by id. Ids of other
// accounts are omitted.
func (s *Service) Details(ctx context.Context, accountID string, runIDs ...string) (map[string]RunDetail, error) {
	rows, err := s.db.Ent.AutomationRun.Query().
		Where(automationrun.AccountID(accountID), automationrun.IDIn(runIDs...)).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read runs: %w", err)
	}
	list, err := s.loadDetails(ctx, s.db.Ent, rows)
	if err != nil {
		return nil, err
	}
	out := make(map[string]RunDetail, len(list))
	for _, run := range list {
		out[run.ID] = run
	}
	return out, nil
}

// loadDetails adds steps and next actions to runs.
func (s *Service) loadDetails(ctx context.Context, on *ent.Client, rows []*ent.AutomationRun) ([]RunDetail, error) {
	list, at, ids := make([]RunDetail, len(rows)), map[string]*RunDetail{}, make([]string, len(rows))
	for i, row := range rows {
		list[i].AutomationRun, ids[i] = row, row.ID
		at[row.ID] = &list[i]
	}
	steps, err := on.AutomationStep.Query().Where(automationstep.RunIDIn(ids...)).
		Order(ent.Asc(automationstep.FieldID)).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read steps of runs: %w", err)
	}
	for _, step := range steps {
		run := at[step.RunID]
		run.Steps = append(run.Steps, step)
	}
	works, err := on.AutomationWork.Query().Where(automationwork.IDIn(ids...)).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the work of runs: %w", err)
	}
	for _, work := range works {
		if err := s.addNextAction(ctx, at[work.ID], work); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// addNextAction adds the next action to a live run.
func (s *Service) addNextAction(ctx context.Context, run *RunDetail, work *ent.AutomationWork) error {
	run.Next, run.Held = &work.DueAt, work.Parked
	var err error
	if run.Blocked, err = runs.ReadBlocked(work.Blocked); err != nil {
		return fmt.Errorf("read why a run is blocked: %w", err)
	}
	switch waits := work.State == automationwork.StateWaiting && len(work.Waiting) > 0; {
	case waits:
		run.Waiting = &machine.StepWait{}
		if err := json.Unmarshal(work.Waiting, run.Waiting); err != nil {
			return fmt.Errorf("read the wait of a run: %w", err)
		}
	case run.Blocked != nil:
		run.Waiting = &machine.StepWait{Until: work.DueAt, Began: run.Blocked.Since}
	default:
		return nil
	}
	program, err := s.programOf(ctx, run)
	if err != nil {
		return fmt.Errorf("read the version of a run: %w", err)
	}
	run.WaitingStep = &program.Definition.Steps[work.StepIndex]
	return nil
}

// programOf returns the program of a run: its version, or the definition of a trial.
func (s *Service) programOf(ctx context.Context, run *RunDetail) (*machine.Program, error) {
	if run.Version == 0 {
		return machine.Parse(run.Definition)
	}
	v, err := s.versions.Get(ctx, s.db.SQL, run.AutomationID, run.Version)
	if err != nil {
		return nil, err
	}
	return v.Program, nil
}

// EmailOrigin is the step that sent an email.
type EmailOrigin struct {
	AutomationName string // empty: the automation was deleted
	StepKey        string
}

const originsSQL = `
SELECT s.email_id, coalesce(a.name, ''), s.key FROM automation_steps s LEFT JOIN automations a ON a.id = s.automation_id
WHERE s.account_id = $1 AND s.email_id = ANY ($2::text[])`

// Origins returns the steps that sent the account's emails, keyed by email id. It omits emails that no run sent
// and emails of deleted runs.
func (s *Service) Origins(ctx context.Context, accountID string, emailIDs ...string) (map[string]EmailOrigin, error) {
	out := make(map[string]EmailOrigin, len(emailIDs))
	err := db.Each(ctx, s.db.SQL, func(row db.Row) error {
		var emailID string
		var o EmailOrigin
		err := row.Scan(&emailID, &o.AutomationName, &o.StepKey)
		out[emailID] = o
		return err
	}, originsSQL, accountID, db.Array(emailIDs))
	if err != nil {
		return nil, fmt.Errorf("read which steps have sent emails: %w", err)
	}
	return out, nil
}

// Emails returns the ids of the emails recorded as sent by the run's steps.
func (r RunDetail) Emails() (ids []string) {
	for _, step := range r.Steps {
		if step.EmailID != nil {
			ids = append(ids, *step.EmailID)
		}
	}
	return ids
}
