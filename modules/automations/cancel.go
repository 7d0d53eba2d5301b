package automations

import (
	"context"
	"fmt"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/automationrun"
	"github.com/postrider/postrider/modules/automations/definition"
	"github.com/postrider/postrider/modules/automations/ingest"
	"github.com/postrider/postrider/modules/automations/runs"
	"github.com/postrider/postrider/runtime/fault"
)

// The codes of what cannot be done with a run.
const (
	CodeRunNotLive   = "run_not_live"
	CodeRunNotFailed = "run_not_failed"
)

// Cancel ends a live run. From its commit on the run sends nothing. Errors: NotFound, Conflict
// for one that has ended.
func (s *Service) Cancel(ctx context.Context, accountID, runID string) (Run, error) {
	err := s.db.InTx(ctx, func(tx *ent.Tx) error {
		l, err := runs.LockOne(ctx, tx, accountID, runID)
		if err != nil || l == nil {
			return orNil(err, l == nil, func() error { return s.notLive(ctx, tx, accountID, runID) })
		}
		return s.drain.Cancel(ctx, tx, []*runs.Live{l})
	})
	if err != nil {
		return Run{}, fmt.Errorf("cancel run: %w", err)
	}
	s.bus.Wake()
	return s.Run(ctx, accountID, runID)
}

func orNil(err error, is bool, otherwise func() error) error {
	if err != nil || !is {
		return err
	}
	return otherwise()
}

// notLive says why a run cannot be cancelled.
func (s *Service) notLive(ctx context.Context, tx *ent.Tx, accountID, runID string) error {
	run, err := tx.AutomationRun.Query().Where(automationrun.AccountID(accountID), automationrun.ID(runID)).Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return fault.Missing("automation run", runID)
	case err != nil:
		return err
	}
	return fault.Conflictf(CodeRunNotLive, "This run has ended: it is %s", run.Status).With("status", string(run.Status))
}

// Retry lets a run that has failed within 30 days go on from the step that failed. Errors:
// NotFound, Conflict for one that has not failed, or whose automation allows one run at a time
// and has another one of the person.
func (s *Service) Retry(ctx context.Context, accountID, runID string) (Run, error) {
	run, err := s.Run(ctx, accountID, runID)
	if err != nil {
		return Run{}, err
	}
	if _, err := s.Get(ctx, accountID, run.AutomationID); err != nil {
		return Run{}, err
	}
	v, err := s.versions.Get(ctx, s.db.SQL, run.AutomationID, run.Version)
	if err != nil {
		return Run{}, err
	}
	person := runs.Person{AccountID: accountID}
	if run.UserID != nil {
		person.UserID = *run.UserID
	}
	if run.EmailKey != nil {
		person.EmailKey = *run.EmailKey
	}
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		if err := runs.LockPerson(ctx, tx, person); err != nil {
			return err
		}
		if v.Definition.Trigger.ReEntry.Mode == definition.AfterCompletion {
			live, err := runs.Lock(ctx, tx, []runs.Person{person})
			if err != nil {
				return err
			}
			for _, l := range live {
				if l.Run.AutomationID == run.AutomationID {
					return fault.Conflictf(fault.CodeConflict, "The person has a live run of this automation, which allows one at a time")
				}
			}
		}
		restarted, err := runs.Restart(ctx, tx, accountID, runID)
		if err != nil || restarted {
			return err
		}
		return fault.Conflictf(CodeRunNotFailed, "Only a run that has failed within 30 days can be tried again; this one is %s", run.Status).With("status", string(run.Status))
	})
	if err != nil {
		return Run{}, fmt.Errorf("retry run: %w", err)
	}
	s.signals.Wake(ingest.WorkChannel)
	return s.Run(ctx, accountID, runID)
}
