package bus

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/lib/pq"

	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/event"
)

// Log reads facts back: the timeline of a resource.
type Log struct{ db *db.DB }

// Log gives the reader.
func (b *Bus) Log() *Log { return &Log{b.db} }

const selectTimeline = `
SELECT id, account_id, type, subject_id, data, created_at FROM facts
WHERE account_id = $1 AND subject_id = ANY($2) ORDER BY subject_id, id`

// Facts gives the facts of an account about some subjects, oldest first. A
// subject without any, or of another account, is not in the map.
func (l *Log) Facts(ctx context.Context, accountID string, subjectIDs ...string) (map[string][]event.Fact, error) {
	found := map[string][]event.Fact{}
	if len(subjectIDs) == 0 {
		return found, nil
	}
	rows, err := l.db.Hot.QueryContext(ctx, selectTimeline, accountID, pq.Array(subjectIDs))
	if err != nil {
		return nil, fmt.Errorf("read facts: %w", err)
	}
	facts, err := scanFacts(rows)
	if err != nil {
		return nil, fmt.Errorf("read facts: %w", err)
	}
	for _, f := range facts {
		found[f.SubjectID] = append(found[f.SubjectID], f)
	}
	return found, nil
}

// scanFacts reads every row and closes rows.
func scanFacts(rows *sql.Rows) ([]event.Fact, error) {
	defer rows.Close()
	var facts []event.Fact
	for rows.Next() {
		var f event.Fact
		var data []byte
		if err := rows.Scan(&f.ID, &f.AccountID, &f.Type, &f.SubjectID, &data, &f.CreatedAt); err != nil {
			return nil, err
		}
		f.Data, f.CreatedAt = data, f.CreatedAt.UTC()
		facts = append(facts, f)
	}
	return facts, rows.Err()
}
