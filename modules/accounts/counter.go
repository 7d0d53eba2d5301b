package accounts

import (
	"context"
	"time"

	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/db/batch"
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
var addUsesSQL = db.Compile(`
WITH used AS (
INSERT INTO usages AS u (account_id, period, emails)
SELECT w.account_id, p.period, w.emails
  FROM ` + useRows.Source() + `, (VALUES (` + dayNow + `), (` + monthNow + `)) AS p (period)
 ORDER BY w.account_id COLLATE "C", p.period COLLATE "C"
ON CONFLICT (account_id, period) DO UPDATE SET emails = u.emails + excluded.emails
RETURNING u.account_id, u.period, u.emails)
SELECT account_id, coalesce(sum(emails) FILTER (WHERE period = ` + dayNow + `), 0)::bigint, coalesce(sum(emails) FILTER (WHERE period = ` + monthNow + `), 0)::bigint, ` + clockNow + `
  FROM used GROUP BY account_id`)

func (s *Service) addUses(ctx context.Context, tx db.Execer, list []cappedUse) (map[string]count, error) {
	return counts(ctx, tx, addUsesSQL.Text, addUsesSQL.Args(useRows.Rows(list))...)
}

var subtractUsesSQL = db.Compile(`
UPDATE usages u SET emails = greatest(u.emails - w.emails, 0)
  FROM ` + useRows.Source() + `
 WHERE u.account_id = w.account_id AND u.period IN (` + dayNow + `, ` + monthNow + `)`)

func (s *Service) subtractUses(ctx context.Context, tx db.Execer, list []cappedUse) error {
	if len(list) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, subtractUsesSQL.Text, subtractUsesSQL.Args(useRows.Rows(list))...)
	return err
}

var useRows = batch.New("w",
	batch.Text("account_id", func(u cappedUse) string { return u.accountID }),
	batch.Int("emails", func(u cappedUse) int64 { return u.emails }),
)

const countSQL = `
SELECT w.account_id, coalesce(sum(u.emails) FILTER (WHERE u.period = ` + dayNow + `), 0)::bigint, coalesce(sum(u.emails) FILTER (WHERE u.period = ` + monthNow + `), 0)::bigint, ` + clockNow + `
  FROM unnest($1::text[]) AS w (account_id)
  LEFT JOIN usages u ON u.account_id = w.account_id AND u.period IN (` + dayNow + `, ` + monthNow + `)
 GROUP BY w.account_id`

func (s *Service) count(ctx context.Context, from db.Execer, accountID string) (count, error) {
	found, err := counts(ctx, from, countSQL, db.Array([]string{accountID}))
	return found[accountID], err
}

func counts(ctx context.Context, from db.Execer, query string, args ...any) (map[string]count, error) {
	found := map[string]count{}
	err := db.Each(ctx, from, func(row db.Row) error {
		var accountID string
		var c count
		var now, dayEnds, monthEnds float64
		if err := row.Scan(&accountID, &c.day, &c.month, &now, &dayEnds, &monthEnds); err != nil {
			return err
		}
		c.now = time.UnixMicro(int64(now * 1e6))
		c.dayEnds, c.monthEnds = time.Duration(dayEnds*float64(time.Second)), time.Duration(monthEnds*float64(time.Second))
		found[accountID] = c
		return nil
	}, query, args...)
	if err != nil {
		return nil, err
	}
	return found, nil
}
