package steps

import (
	"context"
	"errors"

	"github.com/postrider/postrider/modules/automations/machine"
	"github.com/postrider/postrider/modules/automations/runs"
	"github.com/postrider/postrider/modules/sms"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
)

// sendSMS stores the text message of a step. The same transaction settles the step, so a step sends
// one message, and a run that is cancelled or held by another claim sends none.
func (e *effects) sendSMS(ctx context.Context, t *taken) result {
	if e.texter == nil {
		return t.failed(ctx, sms.CodeNoProvider, "text messages are switched off on this service")
	}
	effect := t.outcome.Effect.SMS
	m := sms.Message{To: effect.To, From: effect.From, Text: effect.Text, AutomationID: t.Run.AutomationID, RunID: t.Run.ID, Version: t.Run.Version, Step: t.state.Step,
		UserID: t.Run.Trigger.UserID, EmailKey: runs.EmailKey(t.Run.Trigger.Email)}
	err := e.db.InPreparedTx(ctx, func(tx *db.PreparedTx) error {
		_, err := e.texter.Send(ctx, tx, t.AccountID, m, func(ctx context.Context, tx db.Execer, r sms.Receipt) (bool, error) { return e.holdSMS(ctx, tx, t, r) })
		return err
	})
	f := refused(err)
	switch {
	case err == nil:
		e.bus.Wake()
		e.texter.Wake()
		e.nudge()
		return result{}
	case errors.Is(err, sms.ErrNotHeld):
		return result{}
	case fault.IsDatabaseAway(err):
		return again(t.Claimed, waitAway, false)
	case f == nil || f.Kind == fault.Internal:
		return t.defect()
	case f.Code == fault.CodeAccountSuspended:
		return t.refused(f, waitSuspended)
	}
	return t.failed(ctx, f.Code, f.Error())
}

// holdSMS settles the step of a message that is about to be stored.
func (e *effects) holdSMS(ctx context.Context, tx db.Execer, t *taken, stored sms.Receipt) (bool, error) {
	r := machine.Result{Status: machine.StatusSent, Output: map[string]any{"sms_id": stored.ID, "segments": int64(stored.Segments)}}
	if stored.Suppressed {
		r.Status = machine.StatusSuppressed
	}
	held, err := runs.Settle(ctx, tx, e.bus, []*runs.Settlement{t.after(ctx, r)})
	if err != nil {
		return false, err
	}
	return held[0], nil
}
