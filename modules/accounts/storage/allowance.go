package storage

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
)

// allowance is the number of bytes that this process may store for an account without querying the database.
type allowance struct {
	accountID string
	left      atomic.Int64 // bytes; negative after a Debit
	until     atomic.Int64 // Unix nanoseconds; the allowance cannot be spent after it
	slice     atomic.Int64 // amount last borrowed
	used      atomic.Bool  // since the last report
	refilling atomic.Bool

	borrowing sync.Mutex // guards the fields below
	day       string     // the day from which it was borrowed
	refusal   refusal
	idleSince time.Time

	received received
}

// refusal caches the last refusal for a second, so that a retrying client causes no query.
type refusal struct {
	err   error
	bytes int64
	until time.Time
}

const (
	maxSlice       = 32 << 20
	lives          = 2 * time.Minute // in this process, measured from the start of the borrowing
	livesInTable   = 3 * time.Minute
	refusalStands  = time.Second
	borrowPatience = 3 * time.Second
	maxAllowances  = 20_000
)

// spend deducts bytes if enough are left.
func (a *allowance) spend(bytes int64) bool {
	if time.Now().UnixNano() >= a.until.Load() {
		return false
	}
	for {
		left := a.left.Load()
		if left < bytes {
			return false
		}
		if a.left.CompareAndSwap(left, left-bytes) {
			a.used.Store(true)
			return true
		}
	}
}

func (a *allowance) isLow() bool { return a.left.Load() < a.slice.Load()/4 }

// allowanceOf returns the allowance of an account, which may be empty.
func (s *Service) allowanceOf(accountID string) *allowance {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	a := s.allowances[accountID]
	if a == nil {
		a = &allowance{accountID: accountID, idleSince: time.Now()}
		s.allowances[accountID] = a
	}
	return a
}

// borrowAndSpend borrows the missing bytes and spends them.
func (s *Service) borrowAndSpend(ctx context.Context, a *allowance, plan string, quota accounts.ByteQuota,
	bytes int64) error {
	a.borrowing.Lock()
	defer a.borrowing.Unlock()
	if a.spend(bytes) { // another request has borrowed meanwhile
		return nil
	}
	if time.Now().Before(a.refusal.until) && bytes >= a.refusal.bytes {
		s.refused.WithLabelValues(reasonOf(a.refusal.err)).Inc()
		return a.refusal.err
	}
	state, err := s.borrow(ctx, a, quota, bytes)
	if err != nil {
		return err
	}
	if state.granted >= bytes {
		a.left.Add(-bytes)
		a.used.Store(true)
		return nil
	}
	refused := state.refusal(plan, quota, bytes)
	a.refusal = refusal{err: refused, bytes: bytes, until: time.Now().Add(refusalStands)}
	s.refused.WithLabelValues(reasonOf(refused)).Inc()
	return refused
}

// IsQuota reports whether an error says that a quota is exhausted.
func IsQuota(err error) bool {
	refused := fault.Classify(err)
	return refused.Code == fault.CodePlanLimit &&
		(refused.Details["cap"] == capStored || refused.Details["cap"] == capDaily)
}

// Values of details.cap in the error.
const (
	capStored = "stored_bytes"
	capDaily  = "daily_bytes"
)

// Additional refusal reasons in metrics.
const (
	refusedShare = "received_share"
	refusedDisk  = "disk_full"
)

func reasonOf(err error) string {
	reason, _ := fault.Classify(err).Details["cap"].(string)
	return reason
}

// refill borrows in the background, so that no request waits for it.
func (s *Service) refill(a *allowance, quota accounts.ByteQuota) {
	if !a.refilling.CompareAndSwap(false, true) {
		return
	}
	s.refills.Go(func() {
		defer a.refilling.Store(false)
		// outlives the request that triggered it
		ctx, cancel := context.WithTimeout(context.Background(), borrowPatience)
		defer cancel()
		a.borrowing.Lock()
		defer a.borrowing.Unlock()
		// the next charge that exceeds the allowance borrows synchronously, and reports the error
		_, _ = s.borrow(ctx, a, quota, 0)
	})
}

// counterState is the state of a counter after borrowing.
type counterState struct {
	granted, stored, day, received int64
	today                          string
	now                            time.Time
}

// borrowSQL returns the unused part of an allowance to the counter and lends the next one: an eighth of the
// remaining quota, but at least @need, or nothing if less than @need remains. The unused part only counts
// while the row of the allowance exists: once it has expired, another process has returned it.
//
// A measurement of a counter is due soon after a refusal, and every 15 minutes from 80 % on.
var borrowSQL = db.Compile(`
WITH counter AS (
	SELECT c.id, c.stored, c.charged, c.day, c.day_bytes, c.day_received, c.measured_at, to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS today
	  FROM storage_counters c WHERE c.account_id = @account FOR UPDATE
), returned AS (
	SELECT c.*, CASE WHEN @left::bigint < 0 OR EXISTS (SELECT FROM storage_allowances a WHERE a.account_id = @account AND a.holder = @holder) THEN @left ELSE 0 END AS back
	  FROM counter c
), before AS (
	SELECT id, today, measured_at, stored - back AS stored, charged - back AS charged,
	       CASE WHEN day = today THEN day_bytes - CASE WHEN @left_day = today THEN back ELSE 0 END ELSE 0 END AS day_bytes,
	       CASE WHEN day = today THEN day_received ELSE 0 END + CASE WHEN @received_day = today THEN @received::bigint ELSE 0 END AS day_received
	  FROM returned
), room AS (
	SELECT b.*, least(@stored_cap::bigint - stored, @day_cap::bigint - day_bytes) AS room FROM before b
), lent AS (
	SELECT r.*, CASE WHEN room <= 0 OR room < @need::bigint THEN 0 ELSE greatest(@need, least(@slice::bigint, room / 8)) END AS granted FROM room r
), held AS (
	INSERT INTO storage_allowances (account_id, holder, bytes, expires_at)
	SELECT @account, @holder, granted, now() + make_interval(secs => @lives) FROM lent
	ON CONFLICT (account_id, holder) DO UPDATE SET bytes = excluded.bytes, expires_at = excluded.expires_at
)
UPDATE storage_counters c SET stored = l.stored + granted, charged = l.charged + granted, day = today, day_bytes = l.day_bytes + granted, day_received = l.day_received,
       due_at = CASE WHEN l.stored + @need > @stored_cap THEN least(c.due_at, greatest(now(), l.measured_at + make_interval(secs => @remeasure)))
                     WHEN l.stored > 0.8 * @stored_cap THEN least(c.due_at, greatest(now(), l.measured_at + interval '15 minutes'))
                     ELSE coalesce(c.due_at, now()) END
  FROM lent l WHERE c.id = l.id
RETURNING l.granted, c.stored, c.day_bytes, c.day_received, l.today, now()`)

const createCounterSQL = `INSERT INTO storage_counters (account_id, due_at) VALUES ($1, now()) ON CONFLICT (account_id) DO NOTHING`

const unlimited = int64(1) << 60

// borrow returns the unused bytes and borrows again. The caller must hold a.borrowing.
func (s *Service) borrow(ctx context.Context, a *allowance, quota accounts.ByteQuota,
	need int64) (state counterState, err error) {
	ctx, cancel := context.WithTimeout(ctx, borrowPatience)
	defer cancel()
	began := time.Now()
	left, received := a.left.Swap(0), a.received.take()
	state, err = s.runBorrow(ctx, a, left, received, quota, need, maxSlice)
	if err != nil {
		a.left.Add(left)
		a.received.putBack(received)
		return state, fault.DatabaseUnavailable(fmt.Errorf("borrow stored bytes: %w", err))
	}
	a.day = state.today
	a.received.set(state.today, state.received)
	a.slice.Store(state.granted)
	a.until.Store(min(began.Add(lives).UnixNano(), dayEnd(state.now).UnixNano()))
	a.left.Add(state.granted)
	return state, nil
}

func (s *Service) runBorrow(ctx context.Context, a *allowance, left int64, received dayBytes, quota accounts.ByteQuota,
	need, slice int64) (state counterState, err error) {
	args := borrowSQL.Args(db.Arg("account", a.accountID), db.Arg("left", left), db.Arg("holder", s.holder),
		db.Arg("left_day", a.day), db.Arg("received", received.bytes), db.Arg("received_day", received.day),
		db.Arg("stored_cap", capOf(quota.Stored)), db.Arg("day_cap", capOf(quota.Daily)), db.Arg("need", need),
		db.Arg("slice", slice),
		db.Arg("lives", livesInTable.Seconds()), db.Arg("remeasure", s.config.RemeasureAfter.Seconds()))
	for range 2 {
		found, err := db.All(ctx, s.db.Hot, func(c *counterState) []any {
			return []any{&c.granted, &c.stored, &c.day, &c.received, &c.today, &c.now}
		}, borrowSQL.Text, args...)
		if err != nil {
			return state, err
		}
		if len(found) == 1 {
			return found[0], nil
		}
		if _, err := s.db.Hot.ExecContext(ctx, createCounterSQL, a.accountID); err != nil {
			return state, err
		}
	}
	return state, fmt.Errorf("no counter of %s", a.accountID)
}

func capOf(limit *int) int64 {
	if limit == nil {
		return unlimited
	}
	return int64(*limit)
}

// dayEnd returns the end of the UTC day that contains at.
func dayEnd(at time.Time) time.Time { return at.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour) }

// refusal returns the error for the quota that is exhausted.
func (c counterState) refusal(plan string, quota accounts.ByteQuota, bytes int64) *fault.Error {
	refused := &fault.Error{Kind: fault.Limit, Code: fault.CodePlanLimit, UpgradeURL: accounts.UpgradeURL}
	if quota.Stored != nil && c.stored+bytes > int64(*quota.Stored) {
		refused.Message = fmt.Sprintf("The plan %s allows %s of stored data, which this request would exceed: "+
			"delete data, shorten the retention, or change the plan", plan, FormatBytes(int64(*quota.Stored)))
		return refused.With("cap", capStored).With("limit", *quota.Stored)
	}
	if bytes > int64(*quota.Daily) {
		refused.Message = fmt.Sprintf("The plan %s allows %s of stored data per day, and this request alone exceeds it",
			plan,
			FormatBytes(int64(*quota.Daily)))
		return refused.With("cap", capDaily).With("limit", *quota.Daily)
	}
	resets := dayEnd(c.now)
	refused.Message = fmt.Sprintf("The plan %s allows %s of stored data per day, which this request would exceed; "+
		"the next day begins at %s", plan, FormatBytes(int64(*quota.Daily)), resets.Format(time.RFC3339))
	refused.RetryAfter = resets.Sub(c.now)
	return refused.With("cap", capDaily).With("limit", *quota.Daily).With("resets_at", resets.Format(time.RFC3339))
}

// FormatBytes formats a number of bytes for display, for example 1.5 GB.
func FormatBytes(bytes int64) string {
	units := []string{"B", "kB", "MB", "GB", "TB"}
	value, unit := float64(bytes), 0
	for value >= 1000 && unit < len(units)-1 {
		value /= 1000
		unit++
	}
	return strconv.FormatFloat(float64(int64(value*10))/10, 'f', -1, 64) + " " + units[unit]
}
