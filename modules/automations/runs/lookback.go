package runs

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/postrider/postrider/modules/automations/expression"
	"github.com/postrider/postrider/modules/automations/machine"
	"github.com/postrider/postrider/runtime/storage/db"
)

// backSQL finds events of a person that may end a wait, oldest first. Events that have not been applied yet are
// excluded, because they will find the wait.
const backSQL = `
SELECT id, name, coalesce(user_id, ''), coalesce(email, ''), coalesce(email_key, ''), coalesce(data::text, '{}'), source, created_at FROM custom_events
WHERE account_id = $1 AND user_id = $2 AND $2 <> '' AND name = ANY($4::text[]) AND created_at >= $5 AND NOT pending AND NOT trial
UNION
SELECT id, name, coalesce(user_id, ''), coalesce(email, ''), coalesce(email_key, ''), coalesce(data::text, '{}'), source, created_at FROM custom_events
WHERE account_id = $1 AND email_key = $3 AND $3 <> '' AND name = ANY($4::text[]) AND created_at >= $5 AND NOT pending AND NOT trial
ORDER BY created_at, id LIMIT 1000`

type backEvent struct {
	machine.Event

	emailKey, data string
}

func (e *backEvent) columns() []any {
	return []any{&e.ID, &e.Name, &e.UserID, &e.Email, &e.emailKey, &e.data, &e.Source, &e.CreatedAt}
}

const resumeSQL = `
UPDATE automation_works SET state = 'ready', input = $2::jsonb, due_at = now(), parked = false, fence = fence + 1 WHERE id = $1 AND state = 'waiting'`

// lookBack ends waits that have just begun if an earlier event matches.
func lookBack(ctx context.Context, tx db.Execer, list []*Settlement) error {
	for _, s := range list {
		w := s.Outcome.Waiting
		if w == nil || len(w.Events) == 0 || s.Live.Run.Identity.IsZero() {
			continue
		}
		found, err := s.findEarlierEvent(ctx, tx, w)
		if err != nil {
			return err
		}
		if found == nil {
			continue
		}
		if err := Resume(ctx, tx, s.Live, found); err != nil {
			return err
		}
	}
	return nil
}

// findEarlierEvent returns the first event that ends the wait, or nil if none does.
func (s *Settlement) findEarlierEvent(ctx context.Context, tx db.Execer, w *machine.StepWait) (*machine.Event, error) {
	run := s.Live.Run
	events, err := db.All(ctx, tx, (*backEvent).columns, backSQL, s.Live.AccountID, run.Identity.UserID,
		run.Identity.EmailKey, db.Array(w.Events), w.Since.UTC().Format(time.RFC3339Nano))
	if err != nil {
		return nil, fmt.Errorf("look back for events: %w", err)
	}
	for i := range events {
		e := &events[i]
		if !run.Identity.Matches(machine.Identity{UserID: e.UserID, EmailKey: e.emailKey}) {
			continue
		}
		if e.Data, err = expression.Decode([]byte(e.data)); err != nil {
			return nil, fmt.Errorf("read the event %s: %w", e.ID, err)
		}
		if is, _ := s.Program.AwaitsEvent(ctx, run, s.State, &e.Event); is { // an error counts as false
			return &e.Event, nil
		}
	}
	return nil, nil
}

// Resume ends the wait of a run with an event, so that its next step begins. The caller has locked the row.
func Resume(ctx context.Context, tx db.Execer, l *LiveRun, e *machine.Event) error {
	input, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("encode an event: %w", err)
	}
	_, err = tx.ExecContext(ctx, resumeSQL, l.Run.ID, string(input))
	return wrapError(err, "resume a run")
}
