package accounts

import (
	"context"
	"time"

	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/batch"
)

// The names of the current periods. now() is the start of the transaction, so all statements of a transaction
// agree.
const (
	dayNow   = `to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD')`
	monthNow = `to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM')`
)

const (
	dayLayout   = "2006-01-02"
	monthLayout = "2006-01"
)

// usageKey names one row of usages.
type usageKey struct{ accountID, period string }

// usageCounts holds counter values, and the current day by the database clock.
type usageCounts struct {
	emails map[usageKey]int64
	today  string
	now    time.Time
}

// addEmails counts n emails in a day and in its month.
func (t usageCounts) addEmails(accountID, day string, n int64) {
	t.emails[usageKey{accountID, day}] += n
	t.emails[usageKey{accountID, monthOf(day)}] += n
}

// ofDay returns the counts of a day and its month.
func (t usageCounts) ofDay(accountID, day string) periodCount {
	return periodCount{day: t.emails[usageKey{accountID, day}], month: t.emails[usageKey{accountID, monthOf(day)}],
		date: day, today: day == t.today, now: t.now}
}

func monthOf(day string) string { return day[:len(monthLayout)] }

// usesByPeriod is SQL that sums uses by period: each use counts toward a day and its month.
var usesByPeriod = `wanted AS (
	SELECT w.account_id, coalesce(NULLIF(w.day, ''), ` + dayNow + `) AS day, w.emails FROM ` + useRows.Source() + `
), summed AS (
	SELECT account_id, period, sum(emails)::bigint AS emails
	  FROM (SELECT account_id, day AS period, emails FROM wanted UNION ALL SELECT account_id, left(day, 7), emails FROM wanted) p
	 GROUP BY account_id, period
)`

// addUsesSQL adds without regard to the caps, because the current value is only known once the row is locked.
// subtractUsesSQL then subtracts the excess under the same locks, so no other transaction sees it. The ORDER
// BY fixes the lock order.
var addUsesSQL = db.Compile(`
WITH ` + usesByPeriod + `, used AS (
INSERT INTO usages AS u (account_id, period, emails)
SELECT account_id, period, emails FROM summed ORDER BY account_id COLLATE "C", period COLLATE "C"
ON CONFLICT (account_id, period) DO UPDATE SET emails = u.emails + excluded.emails
RETURNING u.account_id, u.period, u.emails)
SELECT account_id, period, emails, ` + dayNow + `, now() FROM used`)

func (s *Service) addUses(ctx context.Context, tx db.Execer, list []cappedUse) (usageCounts, error) {
	return queryCounters(ctx, tx, addUsesSQL.Text, addUsesSQL.Args(useRows.Rows(list))...)
}

// subtractUsesSQL locks in the same order as addUsesSQL.
var subtractUsesSQL = db.Compile(`
WITH ` + usesByPeriod + `, locked AS (
	SELECT u.id, s.emails FROM usages u JOIN summed s USING (account_id, period)
	 ORDER BY u.account_id COLLATE "C", u.period COLLATE "C" FOR UPDATE OF u
)
UPDATE usages u SET emails = greatest(u.emails - l.emails, 0) FROM locked l WHERE u.id = l.id`)

func (s *Service) subtractUses(ctx context.Context, tx db.Execer, list []cappedUse) error {
	if len(list) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, subtractUsesSQL.Text, subtractUsesSQL.Args(useRows.Rows(list))...)
	return err
}

var useRows = batch.New("w",
	batch.Text("account_id", func(u cappedUse) string { return u.accountID }),
	batch.Text("day", func(u cappedUse) string { return u.day }),
	batch.Int("emails", func(u cappedUse) int64 { return u.emails }),
)

// Missing counters are inserted first: a row that does not exist cannot be locked, so the lock order could
// not be guaranteed.
const lockCountersSQL = `
INSERT INTO usages AS u (account_id, period, emails)
SELECT $1::text, p.period, 0 FROM unnest($2::text[]) AS p (period) GROUP BY p.period ORDER BY p.period COLLATE "C"
ON CONFLICT (account_id, period) DO UPDATE SET emails = u.emails`

// lockCounters locks counters of an account, for a transaction that changes them in two steps.
func lockCounters(ctx context.Context, tx db.Execer, accountID string, periods ...string) error {
	_, err := tx.ExecContext(ctx, lockCountersSQL, accountID, db.Array(periods))
	return err
}

const countSQL = `
SELECT $1::text, p.period, coalesce(u.emails, 0), ` + dayNow + `, now()
  FROM (VALUES (` + dayNow + `), (` + monthNow + `)) p (period) LEFT JOIN usages u ON u.account_id = $1 AND u.period = p.period`

// readCounters returns the counters of an account for the current day and month.
func (s *Service) readCounters(ctx context.Context, from db.Execer, accountID string) (periodCount, error) {
	found, err := queryCounters(ctx, from, countSQL, accountID)
	return found.ofDay(accountID, found.today), err
}

func queryCounters(ctx context.Context, from db.Execer, query string, args ...any) (usageCounts, error) {
	found := usageCounts{emails: map[usageKey]int64{}, today: time.Now().UTC().Format(dayLayout)}
	err := db.Each(ctx, from, func(row db.Row) error {
		var of usageKey
		var n int64
		if err := row.Scan(&of.accountID, &of.period, &n, &found.today, &found.now); err != nil {
			return err
		}
		found.emails[of] = n
		return nil
	}, query, args...)
	return found, err
}
