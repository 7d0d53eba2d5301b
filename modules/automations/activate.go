package automations

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/automation"
	"github.com/postrider/postrider/ent/automationversion"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/automations/drain"
	"github.com/postrider/postrider/modules/automations/machine"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

// Activation selects the version that will start runs.
type Activation struct {
	Version int  // an earlier version; 0: the draft becomes the next version
	Cancel  bool // cancel live runs instead of releasing those that are held
	Keep    StoreActionResponse
}

// ActionResult is an automation after an action, with the number of live runs that the action affects.
type ActionResult struct {
	*ent.Automation

	Held       *int // runs that are held or were held until now; nil if the automation never held runs
	Cancelling *int // runs to cancel in the background; nil if none

	hears bool // the version listens to mail events
}

// StoreActionResponse stores the caller's response in the transaction of an action. It may be nil.
type StoreActionResponse func(ctx context.Context, tx idempotency.Execer, a ActionResult) error

// Activate turns the draft into a version, or selects an earlier version, and lets it start runs. Live runs
// keep following their own versions. If they were held, a background task releases them. It returns NotFound,
// Invalid with the problems of Check, or Conflict if there is nothing new to activate or the automation is
// archived.
func (s *Service) Activate(ctx context.Context, caller accounts.Caller, automationID string,
	in Activation) (out ActionResult, err error) {
	a, err := s.Get(ctx, caller.AccountID, automationID)
	if err != nil {
		return out, err
	}
	if in.Version == 0 {
		problems, err := s.findProblems(ctx, caller, a.Draft)
		if err != nil {
			return out, err
		}
		if err := problemsErr(problems); err != nil {
			return out, err
		}
	}
	hash := a.DraftHash // the state that Check saw
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		if err := lockAccount(ctx, tx, caller.AccountID); err != nil {
			return err
		}
		if a, err = lockAutomation(ctx, tx, caller.AccountID, automationID); err != nil {
			return err
		}
		if in.Version == 0 && a.DraftHash != hash {
			return fault.Conflictf(fault.CodeConflict, "The draft was changed while it was activated; try again")
		}
		held := a.Held
		a, hears, err := s.activateVersion(ctx, tx, caller, a, in)
		if err != nil {
			return err
		}
		out, err = applyAction(ctx, tx, a, held, in.Cancel)
		out.hears = hears
		return orKept(ctx, tx, in.Keep, out, err)
	})
	if err != nil {
		return ActionResult{}, fmt.Errorf("activate automation: %w", err)
	}
	if out.hears {
		s.facts.MarkListening(caller.AccountID)
	}
	return s.wakeBackground(out), nil
}

// applyAction counts the live runs that an action affects, not counting trial runs.
func applyAction(ctx context.Context, tx *ent.Tx, a *ent.Automation, held, cancels bool) (ActionResult, error) {
	out := ActionResult{Automation: a}
	if !held && !cancels {
		return out, nil
	}
	live, err := db.One(ctx, tx, db.Value[int], `SELECT count(*) FROM automation_works WHERE automation_id = $1 AND version > 0`, a.ID)
	if err != nil {
		return out, fmt.Errorf("count live runs: %w", err)
	}
	if cancels {
		out.Cancelling = &live
	} else {
		out.Held = &live
	}
	return out, nil
}

func orKept(ctx context.Context, tx *ent.Tx, keep StoreActionResponse, a ActionResult, err error) error {
	if err != nil || keep == nil {
		return err
	}
	return keep(ctx, tx, a)
}

// wakeBackground wakes the background tasks that complete an action.
func (s *Service) wakeBackground(a ActionResult) ActionResult {
	if a.Draining != nil {
		s.signals.Wake(drain.Channel)
	}
	a.Automation = a.Unwrap()
	return a
}

// activateVersion also reports whether the version listens to mail events.
func (s *Service) activateVersion(ctx context.Context, tx *ent.Tx, caller accounts.Caller, a *ent.Automation,
	in Activation) (_ *ent.Automation, hears bool, _ error) {
	if a.Status == automation.StatusArchived {
		return nil, false, fault.Conflictf(fault.CodeConflict, "This automation is archived; duplicate it")
	}
	if a.Status != automation.StatusActive {
		if n, err := tx.Automation.Query().
			Where(automation.AccountID(a.AccountID), automation.StatusEQ(automation.StatusActive)).
			Count(ctx); err != nil || n >= MaxActive {
			return nil, false, orTooMany(err, "This account has %d active automations, which is the limit", MaxActive)
		}
	}
	update := a.Update().SetStatus(automation.StatusActive).SetHeld(false)
	v, err := chooseVersion(ctx, tx, caller, a, in.Version)
	if err != nil {
		return nil, false, err
	}
	if a.Status == automation.StatusActive && a.Version != nil && *a.Version == v.Number {
		return nil, false, fault.Conflictf(fault.CodeConflict,
			"This automation is active, and there is nothing new to activate")
	}
	switch {
	case in.Cancel:
		now, err := db.One(ctx, tx, db.Value[time.Time], `SELECT clock_timestamp()`)
		if err != nil {
			return nil, false, err
		}
		update.SetDraining(automation.DrainingCancel).SetDrainBefore(now)
	case a.Held && a.Draining == nil:
		update.SetDraining(automation.DrainingRelease)
	}
	update.SetVersion(v.Number).SetVersionHash(v.Hash).SetLastVersion(max(a.LastVersion, v.Number)).
		SetActivatedAt(time.Now())
	program, err := machine.Parse(v.Definition)
	if err != nil {
		return nil, false, err
	}
	if err := lockTemplates(ctx, tx, s.templates, a.AccountID, program); err != nil {
		return nil, false, err
	}
	if hears, err = listenTo(ctx, tx, a, v.Number, program); err != nil {
		return nil, false, err
	}
	a, err = update.Save(ctx)
	return a, hears, err
}

// chooseVersion returns the version to activate: an earlier one, the current one if the draft is identical, or a
// new one.
func chooseVersion(ctx context.Context, tx *ent.Tx, caller accounts.Caller, a *ent.Automation,
	number int) (*ent.AutomationVersion, error) {
	if number == 0 && a.Version != nil && a.VersionHash == a.DraftHash {
		number = *a.Version
	}
	if number != 0 {
		v, err := tx.AutomationVersion.Query().
			Where(automationversion.AutomationID(a.ID), automationversion.AccountID(a.AccountID),
				automationversion.Number(number)).Only(ctx)
		if ent.IsNotFound(err) {
			return nil, fault.NoSuch("version", fmt.Sprintf("%d of %s", number, a.ID))
		}
		return v, err
	}
	create := tx.AutomationVersion.Create().SetAccountID(a.AccountID).SetAutomationID(a.ID).
		SetNumber(a.LastVersion + 1).SetDefinition(a.Draft).SetHash(a.DraftHash).SetAuthor(caller.ID())
	if len(caller.DomainIDs) > 0 {
		create.SetDomainIds(caller.DomainIDs)
	}
	return create.Save(ctx)
}

const listenSQL = `
INSERT INTO automation_listens (account_id, event, automation_id, version, starts, waits, cancels, converts)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (account_id, event, automation_id, version) DO UPDATE SET starts = excluded.starts`

// listenTo subscribes a version to its events and unsubscribes the earlier versions. It reports whether any of
// them are mail events.
func listenTo(
	ctx context.Context, tx *ent.Tx, a *ent.Automation, version int, program *machine.Program,
) (hears bool, _ error) {
	if _, err := tx.ExecContext(ctx, `UPDATE automation_listens SET starts = false WHERE automation_id = $1`, a.ID); err != nil {
		return false, err
	}
	for name, kinds := range program.EventNames() {
		hears = hears || strings.HasPrefix(name, "$")
		if _, err := tx.ExecContext(ctx, listenSQL, a.AccountID, name, a.ID, version,
			slices.Contains(kinds, "start"), slices.Contains(kinds, "wait"),
			slices.Contains(kinds, "cancel"), slices.Contains(kinds, "convert")); err != nil {
			return false, err
		}
	}
	return hears, nil
}

// Pause stops an automation from starting runs. With hold, its live runs begin no further steps; their timers
// keep running, and events still end waits and cancel runs. It returns NotFound, or Conflict if the automation
// is not active.
func (s *Service) Pause(ctx context.Context, accountID, automationID string, hold bool,
	keep StoreActionResponse) (ActionResult, error) {
	return s.changeStatus(ctx, accountID, automationID, keep,
		func(a *ent.Automation) (*ent.AutomationUpdateOne, error) {
			if a.Status != automation.StatusActive {
				return nil, fault.Conflictf(fault.CodeConflict, "This automation is %s and not active", a.Status)
			}
			update := a.Update().SetStatus(automation.StatusPaused).SetHeld(hold)
			if hold && a.Draining != nil && *a.Draining == automation.DrainingRelease {
				update.ClearDraining()
			}
			return update, nil
		})
}

// Archive permanently stops an automation from starting runs. A background task cancels its live runs, and none
// of them begins another step. It returns NotFound, or Conflict if the automation is already archived.
func (s *Service) Archive(ctx context.Context, accountID, automationID string,
	keep StoreActionResponse) (ActionResult, error) {
	return s.changeStatus(ctx, accountID, automationID, keep, func(a *ent.Automation) (*ent.AutomationUpdateOne, error) {
		if a.Status == automation.StatusArchived {
			return nil, fault.Conflictf(fault.CodeConflict, "This automation is already archived")
		}
		return a.Update().SetStatus(automation.StatusArchived).SetHeld(true).SetDraining(automation.DrainingCancel).
			ClearDrainBefore(), nil
	})
}

// changeStatus changes the status of an automation.
func (s *Service) changeStatus(ctx context.Context, accountID, automationID string, keep StoreActionResponse,
	change func(*ent.Automation) (*ent.AutomationUpdateOne, error)) (out ActionResult, err error) {
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		a, err := lockAutomation(ctx, tx, accountID, automationID)
		if err != nil {
			return err
		}
		update, err := change(a)
		if err != nil {
			return err
		}
		if a, err = update.Save(ctx); err != nil {
			return err
		}
		archived := a.Status == automation.StatusArchived
		if archived {
			if _, err := tx.ExecContext(ctx, `UPDATE automation_listens SET starts = false WHERE automation_id = $1`, automationID); err != nil {
				return err
			}
		}
		out, err = applyAction(ctx, tx, a, a.Held, archived)
		return orKept(ctx, tx, keep, out, err)
	})
	if err != nil {
		return ActionResult{}, fmt.Errorf("change the status of an automation: %w", err)
	}
	return s.wakeBackground(out), nil
}
