package bus

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/event"
)

// Facts do not change, with one exception: data that a user has asked to erase, or whose retention has
// ended, is also removed from them.

const forgetSubjects = `DELETE FROM facts WHERE account_id = $1 AND subject_id = ANY($2)`

// Forget deletes the facts about some subjects of an account. Groups drop the messages for deleted facts.
func (b *Bus) Forget(ctx context.Context, tx db.Execer, accountID string, subjectIDs ...string) (int64, error) {
	if len(subjectIDs) == 0 {
		return 0, nil
	}
	return countChanged(tx.ExecContext(ctx, forgetSubjects, accountID, db.Array(subjectIDs)))
}

const forgetMentions = `DELETE FROM facts WHERE account_id = $1 AND type = ANY($2) AND lower(data->>'email') = lower($3)`

// ForgetMentions deletes the facts of some types whose field `email` is the address.
func (b *Bus) ForgetMentions(ctx context.Context, tx db.Execer, accountID, address string,
	types ...event.Type) (int64, error) {
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = string(t)
	}
	return countChanged(tx.ExecContext(ctx, forgetMentions, accountID, db.Array(names), address))
}

func countChanged(result sql.Result, err error) (int64, error) {
	if err != nil {
		return 0, fmt.Errorf("forget facts: %w", err)
	}
	return result.RowsAffected()
}

const (
	lockSubjects = `
SELECT id, account_id, type, subject_id, data, created_at FROM facts
WHERE account_id = $1 AND subject_id = ANY($2) ORDER BY id FOR UPDATE`
	rewriteFact = `UPDATE facts SET data = $2::jsonb WHERE id = $1`
	deleteFact  = `DELETE FROM facts WHERE id = $1`
)

// Rewrite changes the data of the facts about some subjects of an account. edit returns the new data, or nil
// to delete the fact.
func (b *Bus) Rewrite(ctx context.Context, tx db.Execer, accountID string, subjectIDs []string,
	edit func(event.Fact) (json.RawMessage, error)) error {
	facts, err := db.All(ctx, tx, factColumns, lockSubjects, accountID, db.Array(subjectIDs))
	if err != nil {
		return fmt.Errorf("rewrite facts: %w", err)
	}
	for _, f := range facts {
		f.CreatedAt = f.CreatedAt.UTC()
		data, err := edit(f)
		switch {
		case err != nil:
			return fmt.Errorf("rewrite fact %s: %w", f.ID, err)
		case data == nil:
			_, err = tx.ExecContext(ctx, deleteFact, f.ID)
		default:
			_, err = tx.ExecContext(ctx, rewriteFact, f.ID, string(data))
		}
		if err != nil {
			return fmt.Errorf("rewrite fact %s: %w", f.ID, err)
		}
	}
	return nil
}
