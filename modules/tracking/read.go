package tracking

import (
	"context"
	"errors"
	"fmt"

	"github.com/lib/pq"

	"github.com/postrider/postrider/ent"
)

// Counts is how often an email was opened and its links used. Of both, Machine is
// the part that programs made.
type Counts struct{ Opens, Clicks, MachineOpens, MachineClicks int }

const countsSQL = `
SELECT email_id, count(*) FILTER (WHERE kind = 'open'), count(*) FILTER (WHERE kind = 'click'),
       count(*) FILTER (WHERE kind = 'open' AND machine <> ''), count(*) FILTER (WHERE kind = 'click' AND machine <> '')
  FROM engagements WHERE account_id = $1 AND email_id = ANY ($2) GROUP BY email_id`

// Counts gives the counts by email; one without visits is not in it.
func (s *Service) Counts(ctx context.Context, accountID string, emailIDs ...string) (found map[string]Counts, err error) {
	found = make(map[string]Counts, len(emailIDs))
	rows, err := s.db.SQL.QueryContext(ctx, countsSQL, accountID, pq.StringArray(emailIDs))
	if err != nil {
		return nil, fmt.Errorf("count opens and clicks: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var emailID string
		var c Counts
		if err := rows.Scan(&emailID, &c.Opens, &c.Clicks, &c.MachineOpens, &c.MachineClicks); err != nil {
			return nil, fmt.Errorf("count opens and clicks: %w", err)
		}
		found[emailID] = c
	}
	return found, rows.Err()
}

const engagementsSQL = `
SELECT g.id, g.account_id, g.email_id, g.kind, g.url, g.ip, g.user_agent, g.machine, g.created_at
  FROM unnest($2::text[]) AS e (id) CROSS JOIN LATERAL
       (SELECT * FROM engagements WHERE account_id = $1 AND email_id = e.id ORDER BY id DESC LIMIT $3) g
 ORDER BY g.id DESC`

// Engagements gives the latest opens and clicks by email, newest first.
func (s *Service) Engagements(ctx context.Context, accountID string, first int, emailIDs ...string) (found map[string][]*ent.Engagement, err error) {
	found = make(map[string][]*ent.Engagement, len(emailIDs))
	rows, err := s.db.SQL.QueryContext(ctx, engagementsSQL, accountID, pq.StringArray(emailIDs), first)
	if err != nil {
		return nil, fmt.Errorf("list opens and clicks: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		g := &ent.Engagement{}
		if err := rows.Scan(&g.ID, &g.AccountID, &g.EmailID, &g.Kind, &g.URL, &g.IP, &g.UserAgent, &g.Machine, &g.CreatedAt); err != nil {
			return nil, fmt.Errorf("list opens and clicks: %w", err)
		}
		found[g.EmailID] = append(found[g.EmailID], g)
	}
	return found, rows.Err()
}
