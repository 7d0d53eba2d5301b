package records

import (
	"context"
	"fmt"
	"time"

	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/runtime/db"
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
	type count struct {
		domainID string
		status   email.Status
		n        int
	}
	counts, err := db.All(ctx, s.db.SQL, func(c *count) []any { return []any{&c.domainID, &c.status, &c.n} }, countByDomain, accountID, db.Array(domainIDs), since)
	if err != nil {
		return nil, fmt.Errorf("count emails: %w", err)
	}
	out := make(map[string]Counts, len(domainIDs))
	for _, counted := range counts {
		c := out[counted.domainID]
		c.Sent += counted.n
		switch counted.status {
		case email.StatusDelivered:
			c.Delivered += counted.n
		case email.StatusBounced:
			c.Bounced += counted.n
		case email.StatusFailed:
			c.Failed += counted.n
		default: // on its way
		}
		out[counted.domainID] = c
	}
	return out, nil
}
