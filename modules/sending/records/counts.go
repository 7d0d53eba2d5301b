package records

import (
	"context"
	"fmt"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
)

// MaxCountDays is how many days back DomainCounts can count.
const MaxCountDays = 90

// Counts counts emails by outcome.
type Counts struct {
	Sent      int // accepted for delivery, whatever the outcome
	Delivered int
	Bounced   int
	Failed    int
}

// Ids are time-ordered, so a range of ids is a range of time, and the index (domain_id, id) bounds the rows
// read.
const countByDomain = `
SELECT domain_id, status, count(*) FROM emails
 WHERE domain_id = ANY($2) AND id >= $3 AND account_id = $1 AND status NOT IN ('scheduled', 'cancelled')
 GROUP BY domain_id, status`

// DomainCounts counts the emails that the account sent in the last days, by domain. A domain that sent none
// has no entry.
func (s *Service) DomainCounts(ctx context.Context, accountID string, days int,
	domainIDs ...string) (map[string]Counts, error) {
	if days < 1 || days > MaxCountDays {
		return nil, fault.InvalidField("days", "must be between 1 and %d", MaxCountDays)
	}
	since := id.Since(id.Email, time.Now().AddDate(0, 0, -days))
	return s.countRows(ctx, countByDomain, accountID, db.Array(domainIDs), since)
}

const countByGroup = `
SELECT g.name, e.status, count(*) FROM unnest($2::text[], $3::text[]) AS g (name, email_id) JOIN emails e ON e.id = g.email_id
 WHERE e.account_id = $1 AND e.status NOT IN ('scheduled', 'cancelled')
 GROUP BY g.name, e.status`

// GroupCounts counts the outcomes of emails of the account by group. The arrays are parallel: emailIDs[i] is
// in groups[i]. A group without a stored email has no entry.
func (s *Service) GroupCounts(ctx context.Context, accountID string, groups,
	emailIDs []string) (map[string]Counts, error) {
	return s.countRows(ctx, countByGroup, accountID, db.Array(groups), db.Array(emailIDs))
}

// countRows adds up the rows of a statement: a name, a status and a count.
func (s *Service) countRows(ctx context.Context, statement string, args ...any) (map[string]Counts, error) {
	type count struct {
		name   string
		status email.Status
		n      int
	}
	var counts []count
	err := s.db.Read(ctx, func(on *ent.Client) (err error) {
		counts, err = db.All(ctx, on, func(c *count) []any { return []any{&c.name, &c.status, &c.n} },
			statement, args...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("count emails: %w", err)
	}
	out := map[string]Counts{}
	for _, counted := range counts {
		c := out[counted.name]
		c.Sent += counted.n
		switch counted.status {
		case email.StatusDelivered:
			c.Delivered += counted.n
		case email.StatusBounced:
			c.Bounced += counted.n
		case email.StatusFailed:
			c.Failed += counted.n
		default: // in progress
		}
		out[counted.name] = c
	}
	return out, nil
}
