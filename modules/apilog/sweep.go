package apilog

import (
	"context"
	"fmt"
	"time"

	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
)

const (
	// KeptDays is the maximum number of days for which a request is kept.
	KeptDays = 7
	// MostRows is the maximum number of requests kept per account; older ones are deleted.
	MostRows = 100_000

	sweepBatch  = 1000
	accountPage = 200
	day         = 24 * time.Hour
)

const (
	sweepSQL = `
DELETE FROM api_requests WHERE ctid IN (SELECT ctid FROM api_requests WHERE created_at < $1 LIMIT $2 FOR UPDATE SKIP LOCKED)`
	purgeSQL = `
DELETE FROM api_requests WHERE account_id = $1 AND n IN
	(SELECT n FROM api_requests WHERE account_id = $1 AND created_at < $2 LIMIT $3 FOR UPDATE SKIP LOCKED)`
	surplusSQL = `
DELETE FROM api_requests WHERE account_id = $1 AND n IN
	(SELECT n FROM api_requests WHERE account_id = $1 AND n <= (SELECT n FROM api_requests WHERE account_id = $1 ORDER BY n DESC OFFSET $2 LIMIT 1)
	 LIMIT $3 FOR UPDATE SKIP LOCKED)`
)

// Sweep deletes requests older than seven days, or than the account's retention of email bodies if that is
// shorter, and the oldest rows of an account beyond MostRows.
func (s *Service) Sweep(ctx context.Context) (deleted int64, err error) {
	now, err := db.Now(ctx, s.db.SQL)
	if err != nil {
		return 0, fmt.Errorf("sweep API requests: %w", err)
	}
	if deleted, err = s.inBatches(ctx, sweepSQL, now.Add(-KeptDays*day)); err != nil {
		return deleted, err
	}
	for after := ""; ; {
		list, err := s.accounts.Retentions(ctx, after, accountPage)
		if err != nil {
			return deleted, fmt.Errorf("sweep API requests: %w", err)
		}
		for _, a := range list {
			after = a.AccountID
			n, err := s.sweepAccount(ctx, a.AccountID, min(a.BodyDays, a.RecordDays), now)
			if deleted += n; err != nil {
				return deleted, err
			}
			if a.TestDays == 0 {
				continue
			}
			n, err = s.sweepAccount(ctx, id.TestTenantOf(a.AccountID), a.TestDays, now)
			if deleted += n; err != nil {
				return deleted, err
			}
		}
		if len(list) < accountPage {
			return deleted, nil
		}
	}
}

func (s *Service) sweepAccount(ctx context.Context, accountID string, days int,
	now time.Time) (deleted int64, err error) {
	if days < KeptDays {
		if deleted, err = s.Purge(ctx, accountID, now.Add(-time.Duration(days)*day)); err != nil {
			return deleted, err
		}
	}
	n, err := s.inBatches(ctx, surplusSQL, accountID, MostRows)
	return deleted + n, err
}

// Purge deletes an account's requests from before a time.
func (s *Service) Purge(ctx context.Context, accountID string, before time.Time) (deleted int64, err error) {
	return s.inBatches(ctx, purgeSQL, accountID, before)
}

// inBatches repeats a statement, whose last parameter is a limit, until it deletes fewer rows than that.
func (s *Service) inBatches(ctx context.Context, statement string, args ...any) (deleted int64, err error) {
	for n := sweepBatch; n == sweepBatch; deleted += int64(n) {
		if n, err = db.Exec(ctx, s.db.SQL, statement, append(args[:len(args):len(args)], sweepBatch)...); err != nil {
			return deleted, fmt.Errorf("sweep API requests: %w", err)
		}
	}
	return deleted, nil
}
