package retention

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/runtime/base/id"
)

// Purged counts what a purge deleted.
type Purged struct {
	Bodies  int  // emails that lost their bodies
	Records int  // emails that were deleted
	Skipped bool // another process was purging

	ReceivedContents int // received messages that lost their contents
	Received         int // received messages that were deleted

	Others int64 // rows of modules that store data other than mail
}

const (
	accountPage = 200
	// step limits the batch size, to keep transactions short next to live traffic.
	step = 500
	day  = 24 * time.Hour
)

// purgeLock ensures that only one process purges at a time.
const purgeLock = 0x706f7374_72657465 // "postrete"

// Purge deletes the data whose retention period has expired, for every account.
func (s *Service) Purge(ctx context.Context) (total Purged, err error) {
	conn, err := s.db.SQL.Conn(ctx)
	if err != nil {
		return total, fmt.Errorf("purge: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	var ours bool
	if err := conn.QueryRowContext(ctx, `SELECT pg_try_advisory_lock($1)`, int64(purgeLock)).Scan(&ours); err != nil {
		return total, fmt.Errorf("purge: %w", err)
	}
	if !ours {
		return Purged{Skipped: true}, nil
	}
	defer func() {
		// If this fails, the connection is discarded, which releases the lock.
		_, unlockErr := conn.ExecContext(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock($1)`, int64(purgeLock))
		err = errors.Join(err, unlockErr)
	}()
	var now time.Time
	if err := conn.QueryRowContext(ctx, `SELECT now()`).Scan(&now); err != nil {
		return total, fmt.Errorf("purge: %w", err)
	}
	if s.stores.Mail == nil && s.stores.Inbox == nil && len(s.kept) == 0 {
		return total, nil
	}
	return total, s.purgeAccounts(ctx, now, &total)
}

func (s *Service) purgeAccounts(ctx context.Context, now time.Time, total *Purged) error {
	for after := ""; ; {
		page, err := s.accounts.Retentions(ctx, after, accountPage)
		if err != nil {
			return fmt.Errorf("purge: %w", err)
		}
		for _, a := range page {
			if err := s.purgeAccount(ctx, a, now, total); err != nil {
				return fmt.Errorf("purge account %s: %w", a.AccountID, err)
			}
			if err := s.purgeTestMode(ctx, a, now, total); err != nil {
				return fmt.Errorf("purge test mode of account %s: %w", a.AccountID, err)
			}
			after = a.AccountID
		}
		if len(page) < accountPage {
			return nil
		}
	}
}

// purgeTestMode deletes the old data of test mode, if the account has any.
func (s *Service) purgeTestMode(ctx context.Context, a accounts.Retention, now time.Time, total *Purged) error {
	if a.TestDays == 0 {
		return nil
	}
	return s.purgeAccount(ctx, accounts.Retention{AccountID: id.TestTenantOf(a.AccountID), BodyDays: a.TestDays,
		RecordDays: a.TestDays}, now, total)
}

func (s *Service) purgeAccount(ctx context.Context, a accounts.Retention, now time.Time, total *Purged) error {
	forRecords, forBodies := now.Add(-time.Duration(a.RecordDays)*day), now.Add(-time.Duration(a.BodyDays)*day)
	if s.stores.Inbox != nil {
		if err := s.purgeReceived(ctx, a.AccountID, forRecords, forBodies, total); err != nil {
			return fmt.Errorf("received mail: %w", err)
		}
	}
	for _, kept := range s.kept {
		if kept.Purge == nil {
			continue
		}
		n, err := kept.Purge(ctx, a.AccountID, forRecords)
		total.Others += n
		if err != nil {
			return fmt.Errorf("%s: %w", kept.What, err)
		}
	}
	if s.stores.Mail == nil {
		return nil
	}
	n, err := s.walkEmails(ctx, a.AccountID, records.Records, forRecords, s.deleteEmails)
	total.Records += n
	if err != nil {
		return fmt.Errorf("records: %w", err)
	}
	n, err = s.walkEmails(ctx, a.AccountID, records.Bodies, forBodies, s.stores.Mail.PurgeBodies)
	total.Bodies += n
	if err != nil {
		return fmt.Errorf("bodies: %w", err)
	}
	return nil
}

// receivedKind is the name of the mark for received contents.
const receivedKind = "received"

func (s *Service) purgeReceived(ctx context.Context, accountID string, records, bodies time.Time, total *Purged) error {
	for {
		n, err := s.stores.Inbox.PurgeRecords(ctx, accountID, records, step)
		total.Received += n
		if err != nil {
			return err
		}
		if n < step {
			break
		}
	}
	after, err := s.loadMark(ctx, accountID, receivedKind)
	for err == nil {
		var n int
		var last string
		if n, last, err = s.stores.Inbox.PurgeContents(ctx, accountID, after, bodies, step); err != nil {
			break
		}
		if total.ReceivedContents += n; last == "" {
			break
		}
		after = last
		err = s.setMark(ctx, accountID, receivedKind, after)
	}
	return err
}

// deleteEmails deletes dependent data first: after an error in between, a retry still finds the emails.
func (s *Service) deleteEmails(ctx context.Context, accountID string, ids []string) (int, error) {
	if s.stores.Follower != nil {
		if _, err := s.stores.Follower.DeleteFor(ctx, accountID, ids); err != nil {
			return 0, err
		}
	}
	return s.stores.Mail.Delete(ctx, accountID, ids)
}

// walkEmails processes the account's old emails, starting at its mark, then the emails that were settled
// late.
func (s *Service) walkEmails(ctx context.Context, accountID string, keep records.DetailLevel, cutoff time.Time,
	purge func(context.Context, string, []string) (int, error)) (total int, err error) {
	kind := map[records.DetailLevel]string{records.Records: "records", records.Bodies: "bodies"}[keep]
	after, err := s.loadMark(ctx, accountID, kind)
	if err != nil {
		return 0, err
	}
	for more := true; more; {
		ids, last, err := s.stores.Mail.ListExpired(ctx, accountID, keep, after, cutoff, step)
		if err != nil {
			return total, err
		}
		if n, err := purgeSome(ctx, accountID, ids, purge); err != nil {
			return total, err
		} else {
			total += n
		}
		if more = last != ""; more {
			after = last
			if err := s.setMark(ctx, accountID, kind, after); err != nil {
				return total, err
			}
		}
	}
	for {
		ids, err := s.stores.Mail.ExpiredLate(ctx, accountID, keep, cutoff, step)
		if err != nil {
			return total, err
		}
		n, err := purgeSome(ctx, accountID, ids, purge)
		total += n
		if err != nil || n == 0 {
			return total, err
		}
	}
}

func purgeSome(ctx context.Context, accountID string, ids []string,
	purge func(context.Context, string, []string) (int, error)) (int, error) {
	if len(ids) == 0 {
		return 0, nil
	}
	return purge(ctx, accountID, ids)
}

// markLife limits how long the purge can miss an email that was unsettled when the mark passed it. Afterwards
// the walk restarts from the beginning.
const (
	markLife   = 7 * day
	markSQL    = `SELECT until_id FROM retention_marks WHERE account_id = $1 AND kind = $2 AND updated_at > now() - $3 * interval '1 second'`
	setMarkSQL = `
INSERT INTO retention_marks AS m (account_id, kind, until_id) VALUES ($1, $2, $3)
ON CONFLICT (account_id, kind) DO UPDATE SET until_id = excluded.until_id,
	updated_at = CASE WHEN m.updated_at > now() - $4 * interval '1 second' THEN m.updated_at ELSE now() END`
)

func (s *Service) loadMark(ctx context.Context, accountID, kind string) (until string, err error) {
	err = s.db.SQL.QueryRowContext(ctx, markSQL, accountID, kind, markLife.Seconds()).Scan(&until)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return until, err
}

func (s *Service) setMark(ctx context.Context, accountID, kind, until string) error {
	_, err := s.db.SQL.ExecContext(ctx, setMarkSQL, accountID, kind, until, markLife.Seconds())
	return err
}
