package automations

import (
	"context"
	"fmt"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/automationrun"
	"github.com/postrider/postrider/modules/automations/runs"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

// Codes of actions that the state of a run does not allow.
const (
	CodeRunNotLive   = "run_not_live"
	CodeRunNotFailed = "run_not_failed"
)

// KeepRun stores the caller's response in the transaction of an action on a run. It may be nil.
type KeepRun func(ctx context.Context, tx idempotency.Execer, r RunDetail) error

// Cancel ends a live run. Once Cancel has committed, the run sends nothing. It returns NotFound, or Conflict if
// the run has already ended.
func (s *Service) Cancel(ctx context.Context, accountID, runID string, keep KeepRun) (out RunDetail, err error) {
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		l, err := runs.LockOne(ctx, tx, accountID, runID)
		if err != nil || l == nil {
			return orNil(err, l == nil, func() error { return s.notLive(ctx, tx, accountID, runID) })
		}
		if err := s.drain.Cancel(ctx, tx, []*runs.LiveRun{l}); err != nil {
			return err
		}
		out, err = s.keepRun(ctx, tx, accountID, runID, keep)
		return err
	})
	if err != nil {
		return RunDetail{}, fmt.Errorf("cancel run: %w", err)
	}
	s.bus.Wake()
	return out, nil
}

// keepRun reads a run at the end of a transaction and stores the caller's response.
func (s *Service) keepRun(ctx context.Context, tx *ent.Tx, accountID, runID string, keep KeepRun) (RunDetail, error) {
	out, err := s.loadRun(ctx, tx.Client(), accountID, runID)
	if err == nil && keep != nil {
		err = keep(ctx, tx, out)
	}
	return out, err
}

func orNil(err error, is bool, otherwise func() error) error {
	if err != nil || !is {
		return err
	}
	return otherwise()
}

// notLive returns why a run that is not live cannot be cancelled.
func (s *Service) notLive(ctx context.Context, tx *ent.Tx, accountID, runID string) error {
	run, err := tx.AutomationRun.Query().Where(automationrun.AccountID(accountID), automationrun.ID(runID)).Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return fault.NoSuch("automation run", runID)
	case err != nil:
		return err
	}
	return fault.Conflictf(CodeRunNotLive, "This run has ended: it is %s", run.Status).
		With("status", string(run.Status))
}
