package guessing

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/netip"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/cache"
	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/turnstile"
)

// How many attempts are judged in the database at a time, so that a flood leaves connections to
// others, and how many wait for that.
const (
	atOnce     = 2
	mostWait   = 64
	retryAfter = 2 * time.Second
)

// Guard counts attempts over all processes. What is over a limit is remembered here for a moment, so
// that a flood does not reach the database. Safe for concurrent use.
type Guard struct {
	db     *db.DB
	key    []byte
	gate   *turnstile.Turnstile
	locked *cache.Cache[string, time.Time] // what is counted, and until when it is locked
}

const (
	lockedSize = 20_000
	lockedTTL  = 5 * time.Second // a lock that is lifted elsewhere ends here so much later
)

// New makes a Guard. By the key the names of what is counted are hashed.
func New(d *db.DB, key []byte) *Guard {
	return &Guard{d, key, turnstile.New(atOnce, mostWait), cache.New(cache.Config[string, time.Time]{Max: lockedSize, TTL: lockedTTL})}
}

// networkOf is what an address is counted by: itself, or the /64 of an IPv6 address.
func networkOf(addr netip.Addr) string {
	addr = addr.Unmap().WithZone("")
	switch {
	case !addr.IsValid():
		return "unknown"
	case addr.Is4():
		return addr.String()
	}
	return netip.PrefixFrom(addr, 64).Masked().String()
}

// tooMany is the refusal over a limit.
func tooMany(wait time.Duration) *fault.Error {
	return &fault.Error{Kind: fault.Limit, Code: fault.CodeRateLimit, RetryAfter: max(wait, time.Second), Message: "Too many attempts; try again later, or use a passkey or a link"}
}

const lockSQL = `SELECT pg_advisory_xact_lock(hashtextextended('signin/' || $1, 0))`

const countedSQL = `
SELECT id, count, extract(epoch FROM until - now())::float8 FROM sign_in_failures WHERE id = ANY($1) AND until > now()`

const countSQL = `
INSERT INTO sign_in_failures AS f (id, count, until)
SELECT id, 1, now() + make_interval(secs => window_seconds) FROM unnest($1::text[], $2::float8[]) AS t(id, window_seconds) ORDER BY id
ON CONFLICT (id) DO UPDATE SET count = CASE WHEN f.until <= now() THEN 1 ELSE f.count + 1 END,
	until = CASE WHEN f.until <= now() THEN EXCLUDED.until ELSE f.until END`

type tally struct {
	id      string
	count   int
	seconds float64
}

// Begin counts an attempt as a failure, before anything is hashed; Succeeded takes it back. last: the
// next one for the same email will be refused. Over a limit nothing is counted. Errors: Limit; Away,
// also where too many wait.
func (g *Guard) Begin(ctx context.Context, a Attempt) (last bool, err error) {
	if err := g.Locked(a); err != nil {
		return false, err
	}
	err = g.gate.Do(ctx, func() error {
		return g.db.InTx(ctx, func(tx *ent.Tx) error {
			last, err = g.count(ctx, tx, a)
			return err
		})
	})
	if errors.Is(err, turnstile.ErrFull) {
		return false, fault.Crowded(retryAfter)
	}
	return last, fault.OrAway(err)
}

// Locked refuses an attempt that is known here to be over a limit, without asking the database. Error:
// Limit.
func (g *Guard) Locked(a Attempt) error {
	for _, b := range a.bounds {
		if until, is := g.locked.GetIfPresent(b.name); is && time.Now().Before(until) {
			return tooMany(time.Until(until))
		}
	}
	return nil
}

func (g *Guard) count(ctx context.Context, tx *ent.Tx, a Attempt) (last bool, err error) {
	// Attempts that share a name are judged one at a time, and the names are locked in one order.
	for _, name := range a.locks() {
		if _, err := tx.ExecContext(ctx, lockSQL, name); err != nil {
			return false, err
		}
	}
	found, err := db.All(ctx, tx, func(t *tally) []any { return []any{&t.id, &t.count, &t.seconds} }, countedSQL, db.Array(a.names()))
	if err != nil {
		return false, err
	}
	for _, t := range found {
		b := a.bound(t.id)
		if t.count >= b.most {
			wait := time.Duration(t.seconds * float64(time.Second))
			g.locked.Set(t.id, time.Now().Add(wait))
			return false, tooMany(wait)
		}
		last = last || b.ofOne && t.count == b.most-1
	}
	_, err = tx.ExecContext(ctx, countSQL, db.Array(a.names()), db.Array(a.windows()))
	return last, err
}

const (
	undoSQL   = `UPDATE sign_in_failures SET count = greatest(count - 1, 0) WHERE id = ANY($1)`
	forgetSQL = `WITH gone AS (DELETE FROM sign_in_failures WHERE id = $2) ` + undoSQL
)

// Undo takes an attempt back that Begin has counted and that showed nothing, right or wrong.
func (g *Guard) Undo(ctx context.Context, a Attempt) error {
	_, err := g.db.SQL.ExecContext(ctx, undoSQL, db.Array(a.names()))
	return fault.Wrap("take back an attempt", err)
}

// Succeeded takes an attempt back that Begin has counted, and forgets the failures of this email from
// this network.
func (g *Guard) Succeeded(ctx context.Context, a Attempt) error {
	names := a.names()
	_, err := g.db.SQL.ExecContext(ctx, forgetSQL, db.Array(names[1:]), names[0])
	return fault.Wrap("forget failures", err)
}

const sweepSQL = `DELETE FROM sign_in_failures WHERE id IN (SELECT id FROM sign_in_failures WHERE until < now() LIMIT 10000 FOR UPDATE SKIP LOCKED)`

// Sweep deletes counts that say nothing any more.
func (g *Guard) Sweep(ctx context.Context) (int64, error) {
	n, err := db.Exec(ctx, g.db.SQL, sweepSQL)
	return int64(n), err
}

func (g *Guard) hash(kind, of string) string {
	mac := hmac.New(sha256.New, g.key)
	mac.Write([]byte(kind + "\x00" + of))
	return kind + ":" + hex.EncodeToString(mac.Sum(nil)[:16])
}
