package storage

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/base/clock"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
)

// reportSQL stores the remaining allowances of a process.
const reportSQL = `
UPDATE storage_allowances a SET bytes = v.bytes
  FROM unnest($2::text[], $3::bigint[]) AS v (account_id, bytes) WHERE a.account_id = v.account_id AND a.holder = $1`

// report stores the unused part of allowances that are in use, and returns the idle ones.
func (s *Service) report(ctx context.Context) error {
	s.mutex.Lock()
	held := make([]*allowance, 0, len(s.allowances))
	for _, a := range s.allowances {
		held = append(held, a)
	}
	s.mutex.Unlock()
	var used []string
	var left []int64
	now := time.Now()
	var errs []error
	for _, a := range held {
		switch {
		case a.used.Swap(false):
			a.borrowing.Lock()
			a.idleSince = now
			a.borrowing.Unlock()
			used, left = append(used, a.accountID), append(left, max(a.left.Load(), 0))
		case s.isIdle(a, now) || len(held) > maxAllowances:
			errs = append(errs, s.giveBack(ctx, a))
		}
	}
	if len(used) > 0 {
		if _, err := s.db.Hot.ExecContext(ctx, reportSQL, s.holder, db.Array(used), db.Array(left)); err != nil {
			errs = append(errs, fmt.Errorf("report stored bytes: %w", err))
		}
	}
	return errors.Join(errs...)
}

func (s *Service) isIdle(a *allowance, now time.Time) bool {
	a.borrowing.Lock()
	defer a.borrowing.Unlock()
	return now.Sub(a.idleSince) >= idleAfter
}

const dropAllowanceSQL = `DELETE FROM storage_allowances WHERE account_id = $1 AND holder = $2`

// giveBack returns the rest of an allowance to its counter and removes the allowance.
func (s *Service) giveBack(ctx context.Context, a *allowance) error {
	a.borrowing.Lock()
	defer a.borrowing.Unlock()
	if a.until.Swap(0) == 0 && a.left.Load() == 0 { // the allowance was never borrowed
		s.forget(a)
		return nil
	}
	left, received := a.left.Swap(0), a.received.take()
	state, err := s.runBorrow(ctx, a, left, received, accounts.ByteQuota{}, 0, 0)
	if err != nil {
		a.left.Add(left)
		a.received.putBack(received)
		return fault.DatabaseUnavailable(fmt.Errorf("return stored bytes: %w", err))
	}
	a.received.set(state.today, state.received)
	if _, err := s.db.Hot.ExecContext(ctx, dropAllowanceSQL, a.accountID, s.holder); err != nil {
		return fmt.Errorf("return stored bytes: %w", err)
	}
	s.forget(a)
	return nil
}

// forget removes an allowance, unless a refund has arrived since, or it counts received bytes of the current
// day.
func (s *Service) forget(a *allowance) {
	if a.received.isOf(clock.Now().UTC().Format(dayLayout)) {
		return
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if a.left.Load() == 0 && a.until.Load() == 0 {
		delete(s.allowances, a.accountID)
	}
}

// returnExpiredSQL returns the allowances of dead processes.
const returnExpiredSQL = `
WITH gone AS (
	DELETE FROM storage_allowances WHERE id IN (SELECT id FROM storage_allowances WHERE expires_at < now() LIMIT 1000 FOR UPDATE SKIP LOCKED)
	RETURNING account_id, bytes
), summed AS (
	SELECT account_id, sum(bytes)::bigint AS bytes FROM gone GROUP BY account_id
), locked AS (
	SELECT c.id, s.bytes FROM storage_counters c JOIN summed s USING (account_id) ORDER BY c.id FOR UPDATE OF c
)
UPDATE storage_counters c SET stored = stored - l.bytes, charged = charged - l.bytes, due_at = least(due_at, now()),
       day_bytes = CASE WHEN day = to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD') THEN greatest(day_bytes - l.bytes, 0) ELSE day_bytes END
  FROM locked l WHERE c.id = l.id`

func (s *Service) returnExpired(ctx context.Context) error {
	if _, err := s.db.SQL.ExecContext(ctx, returnExpiredSQL); err != nil {
		return fmt.Errorf("return allowances of dead processes: %w", err)
	}
	return nil
}
