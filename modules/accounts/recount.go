package accounts

import (
	"context"
	"fmt"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Counters are not kept on plans without caps, so they are computed when an account moves to a plan with
// caps: from the emails sent on the current day and in the current month, and from pending emails. The
// transaction of the change does this. For a few more seconds, other processes may use the old plan and count
// nothing. The counters are therefore computed again once every process knows the new plan and its earlier
// transactions have ended.

// lockPeriodsSQL creates and locks the counters that a recount sets: the current day and month, the days to
// come, and the days and months of pending emails.
const lockPeriodsSQL = `
INSERT INTO usages AS u (account_id, period, emails)
SELECT $1::text, period, 0 FROM (
	SELECT ` + dayNow + ` AS period UNION SELECT ` + monthNow + `
	UNION SELECT period FROM usages WHERE account_id = $1
	UNION SELECT to_char(scheduled_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') FROM emails WHERE ` + pendingEmails + `
	UNION SELECT to_char(scheduled_at AT TIME ZONE 'UTC', 'YYYY-MM') FROM emails WHERE ` + pendingEmails + `) p
 WHERE period = ` + monthNow + ` OR period COLLATE "C" >= ` + dayNow + ` COLLATE "C"
 ORDER BY period COLLATE "C"
ON CONFLICT (account_id, period) DO UPDATE SET emails = u.emails
RETURNING u.period`

// pendingEmails matches the pending emails of an account: scheduled ones, and those that will be sent once
// the account is no longer suspended.
const pendingEmails = `account_id = $1 AND uncommon IN ('scheduled', 'queued') AND scheduled_at IS NOT NULL`

// recountSQL sets locked counters. It is one statement and so sees one snapshot, in which an email is either
// pending or sent.
const recountSQL = `
WITH sent AS (` + sentSQL + `
), due AS (
	SELECT to_char(scheduled_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day FROM emails WHERE ` + pendingEmails + `
), counted AS (
	SELECT ` + dayNow + ` AS period, day AS emails FROM sent UNION ALL SELECT ` + monthNow + `, month FROM sent
	UNION ALL SELECT day, count(*) FROM due GROUP BY day
	UNION ALL SELECT left(day, 7), count(*) FROM due GROUP BY left(day, 7)
)
UPDATE usages u SET emails = coalesce((SELECT sum(c.emails) FROM counted c WHERE c.period = u.period), 0)::bigint
 WHERE u.account_id = $1 AND u.period = ANY($6)`

// recountAccount recomputes the counters of an account in tx. The locks prevent other transactions from
// counting emails of the account meanwhile.
func recountAccount(ctx context.Context, tx db.Execer, accountID string) error {
	now, err := db.Now(ctx, tx)
	if err != nil {
		return err
	}
	periods, err := db.All(ctx, tx, db.Value[string], lockPeriodsSQL, accountID)
	if err != nil {
		return err
	}
	// A separate statement sees everything that was committed before the locks were granted.
	_, err = tx.ExecContext(ctx, recountSQL, append(sentArgs(accountID, now), db.Array(periods))...)
	return err
}

const (
	askRecountSQL = `
INSERT INTO usage_recounts (account_id) VALUES ($1) ON CONFLICT (account_id) DO UPDATE SET ready_at = NULL`

	// Measure the wait from when a process sees the row, which is after the change was committed.
	readySQL = `UPDATE usage_recounts SET ready_at = clock_timestamp() + $1 * interval '1 microsecond' WHERE ready_at IS NULL`

	askedSQL = `SELECT EXISTS (SELECT FROM usage_recounts)`

	readyAccountsSQL = `SELECT account_id FROM usage_recounts WHERE ready_at < $1 ORDER BY account_id LIMIT $2`

	takeRecountSQL = `DELETE FROM usage_recounts WHERE account_id IN (
	SELECT account_id FROM usage_recounts WHERE account_id = $1 AND ready_at < $2 FOR UPDATE SKIP LOCKED) RETURNING account_id`
)

// recountForNewPlan computes the counters that the account's new plan requires, in the transaction that
// changes the plan.
func recountForNewPlan(ctx context.Context, tx db.Execer, accountID string) error {
	limits, err := loadCaps(ctx, tx, []string{accountID})
	if err != nil || limits[accountID].isUnlimited() {
		return err
	}
	// First, because recountDue locks in this order.
	if _, err := tx.ExecContext(ctx, askRecountSQL, accountID); err != nil {
		return fmt.Errorf("schedule a recount: %w", err)
	}
	if err := recountAccount(ctx, tx, accountID); err != nil {
		return fmt.Errorf("count sent emails: %w", err)
	}
	return nil
}

const recountBatch = 100

// recountDue recomputes the counters of accounts whose plan has changed, once no process can send emails
// under the old plan. It may run in several processes.
func (s *Service) recountDue(ctx context.Context) error {
	asked, err := db.One(ctx, s.db.SQL, db.Value[bool], askedSQL)
	if err != nil || !asked {
		return err
	}
	if _, err := s.db.SQL.ExecContext(ctx, readySQL, s.config.RecountAfter.Microseconds()); err != nil {
		return fmt.Errorf("recount: %w", err)
	}
	settled, err := s.facts.SettledTime(ctx)
	if err != nil {
		return fmt.Errorf("recount: %w", err)
	}
	accounts, err := db.All(ctx, s.db.SQL, db.Value[string], readyAccountsSQL, settled, recountBatch)
	if err != nil {
		return fmt.Errorf("recount: %w", err)
	}
	for _, accountID := range accounts {
		err := s.db.InTx(ctx, func(tx *ent.Tx) error {
			taken, err := db.All(ctx, tx, db.Value[string], takeRecountSQL, accountID, settled)
			if err != nil || len(taken) == 0 {
				return err
			}
			limits, err := loadCaps(ctx, tx, taken)
			if err != nil || limits[accountID].isUnlimited() {
				return err
			}
			return recountAccount(ctx, tx, accountID)
		})
		if err != nil {
			return fmt.Errorf("recount account %s: %w", accountID, err)
		}
	}
	return nil
}
