package bus

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/event"
)

// A reader that continues after the last fact that it has read must never skip a fact that is committed
// later. Ids are ordered by time, but commits are not. Two rules make reading by id safe:
//
//   - A fact whose id is older than lateness when its statement runs (the clock of its process is behind,
//     or the process waited for a connection) is stored under a new id, by the server's time.
//   - A reader never sees facts newer than the Horizon: the start of the oldest open transaction that has
//     published, minus HoldBack.
//
// A transaction that publishes holds a lock on the table of facts, which any insert takes before it runs and
// keeps until the transaction ends. The horizon is therefore computed from the locks: a transaction that has
// published is among their holders, and one that has not will publish under ids that are newer than the
// horizon. Transactions that only read, count or lock other tables do not hold the feed back; one that
// deletes facts does, because it holds the same lock.
//
// A transaction that publishes and stays open holds the feed back for all readers, and nothing is ever
// skipped; idle_in_transaction_session_timeout limits for how long. All processes must use one database role,
// or they cannot see when each other's transactions began. A process corrects a clock that is ahead (package
// clock); until then this only delays its own facts.
const (
	lateness = 400 * time.Millisecond
	// HoldBack is the minimum age of facts that readers see. Beyond lateness it allows for ids, which have
	// millisecond precision, and for jitter of the server clock.
	HoldBack = lateness + 100*time.Millisecond
	// olderHoldBack replaces HoldBack while a live process runs a program without timelyFacts, which stores
	// ids that are up to a second old.
	olderHoldBack = 2 * time.Second
	// timelyFacts is the migration version of programs that renew ids after lateness.
	timelyFacts = "20261127043000"
)

// idTimeSQL returns SQL for the id under which a fact is stored.
func idTimeSQL(column string) string {
	return fmt.Sprintf(`greatest(%s COLLATE "C", (SELECT %s FROM (SELECT (extract(epoch FROM statement_timestamp()) * 1000)::bigint - %d AS ms) clock)
 || substr(%s, 15))`, column, idOfMilliseconds(), lateness.Milliseconds(), column)
}

// idOfMilliseconds returns SQL for the start of fact ids created at a time, the column ms: the prefix and
// ten characters of Crockford's base 32 (package id).
func idOfMilliseconds() string {
	var digits strings.Builder
	for shift := 45; shift >= 0; shift -= 5 {
		fmt.Fprintf(&digits, " || substr('0123456789abcdefghjkmnpqrstvwxyz', (ms >> %d & 31)::integer + 1, 1)", shift)
	}
	return fmt.Sprintf("'%s_'%s", id.Fact, digits.String())
}

// selectHorizon looks up the start of each lock's transaction individually, after the locks were read.
const selectHorizon = `
SELECT least(statement_timestamp(), min(a.xact_start)), EXISTS (SELECT FROM nodes WHERE coalesce(schema, '') < '` + timelyFacts + `' AND seen_at > now() - interval '1 minute')
FROM pg_locks l, LATERAL pg_stat_get_activity(l.pid) a
WHERE l.locktype = 'relation' AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND l.relation = to_regclass('facts') AND l.mode = 'RowExclusiveLock' AND l.pid <> pg_backend_pid()`

// Horizon returns the time before which every fact is committed, for reads that begin afterwards.
func (l *Log) Horizon(ctx context.Context) (time.Time, error) {
	var at time.Time
	var older bool
	if err := l.db.SQL.QueryRowContext(ctx, selectHorizon).Scan(&at, &older); err != nil {
		return time.Time{}, fmt.Errorf("read horizon of facts: %w", err)
	}
	if older {
		return at.Add(-olderHoldBack), nil
	}
	return at.Add(-HoldBack), nil
}

// beginMargin allows for the gap between the start time of a transaction and the moment when other sessions
// see that it has begun.
const beginMargin = time.Second

const selectOldest = `
SELECT least(statement_timestamp(), min(xact_start)) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()
  AND (backend_xid IS NOT NULL OR application_name = current_setting('application_name'))`

// SettledTime returns the time before which every transaction of the installation has ended, whether it publishes
// or not.
func (l *Log) SettledTime(ctx context.Context) (time.Time, error) {
	var at time.Time
	if err := l.db.SQL.QueryRowContext(ctx, selectOldest).Scan(&at); err != nil {
		return time.Time{}, fmt.Errorf("read the oldest transaction: %w", err)
	}
	return at.Add(-beginMargin), nil
}

const selectActive = `
SELECT a FROM unnest($3::text[]) AS a, LATERAL (SELECT FROM facts WHERE account_id = a AND id >= $1 AND id < $2 LIMIT 1) f`

// ActiveAccounts returns those of the accounts that have a fact between two horizons.
func (l *Log) ActiveAccounts(ctx context.Context, since, before time.Time, accountIDs []string) ([]string, error) {
	active, err := db.All(ctx, l.db.SQL, db.Value[string], selectActive, id.Since(id.Fact, since),
		id.Since(id.Fact, before), db.Array(accountIDs))
	if err != nil {
		return nil, fmt.Errorf("read which accounts have new facts: %w", err)
	}
	return active, nil
}

// AccountFeed selects facts of one account in the order of their ids.
type AccountFeed struct {
	AccountID string
	After     string    // the id of a fact, or of id.Since
	Before    time.Time // a horizon
	Types     []event.Type
	Limit     int
}

// FeedPage is the result of reading facts.
type FeedPage struct {
	Facts []event.Fact
	Next  string // where to continue: everything up to it was read
	More  bool   // there may be more before the horizon
}

// scannedFacts is the number of facts of the account that one read scans.
const scannedFacts = 1000

const selectStretch = `
WITH looked AS MATERIALIZED (
  SELECT id, type FROM facts WHERE account_id = $1 AND id > $2 AND id < $3 ORDER BY id LIMIT $6
), wanted AS (
  SELECT id FROM looked WHERE type = ANY($4) ORDER BY id LIMIT $5
)
SELECT seen.n, seen.last, f.id, f.account_id, f.type, f.subject_id, f.data, f.created_at
FROM (SELECT count(*) AS n, max(id) AS last FROM looked) seen
LEFT JOIN (SELECT facts.* FROM wanted JOIN facts USING (id) WHERE account_id = $1) f ON true
ORDER BY f.id`

// Read returns the next facts. If only a few of many facts have the wanted types, it may return none and
// report that there are more.
func (l *Log) Read(ctx context.Context, s AccountFeed) (FeedPage, error) {
	before := id.Since(id.Fact, s.Before)
	if s.After >= before {
		return FeedPage{Next: s.After}, nil
	}
	types := make([]string, len(s.Types))
	for i, typ := range s.Types {
		types[i] = string(typ)
	}
	out := FeedPage{Next: before}
	var seen int
	var last sql.NullString
	err := db.Each(ctx, l.db.SQL, func(row db.Row) error {
		var factID, account, typ, subject sql.NullString
		var data []byte
		var created sql.NullTime
		if err := row.Scan(&seen, &last, &factID, &account, &typ, &subject, &data, &created); err != nil {
			return err
		}
		if factID.Valid {
			out.Facts = append(out.Facts, event.Fact{ID: factID.String, AccountID: account.String,
				Type:      event.Type(typ.String),
				SubjectID: subject.String, Data: data, CreatedAt: created.Time.UTC()})
		}
		return nil
	}, selectStretch, s.AccountID, s.After, before, db.Array(types), s.Limit+1, scannedFacts)
	if err != nil {
		return FeedPage{}, fmt.Errorf("read facts: %w", err)
	}
	switch {
	case len(out.Facts) > s.Limit:
		out.Facts, out.More = out.Facts[:s.Limit], true
		out.Next = out.Facts[s.Limit-1].ID
	case seen == scannedFacts:
		out.Next, out.More = last.String, true
	}
	return out, nil
}

// Feed selects the facts of all accounts in the order of their ids.
type Feed struct {
	After  string    // the id of a fact, or of id.Since
	Before time.Time // a horizon
	Limit  int       // facts
	// approximate maximum size of their data in bytes; at least one fact is returned, whatever its size
	Octets int
}

const selectWhole = `
SELECT id, account_id, type, subject_id, data, created_at FROM facts WHERE id > $1 AND id < $2 ORDER BY id LIMIT $3`

var errFull = errors.New("a read has reached its size limit")

// ReadFeed returns the next facts of all accounts.
func (l *Log) ReadFeed(ctx context.Context, w Feed) (FeedPage, error) {
	before := id.Since(id.Fact, w.Before)
	if w.After >= before {
		return FeedPage{Next: w.After}, nil
	}
	out, held := FeedPage{Next: before}, 0
	err := db.Each(ctx, l.db.SQL, func(row db.Row) error {
		var f event.Fact
		if err := row.Scan(factColumns(&f)...); err != nil {
			return err
		}
		if held += len(f.Data); held > w.Octets && len(out.Facts) > 0 {
			return errFull
		}
		f.CreatedAt = f.CreatedAt.UTC()
		out.Facts = append(out.Facts, f)
		return nil
	}, selectWhole, w.After, before, w.Limit)
	if err != nil && !errors.Is(err, errFull) {
		return FeedPage{}, fmt.Errorf("read facts: %w", err)
	}
	if n := len(out.Facts); err != nil || n == w.Limit {
		out.More, out.Next = true, out.Facts[n-1].ID
	}
	return out, nil
}
