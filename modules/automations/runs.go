package automations

import (
	"context"
	"fmt"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/automationrun"
	"github.com/postrider/postrider/ent/predicate"
	"github.com/postrider/postrider/modules/automations/definition"
	"github.com/postrider/postrider/modules/automations/machine"
	"github.com/postrider/postrider/modules/automations/runs"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/page"
)

// RunFilter selects runs. Empty fields match everything.
type RunFilter struct {
	page.Request

	AutomationID string
	Status       string
	UserID       string
	Email        string
	Step         string // key of the current or last step; requires AutomationID
	Version      int
	Since, Until *time.Time // started at or after Since and before Until
}

// Validate reports every invalid field.
func (f RunFilter) Validate() fault.Fields {
	wrong := fault.Fields{}
	if f.Status != "" && automationrun.StatusValidator(automationrun.Status(f.Status)) != nil {
		wrong.Add("status", "must be one of running, waiting, completed, failed, cancelled")
	}
	if f.AutomationID != "" && !id.Is(id.Automation, f.AutomationID) {
		wrong.Add("automation_id", "must be the id of an automation")
	}
	if f.Step != "" && f.AutomationID == "" {
		wrong.Add("step", "requires automation_id, because step keys are only unique within one automation")
	}
	if f.Version < 0 {
		wrong.Add("version", "must be 1 or more")
	}
	if f.Since != nil && f.Until != nil && !f.Since.Before(*f.Until) {
		wrong.Add("until", "must be later than since")
	}
	return wrong
}

// clocks bounds the difference between the clocks of the processes that create ids and the clock of the
// database.
const clocks = time.Hour

func (f RunFilter) predicates() (where []predicate.AutomationRun) {
	add := func(is bool, p predicate.AutomationRun) {
		if is {
			where = append(where, p)
		}
	}
	add(f.AutomationID != "", automationrun.AutomationID(f.AutomationID))
	add(f.Status != "", automationrun.StatusEQ(automationrun.Status(f.Status)))
	add(f.UserID != "", automationrun.UserID(f.UserID))
	add(f.Email != "", automationrun.EmailKey(runs.EmailKey(f.Email)))
	add(f.Version > 0, automationrun.Version(f.Version))
	if f.Since != nil {
		where = append(where, automationrun.StartedAtGTE(*f.Since),
			automationrun.IDGTE(id.Since(id.Run, f.Since.Add(-clocks))))
	}
	if f.Until != nil {
		where = append(where, automationrun.StartedAtLT(*f.Until),
			automationrun.IDLT(id.Since(id.Run, f.Until.Add(clocks))))
	}
	return where
}

// Runs returns one page of the account's runs, newest first. It returns NotFound for an automation that does
// not belong to the account, or Invalid with all invalid fields.
func (s *Service) Runs(ctx context.Context, accountID string,
	f RunFilter) (out page.Page[*ent.AutomationRun], err error) {
	q, err := s.matchingRuns(ctx, accountID, f)
	if err != nil {
		return out, err
	}
	return page.ReadNewest(ctx, s.cursors, page.List{Name: "automation runs", AccountID: accountID}, f.Request, q,
		func(r *ent.AutomationRun) string { return r.ID })
}

// CountRuns counts the runs that match a filter, up to a limit. It returns the same errors as Runs.
func (s *Service) CountRuns(ctx context.Context, accountID string, f RunFilter, most int) (int, error) {
	q, err := s.matchingRuns(ctx, accountID, f)
	if err != nil {
		return 0, err
	}
	found, err := q.Limit(most).IDs(ctx)
	return len(found), err
}

func (s *Service) matchingRuns(ctx context.Context, accountID string, f RunFilter) (*ent.AutomationRunQuery, error) {
	if err := f.Validate().Err(); err != nil {
		return nil, err
	}
	if err := fault.CheckTexts(map[string]string{"user_id": f.UserID, "step": f.Step}); err != nil {
		return nil, err
	}
	q := s.db.Ent.AutomationRun.Query().Where(automationrun.AccountID(accountID)).Where(f.predicates()...)
	if f.AutomationID != "" {
		if _, err := s.Get(ctx, accountID, f.AutomationID); err != nil {
			return nil, err
		}
	}
	if f.Step != "" {
		places, err := s.findStepPositions(ctx, accountID, f.AutomationID, f.Step)
		if err != nil {
			return nil, err
		}
		there := make([]predicate.AutomationRun, len(places))
		for i, p := range places {
			there[i] = automationrun.And(automationrun.Version(p.version), automationrun.StepIndex(p.index))
		}
		q = q.Where(automationrun.Or(there...))
	}
	return q, nil
}

// stepPosition is the position of a step in a version.
type stepPosition struct{ version, index int }

const placesSQL = `
SELECT v.number, s.n - 1 FROM automation_versions v, jsonb_array_elements(v.definition->'steps') WITH ORDINALITY AS s (step, n)
WHERE v.account_id = $1 AND v.automation_id = $2 AND s.step->>'key' = $3`

// findStepPositions returns the positions of the step with a key in all versions of an automation. It returns
// Invalid if no version has the step.
func (s *Service) findStepPositions(ctx context.Context, accountID, automationID, key string) ([]stepPosition, error) {
	list, err := db.All(ctx, s.db.SQL, func(p *stepPosition) []any { return []any{&p.version, &p.index} }, placesSQL,
		id.HomeAccount(accountID), automationID, key)
	if err != nil {
		return nil, fmt.Errorf("look for the step in versions: %w", err)
	}
	if len(list) == 0 {
		return nil, fault.InvalidField("step", "must be the key of a step in a version of this automation")
	}
	return list, nil
}

// RunDetail is a run with its steps and, if it is live, its next action.
type RunDetail struct {
	*ent.AutomationRun

	Steps       []*ent.AutomationStep
	Next        *time.Time        // when the next step begins or the wait ends; nil if the run has ended
	Waiting     *machine.StepWait // what the run waits for; nil if it is not waiting
	WaitingStep *definition.Step  // key of the waiting step
	Blocked     *runs.Blocker     // why the step could not be finished yet; nil while waiting as defined
	Held        bool              // the run became due while its automation was held
}

// Run returns one run of the account.
func (s *Service) Run(ctx context.Context, accountID, runID string) (RunDetail, error) {
	return s.loadRun(ctx, s.db.Ent, accountID, runID)
}

func (s *Service) loadRun(ctx context.Context, on *ent.Client, accountID, runID string) (out RunDetail, err error) {
	if !id.Is(id.Run, runID) {
		return out, fault.NoSuch("automation run", runID)
	}
	out.AutomationRun, err = on.AutomationRun.Query().
		Where(automationrun.AccountID(accountID), automationrun.ID(runID)).Only(ctx)
	if ent.IsNotFound(err) {
		return out, fault.NoSuch("automation run", runID)
	}
	if err != nil {
		return out, fmt.Errorf("read run: %w", err)
	}
	list, err := s.loadDetails(ctx, on, []*ent.AutomationRun{out.AutomationRun})
	if err != nil {
		return out, err
	}
	return list[0], nil
}
