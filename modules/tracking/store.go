package tracking

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lib/pq"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/engagement"
	"github.com/postrider/postrider/runtime/event"
)

// maxEngagements is how many are recorded of one email.
// Processes that record at the same moment may exceed it by a batch.
const maxEngagements = 1000

// recordSQL stores the hits of emails that are there and have room, and tells which
// it stored. The emails are locked in the order of their ids, as everybody does who
// changes several.
const recordSQL = `
WITH hit AS (
	SELECT h.*, row_number() OVER (PARTITION BY h.email_id ORDER BY h.n) AS nth
	  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::float8[])
	       WITH ORDINALITY AS h (account_id, email_id, kind, url, ip, user_agent, machine, age, n)
), known AS (
	SELECT e.id, e.account_id FROM emails e WHERE e.id = ANY ($2::text[]) ORDER BY e.id FOR UPDATE OF e
), admitted AS (
	SELECT h.* FROM hit h JOIN known k ON k.id = h.email_id AND k.account_id = h.account_id
	 WHERE h.nth <= $9 - (SELECT count(*) FROM (SELECT FROM engagements g WHERE g.email_id = k.id LIMIT $9) recorded)
), stored AS (
	INSERT INTO engagements (account_id, email_id, kind, url, ip, user_agent, machine, created_at)
	SELECT account_id, email_id, kind, nullif(url, ''), ip, user_agent, machine, now() - make_interval(secs => age) FROM admitted ORDER BY n
)
SELECT n FROM admitted ORDER BY n`

// record stores hits and announces them, all in one transaction.
func (s *Service) record(ctx context.Context, hits []hit) error {
	told := 0
	err := s.db.InTx(ctx, func(tx *ent.Tx) error {
		admitted, err := insertHits(ctx, tx, hits, time.Now())
		if err != nil || len(admitted) == 0 || s.announcer == nil {
			return err
		}
		told, err = s.announcer.Announce(ctx, tx, admitted)
		return err
	})
	if err != nil {
		return fmt.Errorf("record opens and clicks: %w", err)
	}
	if told > 0 {
		s.bus.Wake()
	}
	return nil
}

func insertHits(ctx context.Context, tx *ent.Tx, hits []hit, now time.Time) (admitted []Seen, err error) {
	columns := make([]pq.StringArray, 7)
	ages := make(pq.Float64Array, len(hits))
	for i, h := range hits {
		for c, value := range []string{h.mark.AccountID, h.mark.EmailID, string(h.mark.Kind), h.mark.Target, h.ip, h.agent, h.machine} {
			columns[c] = append(columns[c], value)
		}
		ages[i] = max(now.Sub(h.at).Seconds(), 0)
	}
	args := make([]any, 0, 9)
	for _, c := range columns {
		args = append(args, c)
	}
	rows, err := tx.QueryContext(ctx, recordSQL, append(args, ages, maxEngagements)...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var n int
		if err := rows.Scan(&n); err != nil {
			return nil, err
		}
		admitted = append(admitted, hits[n-1].seen())
	}
	return admitted, rows.Err()
}

// seen is the hit as it is told.
func (h hit) seen() Seen {
	told := Seen{AccountID: h.mark.AccountID, EmailID: h.mark.EmailID, Type: event.EmailOpened}
	told.Fill = func(e *event.Email) { e.Open = &event.Open{IP: h.ip, UserAgent: h.agent, Machine: h.machine != ""} }
	if h.mark.Kind == Click {
		told.Type = event.EmailClicked
		told.Fill = func(e *event.Email) {
			e.Click = &event.Click{URL: h.mark.Target, IP: h.ip, UserAgent: h.agent, Machine: h.machine != ""}
		}
	}
	return told
}

// DeleteFor deletes what was recorded of emails, and gives how much that was.
func (s *Service) DeleteFor(ctx context.Context, accountID string, emailIDs []string) (int, error) {
	count, err := s.db.Ent.Engagement.Delete().Where(engagement.AccountID(accountID), engagement.EmailIDIn(emailIDs...)).Exec(ctx)
	if err != nil {
		return count, fmt.Errorf("delete opens and clicks: %w", err)
	}
	return count, nil
}
