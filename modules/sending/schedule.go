package sending

import (
	"context"
	"fmt"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/runtime/base/clock"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/event"
)

// A change of a scheduled email and its release (package release) both update the row only if it is still
// scheduled, so the later of the two fails. Only the release compares the time, by the database clock; until
// then, a change is not too late.

// cancelledDiagnostic is the diagnostic of the recipients of a cancelled email.
const cancelledDiagnostic = "cancelled"

const (
	// The old row is locked first, because its due time is lost after the change.
	scheduledSQL = `WITH before AS (SELECT id, scheduled_at FROM emails WHERE id = $1 AND account_id = $2 AND status = 'scheduled' FOR UPDATE), `

	rescheduleSQL = scheduledSQL + `moved AS (
	UPDATE emails e SET scheduled_at = $3, release_at = $3 FROM before b WHERE e.id = b.id AND (e.expires_at IS NULL OR e.expires_at > $3)
	RETURNING b.scheduled_at
)
SELECT scheduled_at FROM moved`

	cancelSQL = scheduledSQL + `cancelled AS (
	UPDATE emails e SET status = 'cancelled', uncommon = 'cancelled', last_event = $3, cancelled_at = now(), release_at = NULL
	FROM before b WHERE e.id = b.id
	RETURNING e.id, b.scheduled_at
), settled AS (
	UPDATE recipients r SET settled_at = now(), diagnostic = $4 FROM cancelled c WHERE r.email_id = c.id
)
SELECT scheduled_at FROM cancelled`
)

// Reschedule moves a scheduled email to another time before it expires. The email then counts against the caps
// of the new day. It returns Invalid for the field scheduled_at, NotFound (also for another account's email),
// Limit if the caps of the new day or month are used up, or Conflict with fault.CodeEmailNotScheduled, whose
// detail "status" is the current status.
func (s *Service) Reschedule(ctx context.Context, accountID, emailID string, at time.Time) (*ent.Email, error) {
	now := clock.Now()
	if err := ValidateSchedule(at, now); err != nil {
		return nil, fault.InvalidField("scheduled_at", "%s", err)
	}
	at = dueAt(at.UTC().Truncate(time.Millisecond), now)
	move := func(tx db.Execer, due time.Time) error { return s.quota.Move(ctx, tx, accountID, due, at) }
	return s.changeScheduled(ctx, accountID, emailID, event.EmailRescheduled, move, rescheduleSQL, emailID,
		accountID, at)
}

// Cancel cancels a scheduled email permanently: once Cancel has returned, the email is never sent. Its caps are
// refunded. It returns the same errors as Reschedule.
func (s *Service) Cancel(ctx context.Context, accountID, emailID string) (*ent.Email, error) {
	refund := func(tx db.Execer, due time.Time) error {
		return s.quota.Refund(ctx, tx, []accounts.EmailUsage{{AccountID: accountID, Due: due}})
	}
	return s.changeScheduled(ctx, accountID, emailID, event.EmailCancelled, refund, cancelSQL, emailID, accountID,
		string(event.EmailCancelled), cancelledDiagnostic)
}

// changeScheduled runs a statement that changes one row if it belongs to the account and is still scheduled,
// updates the caps, and publishes the fact. The statement returns the previous due time, which is passed to
// count.
func (s *Service) changeScheduled(ctx context.Context, accountID, emailID string, typ event.Type,
	count func(tx db.Execer, due time.Time) error,
	statement string, args ...any) (*ent.Email, error) {
	if !id.Is(id.Email, emailID) {
		return nil, fault.NoSuch("email", emailID)
	}
	var changed *ent.Email
	err := s.db.InTx(ctx, func(tx *ent.Tx) error {
		before, err := db.All(ctx, tx, db.Value[time.Time], statement, args...)
		if err != nil {
			return err
		}
		// A row that another transaction has changed is read in its new state.
		found, err := tx.Email.Query().Where(email.ID(emailID), email.AccountID(accountID)).
			Select(records.ListColumns...).Only(ctx)
		switch {
		case ent.IsNotFound(err):
			return fault.NoSuch("email", emailID)
		case err != nil:
			return err
		// the only other reason why the row was not changed
		case len(before) == 0 && found.Status == email.StatusScheduled:
			return fault.InvalidField("scheduled_at", "must be before expires_at (%s)", found.ExpiresAt.UTC().
				Format(time.RFC3339))
		case len(before) == 0:
			return fault.Conflictf(fault.CodeEmailNotScheduled, "The email is not scheduled: its status is %s",
				found.Status).With("status", string(found.Status))
		}
		changed = found.Unwrap()
		if err := count(tx, before[0]); err != nil {
			return err
		}
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
	data := event.Email{EmailID: e.ID, From: e.From, To: e.To, CC: cc, Subject: e.Subject,
		EmailStatus: string(e.Status), Tags: e.Tags, CreatedAt: event.NewTime(e.CreatedAt)}
	if e.ScheduledAt != nil {
		at := e.ScheduledAt.UTC()
		moved := event.NewTime(at)
		data.ScheduledAt = &moved
	}
	return event.New(e.AccountID, typ, clock.Now().UTC(), data)
}
