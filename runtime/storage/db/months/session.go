package months

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/locks"
)

const (
	// keepersLock is the advisory lock for changing the parts of tables.
	keepersLock = 0x706f7374_6d6f6e74 // "postmont"
	// lockWait is how long the traffic of a table is blocked at most, each time a lock on it is requested.
	lockWait = 300 * time.Millisecond
	// briefLimit stops statements that unexpectedly read a table under its lock.
	briefLimit = 2 * time.Second
	// movePatience limits the attempts of Move, between which traffic continues, and keepPatience those of
	// Maintain, which runs again later.
	movePatience  = 5 * time.Minute
	keepPatience  = 10 * time.Second
	clearPatience = 30 * time.Second // after a move that failed or was stopped
	// How long Move waits for another process that changes parts.
	busyPatience = 15 * time.Second
	busyPause    = 100 * time.Millisecond
)

// errBusy is returned if another process is changing the parts of tables.
var errBusy = errors.New("another process is changing the months of tables")

// session is the connection on which parts are changed, by one process at a time.
type session struct {
	conn    *sql.Conn
	log     *slog.Logger
	maxWait time.Duration // with locks
}

// runInSession runs do in a session. It returns errBusy if another process has one.
func runInSession(ctx context.Context, d *db.DB, log *slog.Logger, maxWait time.Duration,
	do func(session) error) (err error) {
	handle, err := d.OpenPatient()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, handle.Close()) }()
	conn, err := handle.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if err := takeKeepersLock(ctx, conn, maxWait); err != nil {
		return err
	}
	defer func() { // a session that cannot be unlocked is closed, which eventually releases the lock
		_, unlockErr := conn.ExecContext(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock($1)`, int64(keepersLock))
		err = cmp.Or(err, unlockErr)
	}()
	return do(session{conn, log, maxWait})
}

// takeKeepersLock waits for another process for a while, if maxWait allows it.
func takeKeepersLock(ctx context.Context, conn *sql.Conn, maxWait time.Duration) error {
	for began := time.Now(); ; {
		ours, err := db.One(ctx, conn, db.Value[bool], `SELECT pg_try_advisory_lock($1)`, int64(keepersLock))
		if err != nil || ours {
			return err
		}
		if time.Since(began) > maxWait-keepPatience || time.Since(began) > busyPatience {
			return errBusy
		}
		select {
		case <-time.After(busyPause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// tryInTx runs statements in one transaction, which fails if it does not get a lock within lockWait. Plans
// in it must start from the few rows of a part, not from the many of other tables: the server checks
// references when a part is detached.
func (s session) tryInTx(ctx context.Context, do func(on db.Execer) error) error {
	tx, err := s.conn.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	err = runStatements(ctx, tx, fmt.Sprintf("SET LOCAL lock_timeout = %d", lockWait.Milliseconds()),
		fmt.Sprintf("SET LOCAL statement_timeout = %d", briefLimit.Milliseconds()),
		"SET LOCAL enable_seqscan = off", "SET LOCAL enable_hashjoin = off", "SET LOCAL enable_mergejoin = off")
	if err == nil {
		err = do(tx)
	}
	if err != nil {
		if undo := tx.Rollback(); undo != nil && !errors.Is(undo, sql.ErrTxDone) {
			err = errors.Join(err, undo)
		}
		return err
	}
	return tx.Commit()
}

// retryInTx retries briefly until it gets its locks, and returns how long the successful attempt took.
func (s session) retryInTx(ctx context.Context, what string,
	do func(on db.Execer) error) (took time.Duration, err error) {
	err = locks.WithRetry(ctx, s.conn, what, s.maxWait, s.log, func() error {
		began := time.Now()
		err := s.tryInTx(ctx, do)
		took = time.Since(began)
		return err
	})
	return took, err
}

// runConcurrently runs a statement that blocks no request, and so may wait for its lock.
func (s session) runConcurrently(ctx context.Context, statement string) (err error) {
	if err := runStatements(ctx, s.conn, "SET lock_timeout = 0"); err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, runStatements(context.WithoutCancel(ctx), s.conn, "RESET lock_timeout"))
	}()
	return runStatements(ctx, s.conn, statement)
}

const hasRowsSQL = `SELECT EXISTS (SELECT FROM %s)`

func hasRows(ctx context.Context, on db.Execer, table string) (bool, error) {
	return db.One(ctx, on, db.Value[bool], fmt.Sprintf(hasRowsSQL, quoteIdentifier(table)))
}

// runStatements runs statements in order.
func runStatements(ctx context.Context, on db.Execer, statements ...string) error {
	for _, statement := range statements {
		if _, err := on.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}
