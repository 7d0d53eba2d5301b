package tracking

import (
	"context"
	"fmt"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Counts are the opens and clicks of an email. MachineOpens and MachineClicks are the part caused by programs.
type Counts struct{ Opens, Clicks, MachineOpens, MachineClicks int }

const countsSQL = `
SELECT email_id, count(*) FILTER (WHERE kind = 'open'), count(*) FILTER (WHERE kind = 'click'),
       count(*) FILTER (WHERE kind = 'open' AND machine <> ''), count(*) FILTER (WHERE kind = 'click' AND machine <> '')
  FROM engagements WHERE account_id = $1 AND email_id = ANY ($2) GROUP BY email_id`

// Counts returns counts keyed by email id. It omits emails without visits.
func (s *Service) Counts(ctx context.Context, accountID string, emailIDs ...string) (map[string]Counts, error) {
	found := make(map[string]Counts, len(emailIDs))
	err := db.Each(ctx, s.db.SQL, func(row db.Row) error {
		var emailID string
		var c Counts
		if err := row.Scan(&emailID, &c.Opens, &c.Clicks, &c.MachineOpens, &c.MachineClicks); err != nil {
			return err
		}
		found[emailID] = c
		return nil
	}, countsSQL, accountID, db.Array(emailIDs))
	if err != nil {
		return nil, fmt.Errorf("count opens and clicks: %w", err)
	}
	return found, nil
}

// Reach is the number of emails opened and clicked by people, not by programs.
type Reach struct{ Opened, Clicked int }

// GroupReach returns the reach of groups of emails, keyed by group. emailIDs[i] belongs to groups[i]. It omits
// groups without visits.
func (s *Service) GroupReach(ctx context.Context, accountID string, groups,
	emailIDs []string) (map[string]Reach, error) {
	const reachSQL = `
SELECT v.name, count(DISTINCT e.email_id) FILTER (WHERE e.kind = 'open'), count(DISTINCT e.email_id) FILTER (WHERE e.kind = 'click')
  FROM unnest($2::text[], $3::text[]) AS v (name, email_id) JOIN engagements e ON e.email_id = v.email_id
 WHERE e.account_id = $1 AND e.machine = '' GROUP BY v.name`
	found := map[string]Reach{}
	err := db.Each(ctx, s.db.SQL, func(row db.Row) error {
		var name string
		var r Reach
		if err := row.Scan(&name, &r.Opened, &r.Clicked); err != nil {
			return err
		}
		found[name] = r
		return nil
	}, reachSQL, accountID, db.Array(groups), db.Array(emailIDs))
	if err != nil {
		return nil, fmt.Errorf("count emails with visits: %w", err)
	}
	return found, nil
}

const engagementsSQL = `
SELECT g.id, g.account_id, g.email_id, g.kind, g.url, g.ip, g.user_agent, g.machine, g.created_at
  FROM unnest($2::text[]) AS e (id) CROSS JOIN LATERAL
       (SELECT * FROM engagements WHERE account_id = $1 AND email_id = e.id ORDER BY id DESC LIMIT $3) g
 ORDER BY g.id DESC`

// Engagements returns the latest opens and clicks, newest first, keyed by email id.
func (s *Service) Engagements(ctx context.Context, accountID string, first int,
	emailIDs ...string) (map[string][]*ent.Engagement, error) {
	found := make(map[string][]*ent.Engagement, len(emailIDs))
	err := db.Each(ctx, s.db.SQL, func(row db.Row) error {
		g := &ent.Engagement{}
		if err := row.Scan(&g.ID, &g.AccountID, &g.EmailID, &g.Kind, &g.URL, &g.IP, &g.UserAgent, &g.Machine,
			&g.CreatedAt); err != nil {
			return err
		}
		found[g.EmailID] = append(found[g.EmailID], g)
		return nil
	}, engagementsSQL, accountID, db.Array(emailIDs), first)
	if err != nil {
		return nil, fmt.Errorf("list opens and clicks: %w", err)
	}
	return found, nil
}
