package guessing

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/base/cache"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/limit"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Limits of the queue for the database: concurrent attempts, so that a flood leaves connections for other
// work, and waiting attempts, in total and per network.
const (
	atOnce     = 2
	mostWait   = 256
	mostOfOne  = 32
	patience   = 5 * time.Second
	retryAfter = 2 * time.Second
)

// Guard counts attempts across all processes. It caches locked counters briefly, so that a flood does not
// reach the database. It is safe for concurrent use.
type Guard struct {
	db     *db.DB
	key    []byte
	gate   *limit.Queue
	locked *cache.Cache[string, time.Time] // the end of the lock, by counter name
}

const (
	lockedSize = 20_000
	lockedTTL  = 5 * time.Second // how long a lock may outlive its removal by another process
)

// New returns a new Guard. The key hashes the names of counters.
func New(d *db.DB, key []byte) *Guard {
	gate := limit.NewQueue(limit.Limits{Inside: atOnce, Waiting: mostWait, PerOwner: mostOfOne, Patience: patience})
	return &Guard{d, key, gate, cache.New(cache.Config[string, time.Time]{Max: lockedSize, TTL: lockedTTL})}
}

// limitError is the error for an attempt over a limit.
func limitError(wait time.Duration) *fault.Error {
	return &fault.Error{Kind: fault.Limit, Code: fault.CodeRateLimit, RetryAfter: max(wait, time.Second),
		Message: "Too many attempts. Try again later, or use a passkey or a link."}
}

// lockSQL locks sorted names, so that attempts with common counters lock them in the same order.
const lockSQL = `SELECT pg_advisory_xact_lock(hashtextextended('signin/' || name, 0)) FROM unnest($1::text[]) AS name`

const countedSQL = `
SELECT id, count, extract(epoch FROM until - now())::float8, coalesce(extract(epoch FROM next_at - now())::float8, 0) FROM sign_in_failures WHERE id = ANY($1) AND until > now()`

const countSQL = `
INSERT INTO sign_in_failures AS f (id, count, until, next_at)
SELECT id, 1, now() + make_interval(secs => window_seconds), now() + make_interval(secs => then_seconds)
  FROM unnest($1::text[], $2::float8[], $3::float8[]) AS t(id, window_seconds, then_seconds) ORDER BY id
ON CONFLICT (id) DO UPDATE SET count = CASE WHEN f.until <= now() THEN 1 ELSE f.count + 1 END,
	until = CASE WHEN f.until <= now() THEN EXCLUDED.until ELSE f.until END, next_at = EXCLUDED.next_at`

type tally struct {
	id          string
	count       int
	over, again float64 // seconds until the window ends, and until one more attempt is allowed
}

// remainingWait returns how long a bound blocks further attempts, or 0 if the next one is allowed.
func (b bound) remainingWait(t tally) time.Duration {
	switch {
	case t.count < b.most:
		return 0
	case b.then > 0:
		return seconds(max(t.again, 0))
	}
	return seconds(t.over)
}

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

// Begin counts an attempt as a failure before a password is hashed; Succeed reverts this. last reports
// whether the next attempt for the same email will be blocked. Over a limit, Begin counts nothing. Errors:
// Limit; Unavailable, including if the queue is full.
func (g *Guard) Begin(ctx context.Context, a Attempt) (last bool, err error) {
	if err := g.CheckLocked(a); err != nil {
		return false, err
	}
	err = g.gate.Do(ctx, a.owner, func() error {
		return g.db.InTx(ctx, func(tx *ent.Tx) error {
			last, err = g.Count(ctx, tx, a)
			return err
		})
	})
	if errors.Is(err, limit.ErrFull) {
		return false, fault.Overloaded(retryAfter)
	}
	return last, fault.OrUnavailable(err)
}

// CheckLocked returns an error if the cache has a lock for the attempt. It does not query the database. Error:
// Limit.
func (g *Guard) CheckLocked(a Attempt) error {
	for _, b := range a.bounds {
		if until, is := g.locked.GetIfPresent(b.name); is && time.Now().Before(until) {
			return limitError(time.Until(until))
		}
	}
	return nil
}

// Count is Begin within the caller's transaction.
func (g *Guard) Count(ctx context.Context, tx *ent.Tx, a Attempt) (last bool, err error) {
	names := a.counterNames()
	if _, err := tx.ExecContext(ctx, lockSQL, db.Array(names)); err != nil {
		return false, err
	}
	found, err := db.All(ctx, tx, func(t *tally) []any { return []any{&t.id, &t.count, &t.over, &t.again} }, countedSQL,
		db.Array(names))
	if err != nil {
		return false, err
	}
	for _, t := range found {
		b := a.findBound(t.id)
		if wait := b.remainingWait(t); wait > 0 {
			g.locked.Set(t.id, time.Now().Add(wait))
			return false, limitError(wait)
		}
		last = last || b.ofOne && t.count == b.most-1
	}
	windows, thens := a.windowSeconds(names)
	_, err = tx.ExecContext(ctx, countSQL, db.Array(names), db.Array(windows), db.Array(thens))
	return last, err
}

const (
	undoSQL   = `UPDATE sign_in_failures SET count = greatest(count - 1, 0), next_at = NULL WHERE id = ANY($1)`
	forgetSQL = `DELETE FROM sign_in_failures WHERE id = ANY($1)`
)

// Undo reverts an attempt that Begin counted but that was neither accepted nor rejected.
func (g *Guard) Undo(ctx context.Context, a Attempt) error {
	_, err := g.db.SQL.ExecContext(ctx, undoSQL, db.Array(a.counterNames()))
	return fault.Wrap("undo attempt", err)
}

// Succeed reverts an attempt that Begin counted, and clears the user's failures for this visitor.
func (g *Guard) Succeed(ctx context.Context, a Attempt) error {
	own, shared := a.splitCounters()
	_, err := g.db.SQL.ExecContext(ctx, `WITH gone AS (`+forgetSQL+`) `+strings.ReplaceAll(undoSQL, "$1", "$2"),
		db.Array(own), db.Array(shared))
	return fault.Wrap("forget failures", err)
}

// Forget clears those counters of the attempts that belong to their user alone. The user has just
// authenticated.
func (g *Guard) Forget(ctx context.Context, tx *ent.Tx, attempts ...Attempt) error {
	var names []string
	for _, a := range attempts {
		for _, b := range a.bounds {
			if b.ofOne {
				names = append(names, b.name)
			}
			g.locked.Invalidate(b.name)
		}
	}
	_, err := tx.ExecContext(ctx, forgetSQL, db.Array(names))
	return err
}

const sweepSQL = `DELETE FROM sign_in_failures WHERE id IN (SELECT id FROM sign_in_failures WHERE until < now() LIMIT 10000 FOR UPDATE SKIP LOCKED)`

// Sweep deletes expired counters.
func (g *Guard) Sweep(ctx context.Context) (int64, error) {
	n, err := db.Exec(ctx, g.db.SQL, sweepSQL)
	return int64(n), err
}

// Reset deletes all counters. It runs after the database clock stepped back, because counters do not store
// their start and would last too long.
func (g *Guard) Reset(ctx context.Context) (int64, error) {
	n, err := db.ExecAll(ctx, g.db.SQL, `DELETE FROM sign_in_failures WHERE id IN (SELECT id FROM sign_in_failures LIMIT 10000 FOR UPDATE SKIP LOCKED)`)
	return n, fault.Wrap("reset failure counters", err)
}

func (g *Guard) hash(kind, of string) string {
	mac := hmac.New(sha256.New, g.key)
	mac.Write([]byte(kind + "\x00" + of))
	return kind + ":" + hex.EncodeToString(mac.Sum(nil)[:16])
}
