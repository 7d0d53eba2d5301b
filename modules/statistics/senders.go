package statistics

import (
	"context"
	"fmt"
	"time"

	"github.com/postrider/postrider/modules/statistics/rollup"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Sender is a domain that mail is sent from.
type Sender struct{ AccountID, DomainID string }

const sendersSQL = `
SELECT m.account_id, m.id FROM domains m JOIN accounts a ON a.id = m.account_id AND NOT a.system
 WHERE m.id > $3 AND EXISTS (SELECT FROM statistics_days d WHERE d.account_id = m.account_id AND d.kind = $1 AND d.start >= $2 AND d.domain_id = m.id)
 ORDER BY m.id LIMIT $4`

// Senders lists domains with mail on the day of since or later, by ID, from the ID after the given one.
func (s *Service) Senders(ctx context.Context, since time.Time, after string, limit int) ([]Sender, error) {
	list, err := db.All(ctx, s.db.SQL, func(s *Sender) []any { return []any{&s.AccountID, &s.DomainID} }, sendersSQL,
		rollup.Sender, rollup.DayOf(since).Start(), after, limit)
	if err != nil {
		return nil, fmt.Errorf("senders: %w", err)
	}
	return list, nil
}
