package bus

import (
	"context"
	"fmt"

	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/event"
)

// Log reads stored facts: the timeline of a resource.
type Log struct{ db *db.DB }

// NewLog returns a Log for programs without a bus.
func NewLog(d *db.DB) *Log { return &Log{d} }

// Log returns a reader of facts.
func (b *Bus) Log() *Log { return &Log{b.db} }

const selectTimeline = `
SELECT id, account_id, type, subject_id, data, created_at FROM facts
WHERE account_id = $1 AND subject_id = ANY($2) ORDER BY subject_id, id`

// Facts returns the facts of an account about some subjects, oldest first. A subject without facts, or of
// another account, is not in the map.
func (l *Log) Facts(ctx context.Context, accountID string, subjectIDs ...string) (map[string][]event.Fact, error) {
	found := map[string][]event.Fact{}
	if len(subjectIDs) == 0 {
		return found, nil
	}
	facts, err := db.All(ctx, l.db.Hot, factColumns, selectTimeline, accountID, db.Array(subjectIDs))
	if err != nil {
		return nil, fmt.Errorf("read facts: %w", err)
	}
	for _, f := range facts {
		f.CreatedAt = f.CreatedAt.UTC()
		found[f.SubjectID] = append(found[f.SubjectID], f)
	}
	return found, nil
}

func factColumns(f *event.Fact) []any {
	return []any{&f.ID, &f.AccountID, &f.Type, &f.SubjectID, (*[]byte)(&f.Data), &f.CreatedAt}
}
