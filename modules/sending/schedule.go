package sending

import (
	"context"
	"fmt"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/runtime/event"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/id"
)

// A scheduled email is changed by an update that asks for its state, and so is it
// released (release.go): whoever comes second finds that it is no longer
// scheduled. Only the release looks at the time, by the database clock; until
// then a change is not too late.

// cancelledDiagnostic stands with the recipients of a cancelled email.
const cancelledDiagnostic = "cancelled"

const (
	rescheduleSQL = `
UPDATE emails SET scheduled_at = $3, release_at = $3, last_event = $4
WHERE id = $1 AND account_id = $2 AND status = 'scheduled' AND (expires_at IS NULL OR expires_at > $3)`

	cancelSQL = `
WITH cancelled AS (
	UPDATE emails SET status = 'cancelled', uncommon = 'cancelled', last_event = $3, cancelled_at = now(), release_at = NULL
	WHERE id = $1 AND account_id = $2 AND status = 'scheduled'
	RETURNING id
), settled AS (
	UPDATE recipients r SET settled_at = now(), diagnostic = $4 FROM cancelled c WHERE r.email_id = c.id
)
SELECT id FROM cancelled`
)

// Reschedule gives a scheduled email another time, before it expires. Errors: Invalid naming
// scheduled_at, NotFound, also for another account's email, and Conflict with
// fault.CodeEmailNotScheduled, whose detail "status" says what it is instead.
func (s *Service) Reschedule(ctx context.Context, accountID, emailID string, at time.Time) (*ent.Email, error) {
	if err := ValidateSchedule(at, time.Now()); err != nil {
		return nil, fault.InvalidField("scheduled_at", "%s", err)
	}
	at = at.UTC().Truncate(time.Millisecond)
	return s.changeScheduled(ctx, accountID, emailID, event.EmailScheduled, rescheduleSQL, emailID, accountID, at, string(event.EmailScheduled))
}

// Cancel takes a scheduled email out of the queue for good: once Cancel has
// returned it is never sent. Errors as Reschedule.
func (s *Service) Cancel(ctx context.Context, accountID, emailID string) (*ent.Email, error) {
	return s.changeScheduled(ctx, accountID, emailID, event.EmailCancelled, cancelSQL, emailID, accountID, string(event.EmailCancelled), cancelledDiagnostic)
}

// changeScheduled runs a statement that changes one row, if that is the account's
// and still scheduled, and tells of it.
func (s *Service) changeScheduled(ctx context.Context, accountID, emailID string, typ event.Type, statement string, args ...any) (*ent.Email, error) {
	if !id.Is(id.Email, emailID) {
		return nil, fault.Missing("email", emailID)
	}
	var changed *ent.Email
	err := s.db.InTx(ctx, func(tx *ent.Tx) error {
		result, err := tx.ExecContext(ctx, statement, args...)
		if err != nil {
			return err
		}
		rows, err := result.RowsAffected()
		if err != nil {
			return err
		}
		// A row that another transaction had is read as that one has left it.
		found, err := tx.Email.Query().Where(email.ID(emailID), email.AccountID(accountID)).Select(records.ListColumns...).Only(ctx)
		switch {
		case ent.IsNotFound(err):
			return fault.Missing("email", emailID)
		case err != nil:
			return err
		case rows == 0 && found.Status == email.StatusScheduled: // and nothing else keeps the row from a change
			return fault.InvalidField("scheduled_at", "is not before expires_at, which is %s", found.ExpiresAt.UTC().Format(time.RFC3339))
		case rows == 0:
			return fault.Conflictf(fault.CodeEmailNotScheduled, "The email is not scheduled (any more): it is %s", found.Status).With("status", string(found.Status))
		}
		changed = found.Unwrap()
		return s.bus.Publish(ctx, tx, scheduleFact(changed, typ))
	})
	if err != nil {
		return nil, fmt.Errorf("change scheduled email: %w", err)
	}
	s.bus.Wake()
	return changed, nil
}

func scheduleFact(e *ent.Email, typ event.Type) event.Fact {
	cc := e.Cc
	if cc == nil {
		cc = []string{}
	}
	data := event.Email{EmailID: e.ID, From: e.From, To: e.To, CC: cc, Subject: e.Subject, Status: string(e.Status), Tags: e.Tags, CreatedAt: event.At(e.CreatedAt)}
	if e.ScheduledAt != nil {
		at := e.ScheduledAt.UTC()
		moved := event.At(at)
		data.ScheduledAt = &moved
	}
	return event.New(e.AccountID, typ, time.Now().UTC(), data)
}
