package queue

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/event"
)

// WaitingMail is the mail that an installation would send by a time if nothing held it.
type WaitingMail struct {
	Recipients int // recipients in the queue
	Scheduled  int // emails that are not released yet
}

var waitingSQL = `
SELECT (SELECT count(*) FROM recipients r WHERE r.due_at IS NOT NULL AND ` + dueOrBegunSQL("$1") + `), (SELECT count(*) FROM emails WHERE release_at < $1)`

// CountWaiting counts the mail that is due before a time, including recipients with an attempt that had begun by
// then.
func (s *Service) CountWaiting(ctx context.Context, before time.Time) (WaitingMail, error) {
	found, err := db.One(ctx, s.db.SQL, func(w *WaitingMail) []any { return []any{&w.Recipients, &w.Scheduled} },
		waitingSQL, before)
	if err != nil {
		return WaitingMail{}, fmt.Errorf("count waiting mail: %w", err)
	}
	return found, nil
}

// openScheduledSQL moves recipients of scheduled emails into the queue, where a drop finds them: those of at
// most $2 emails that are due before $1.
const openScheduledSQL = `
WITH due AS (
	SELECT id FROM emails WHERE release_at < $1 AND status IN ('scheduled', 'queued') ORDER BY release_at LIMIT $2 FOR UPDATE SKIP LOCKED
), opened AS (
	UPDATE emails e SET status = 'sent', uncommon = NULL, release_at = NULL FROM due WHERE e.id = due.id RETURNING e.id
)
UPDATE recipients r SET due_at = now() FROM opened o WHERE r.email_id = o.id AND r.settled_at IS NULL RETURNING r.email_id, r.id`

// scheduledStep is the maximum number of emails per transaction of DropScheduled.
const scheduledStep = 200

// DropScheduled ends the scheduled emails that are due before a time: they fail with the reason, as in Drop.
// It returns the number of recipients. Error: Invalid naming `reason`.
func (s *Service) DropScheduled(ctx context.Context, before time.Time, reason string) (recipients int, err error) {
	if err := validateReason(reason); err != nil {
		return 0, err
	}
	for {
		var ended []int64
		var facts []event.Fact
		err := s.db.InHotTx(ctx, func(tx *sql.Tx) error {
			all, err := db.All(ctx, tx, columnsOfFound, openScheduledSQL, before, scheduledStep)
			if err != nil || len(all) == 0 {
				ended = nil
				return err
			}
			ended, facts, err = s.dropRecipients(ctx, tx, all, reason)
			return err
		})
		if err != nil {
			return recipients, fmt.Errorf("drop scheduled emails: %w", err)
		}
		if len(ended) == 0 {
			return recipients, nil
		}
		s.bus.WakeFor(facts...)
		recipients += len(ended)
	}
}
