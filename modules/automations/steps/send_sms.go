package steps

import (
	"context"
	"errors"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/automations/definition"
	"github.com/postrider/postrider/modules/automations/machine"
	"github.com/postrider/postrider/modules/automations/runs"
	"github.com/postrider/postrider/modules/automations/simulation"
	"github.com/postrider/postrider/modules/sms"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
)

var _ = registerEffect(definition.SendSMS, func(s *services) effect { return smsEffect{s} })

type smsEffect struct{ *services }

const smsOff = "SMS is disabled on this server"

func (e smsEffect) check(ctx context.Context, c StepCheck) error {
	if e.Texter == nil {
		c.Report("type", "requires SMS, which is disabled on this server")
		return nil
	}
	reason, err := e.Texter.Problem(ctx, c.Caller.AccountID)
	if err == nil && reason != "" {
		c.Report("type", "sends a text message, and "+reason)
	}
	return err
}

func (e smsEffect) preview(
	ctx context.Context, caller accounts.Caller, key string, m machine.Effect, outcome string,
) (simulation.EffectResult, error) {
	if e.Texter == nil {
		return simulation.EffectResult{Result: machine.Result{Status: machine.StatusFailed, Error: sms.CodeNoProvider +
			": " + smsOff}}, nil
	}
	text := m.(*machine.SMS) //nolint:forcetypeassert // rendered by this type
	preview, err := e.Texter.Preview(ctx, caller.AccountID, sms.Message{To: text.To, From: text.From, Text: text.Text})
	if err != nil {
		return refusedPreview(err)
	}
	output := map[string]any{"sms_id": "sms_simulated_" + key, "segments": int64(preview.Segments)}
	return simulation.EffectResult{Preview: &preview, Result: simulateSend(outcome, definition.MediumText, output)}, nil
}

// perform stores the text message of a step. The same transaction settles the step, so a step sends one
// message, and a run that was cancelled or is held by another claim sends none.
func (e smsEffect) perform(ctx context.Context, t *claimedRun) result {
	if e.Texter == nil {
		return t.recordFailure(ctx, sms.CodeNoProvider, smsOff)
	}
	effect := t.outcome.Effect.(*machine.SMS) //nolint:forcetypeassert // rendered by this type
	if id.IsTestTenant(t.AccountID) {
		return result{settlement: t.settleAfter(ctx, simulateSend("", definition.MediumText,
			map[string]any{"sms_id": "sms_simulated_" + t.definition().Key, "segments": int64(1)}))}
	}
	m := sms.Message{To: effect.To, From: effect.From, Text: effect.Text, AutomationID: t.Run.AutomationID,
		RunID: t.Run.ID, Version: t.Run.Version, Step: t.state.Step,
		UserID: t.Run.Trigger.UserID, EmailKey: runs.EmailKey(t.Run.Trigger.Email)}
	err := e.db.InPreparedTx(ctx, func(tx *db.PreparedTx) error {
		_, err := e.Texter.Send(ctx, tx, t.AccountID, m,
			func(ctx context.Context, tx db.Execer, r sms.Receipt) (bool, error) { return e.hold(ctx, tx, t, r) })
		return err
	})
	f := faultOf(err)
	switch {
	case err == nil:
		e.bus.Wake()
		e.Texter.Wake()
		e.nudge()
		return result{}
	case errors.Is(err, sms.ErrNotHeld):
		return result{}
	case fault.IsDatabaseUnavailable(err):
		return retryLater(t.ClaimedRun, waitAway, false)
	case f == nil || f.Kind == fault.Internal:
		return t.recordDefect()
	case f.Code == fault.CodeAccountSuspended:
		return t.recordRefusal(f, waitSuspended)
	}
	return t.recordFailure(ctx, f.Code, f.Error())
}

// hold settles the step of a message that is about to be stored.
func (e smsEffect) hold(ctx context.Context, tx db.Execer, t *claimedRun, stored sms.Receipt) (bool, error) {
	r := machine.Result{Status: machine.StatusSent,
		Output: map[string]any{"sms_id": stored.ID, "segments": int64(stored.Segments)}}
	if stored.Suppressed {
		r.Status = machine.StatusSuppressed
	}
	held, err := runs.Settle(ctx, tx, e.bus, []*runs.Settlement{t.settleAfter(ctx, r)})
	if err != nil {
		return false, err
	}
	return held[0], nil
}
