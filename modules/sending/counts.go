package sending

import (
	"context"
	"fmt"
	"time"

	"github.com/lib/pq"

	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/id"
)

// MaxCountDays is how far back DomainCounts goes.
const MaxCountDays = 90

// Counts says what became of emails.
type Counts struct {
	Sent      int // accepted for delivery, whatever became of them
	Delivered int
	Bounced   int
	Failed    int
}

// Ids are time-ordered, so the range of ids is the range of time, and the index
// (domain_id, id) bounds what is read.
const countByDomain = `
SELECT domain_id, status, count(*) FROM emails
 WHERE domain_id = ANY($2) AND id >= $3 AND account_id = $1 AND status NOT IN ('scheduled', 'cancelled')
 GROUP BY domain_id, status`

// DomainCounts counts the emails that the account sent in the last days, by
// domain; one that sent none has no entry.
func (s *Service) DomainCounts(ctx context.Context, accountID string, days int, domainIDs ...string) (map[string]Counts, error) {
	if days < 1 || days > MaxCountDays {
		return nil, fault.InvalidField("days", "must be between 1 and %d", MaxCountDays)
	}
	since := id.Since(id.Email, time.Now().AddDate(0, 0, -days))
	rows, err := s.db.SQL.QueryContext(ctx, countByDomain, accountID, pq.Array(domainIDs), since)
	if err != nil {
		return nil, fmt.Errorf("count emails: %w", err)
	}
	defer rows.Close()
	out := make(map[string]Counts, len(domainIDs))
	for rows.Next() {
		var domainID, status string
		var n int
		if err := rows.Scan(&domainID, &status, &n); err != nil {
			return nil, fmt.Errorf("count emails: %w", err)
		}
		c := out[domainID]
		c.Sent += n
		switch email.Status(status) {
		case email.StatusDelivered:
			c.Delivered += n
		case email.StatusBounced:
			c.Bounced += n
		case email.StatusFailed:
			c.Failed += n
		default: // on its way
		}
		out[domainID] = c
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("count emails: %w", err)
	}
	return out, nil
}
