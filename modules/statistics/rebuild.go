package statistics

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/postrider/postrider/modules/statistics/rollup"
	"github.com/postrider/postrider/modules/statistics/store"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
)

const rebuiltReceived = "rebuilt_statistics_received"

// rebuiltSQL creates the session tables that a rebuild counts into.
const rebuiltSQL = store.RebuiltSQL + `;
CREATE TEMPORARY TABLE ` + store.RebuiltReasons + ` (LIKE statistics_reasons INCLUDING ALL);
CREATE TEMPORARY TABLE ` + rebuiltReceived + ` (LIKE statistics_received INCLUDING ALL)`

// If facts were deleted after they were counted, the larger figure is kept.
const (
	mergeReasonsSQL = `
INSERT INTO statistics_reasons AS s SELECT * FROM ` + store.RebuiltReasons + ` WHERE account_id = $1
ON CONFLICT (` + store.ReasonKey + `) DO UPDATE SET recipients = greatest(s.recipients, excluded.recipients)`
	mergeReceivedSQL = `
INSERT INTO statistics_received AS s SELECT * FROM ` + rebuiltReceived + ` WHERE account_id = $1
ON CONFLICT (` + receivedKey + `) DO UPDATE SET ham = greatest(s.ham, excluded.ham), spam = greatest(s.spam, excluded.spam), unknown = greatest(s.unknown, excluded.unknown),
	ham_octets = greatest(s.ham_octets, excluded.ham_octets), spam_octets = greatest(s.spam_octets, excluded.spam_octets), unknown_octets = greatest(s.unknown_octets, excluded.unknown_octets)`

	firstFactSQL = `SELECT coalesce(min(id), '') FROM facts`
	// The planner's row estimate is accurate enough for progress.
	aboutFactsSQL = `SELECT coalesce(sum(reltuples) FILTER (WHERE reltuples > 0), 0)::bigint FROM pg_class WHERE oid = 'facts'::regclass OR oid IN (SELECT relid FROM pg_partition_tree('facts') WHERE isleaf)`

	rebuiltAccountsSQL = `SELECT account_id FROM ` + store.Rebuilt + ` UNION SELECT account_id FROM ` +
		store.RebuiltReasons + ` UNION SELECT account_id FROM ` + rebuiltReceived + ` ORDER BY 1`
)

// Progress is the progress of a rebuild.
type Progress struct {
	Facts, About    int64 // counted facts, and their approximate number
	Skipped         int64 // that could not be counted
	Accounts, Whole int   // compared accounts, and their number; Whole is 0 while facts are counted
}

// rebuild is a running rebuild, on its own connection.
type rebuild struct {
	conn     *sql.Conn
	batch    pace
	end      string // the facts before the mark are counted for all accounts
	progress func(Progress)
	is       Progress
}

// Rebuild recounts the stored facts up to the mark and adds missing figures. Running services continue to
// count. progress reports the progress; it may be nil.
func (s *Service) Rebuild(ctx context.Context, progress func(Progress)) (err error) {
	if _, err := s.db.SQL.ExecContext(ctx, createMarkSQL); err != nil {
		return fmt.Errorf("rebuild statistics: %w", err)
	}
	handle, err := s.db.OpenPatient()
	if err != nil {
		return fmt.Errorf("rebuild statistics: %w", err)
	}
	defer func() { err = errors.Join(err, handle.Close()) }()
	conn, err := handle.Conn(ctx)
	if err != nil {
		return fmt.Errorf("rebuild statistics: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }() // which drops its tables
	r := &rebuild{conn: conn, batch: newPace(), progress: progress}
	if progress == nil {
		r.progress = func(Progress) {}
	}
	if _, err = conn.ExecContext(ctx, rebuiltSQL); err == nil {
		if err = r.count(ctx); err == nil {
			err = r.compare(ctx)
		}
	}
	if err != nil {
		return fmt.Errorf("rebuild statistics: %w", err)
	}
	return nil
}

// count counts all facts before the mark into the session tables.
func (r *rebuild) count(ctx context.Context) (err error) {
	if r.end, err = oneOrNone(ctx, r.conn, readMarkSQL); err != nil {
		return err
	}
	if r.is.About, err = db.One(ctx, r.conn, db.Value[int64], aboutFactsSQL); err != nil {
		return err
	}
	from, err := db.One(ctx, r.conn, db.Value[string], firstFactSQL)
	if err != nil || from == "" {
		return err
	}
	for from < r.end {
		began := time.Now()
		to, err := db.One(ctx, r.conn, db.Value[string], behindSQL, from, r.end, r.batch.size)
		if err != nil {
			return err
		}
		to = cmp.Or(to, r.end)
		switch err := r.inTx(ctx, func(tx *sql.Tx) error {
			return r.add(ctx, tx, rollup.Between,
				"f.id >= $1 AND f.id < $2", from, to)
		}); {
		case err == nil:
			r.is.Facts += int64(r.batch.size)
			r.batch.took(time.Since(began))
		case ctx.Err() != nil || fault.IsDatabaseUnavailable(err):
			return err
		case r.batch.size > 1:
			r.batch.recordFailure(err)
			continue
		default:
			r.is.Skipped++
		}
		from, r.is.About = to, max(r.is.About, r.is.Facts)
		r.progress(r.is)
	}
	return nil
}

func (r *rebuild) inTx(ctx context.Context, do func(tx *sql.Tx) error) error {
	tx, err := r.conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// add counts the facts of a selection into the session tables.
func (r *rebuild) add(ctx context.Context, tx db.Execer, of rollup.Selection, condition string, args ...any) error {
	counted := rollup.New()
	if err := counted.Read(ctx, tx, of, 1, args...); err != nil {
		return err
	}
	if err := counted.ReadRuns(ctx, tx, of, 1, args...); err != nil {
		return err
	}
	if err := store.Apply(ctx, tx, store.Rebuilt, counted); err != nil {
		return err
	}
	if err := store.AddReasons(ctx, tx, store.RebuiltReasons, counted.Reasons); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, addReceivedSQL(rebuiltReceived, condition, 1), args...)
	return err
}

// compare adds missing counts, one account at a time.
func (r *rebuild) compare(ctx context.Context) error {
	if _, err := r.conn.ExecContext(ctx, "ANALYZE "+store.Rebuilt); err != nil {
		return err
	}
	accounts, err := db.All(ctx, r.conn, db.Value[string], rebuiltAccountsSQL)
	if err != nil {
		return err
	}
	r.is.Whole = len(accounts)
	for _, account := range accounts {
		counted, more := r.end, true
		for place := store.Beginning; more; {
			err := r.inTx(ctx, func(tx *sql.Tx) error {
				if more, err = r.compareSome(ctx, tx, account, &counted, &place); err != nil || more {
					return err
				}
				for _, statement := range []string{mergeReasonsSQL, mergeReceivedSQL} {
					if _, err := tx.ExecContext(ctx, statement, account); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		r.is.Accounts++
		r.progress(r.is)
	}
	return nil
}

// compareSome compares some rows of an account. The mark does not move meanwhile, and the session tables
// contain the account's figures up to it.
func (r *rebuild) compareSome(ctx context.Context, tx db.Execer, account string, counted *string,
	place *store.Cursor) (more bool, err error) {
	mark, err := holdMark(ctx, tx, account)
	if err != nil {
		return false, err
	}
	if mark > *counted {
		if err := r.add(ctx, tx, rollup.OfAccount, "f.id >= $1 AND f.id < $2 AND f.account_id = $3", *counted, mark,
			account); err != nil {
			return false, err
		}
		*counted = mark
	}
	return store.Complete(ctx, tx, account, place)
}
