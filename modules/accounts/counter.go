package accounts

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/lib/pq"

	"github.com/postrider/postrider/runtime/db"
)

// The names of the periods, and how long they still last. now() is when the
// transaction began, so all statements of one agree.
const (
	dayNow   = `to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD')`
	monthNow = `to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM')`
	clockNow = `extract(epoch FROM now())::float8,
	extract(epoch FROM date_trunc('day', now() AT TIME ZONE 'UTC') + interval '1 day' - now() AT TIME ZONE 'UTC')::float8,
	extract(epoch FROM date_trunc('month', now() AT TIME ZONE 'UTC') + interval '1 month' - now() AT TIME ZONE 'UTC')::float8`
)

// addUsesSQL adds without regard to the caps, because only the row itself knows
// what it has; what was too much is taken back by subtractUsesSQL under the same
// locks, so that nobody ever sees it. The ORDER BY is the order of the locks.
const addUsesSQL = `
WITH used AS (
INSERT INTO usages AS u (account_id, period, emails)
SELECT w.account_id, p.period, w.emails::bigint
  FROM unnest($1::text[], $2::text[]) AS w (account_id, emails), (VALUES (` + dayNow + `), (` + monthNow + `)) AS p (period)
 ORDER BY w.account_id COLLATE "C", p.period COLLATE "C"
ON CONFLICT (account_id, period) DO UPDATE SET emails = u.emails + excluded.emails
RETURNING u.account_id, u.period, u.emails)
SELECT account_id, coalesce(sum(emails) FILTER (WHERE period = ` + dayNow + `), 0)::bigint, coalesce(sum(emails) FILTER (WHERE period = ` + monthNow + `), 0)::bigint, ` + clockNow + `
  FROM used GROUP BY account_id`

func (s *Service) addUses(ctx context.Context, tx db.Execer, list []cappedUse) (map[string]count, error) {
	return counts(ctx, tx, addUsesSQL, columns(list)...)
}

const subtractUsesSQL = `
UPDATE usages u SET emails = greatest(u.emails - w.emails::bigint, 0)
  FROM unnest($1::text[], $2::text[]) AS w (account_id, emails)
 WHERE u.account_id = w.account_id AND u.period IN (` + dayNow + `, ` + monthNow + `)`

func (s *Service) subtractUses(ctx context.Context, tx db.Execer, list []cappedUse) error {
	if len(list) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, subtractUsesSQL, columns(list)...)
	return err
}

func columns(list []cappedUse) []any {
	accountIDs, emails := make([]string, len(list)), make([]string, len(list))
	for i, c := range list {
		accountIDs[i], emails[i] = c.accountID, strconv.FormatInt(c.emails, 10)
	}
	return []any{pq.Array(accountIDs), pq.Array(emails)}
}

const countSQL = `
SELECT w.account_id, coalesce(sum(u.emails) FILTER (WHERE u.period = ` + dayNow + `), 0)::bigint, coalesce(sum(u.emails) FILTER (WHERE u.period = ` + monthNow + `), 0)::bigint, ` + clockNow + `
  FROM unnest($1::text[]) AS w (account_id)
  LEFT JOIN usages u ON u.account_id = w.account_id AND u.period IN (` + dayNow + `, ` + monthNow + `)
 GROUP BY w.account_id`

func (s *Service) count(ctx context.Context, from db.Execer, accountID string) (count, error) {
	found, err := counts(ctx, from, countSQL, pq.Array([]string{accountID}))
	return found[accountID], err
}

func counts(ctx context.Context, from db.Execer, query string, args ...any) (_ map[string]count, err error) {
	rows, err := from.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	found := map[string]count{}
	for rows.Next() {
		var accountID string
		var c count
		var now, dayEnds, monthEnds float64
		if err := rows.Scan(&accountID, &c.day, &c.month, &now, &dayEnds, &monthEnds); err != nil {
			return nil, err
		}
		c.now = time.UnixMicro(int64(now * 1e6))
		c.dayEnds, c.monthEnds = time.Duration(dayEnds*float64(time.Second)), time.Duration(monthEnds*float64(time.Second))
		found[accountID] = c
	}
	return found, rows.Err()
}
