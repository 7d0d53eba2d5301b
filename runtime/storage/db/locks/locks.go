// Package locks lets changes of tables take their locks without blocking traffic.
//
// A session that waits for a lock blocks every later one, so the wait is short and repeated after a pause. It
// is too short for PostgreSQL to cancel autovacuum (deadlock_timeout), and autovacuum may process a large
// table for hours. After a failed attempt, autovacuum is therefore interrupted by requesting a lock mode that
// conflicts with it but blocks no request.
package locks

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/lib/pq"
)

// pause is the initial pause between two attempts; the maximum is ten times as long.
const pause = 500 * time.Millisecond

// WithRetry retries until it gets its locks, or until maxWait has passed. Each attempt waits for them only as long
// as the lock_timeout of the connection. try must leave no transaction open.
func WithRetry(ctx context.Context, conn *sql.Conn, what string, maxWait time.Duration, log *slog.Logger,
	try func() error) error {
	for began, wait := time.Now(), pause; ; wait = min(2*wait, 10*pause) {
		err := try()
		var server *pq.Error
		if !errors.As(err, &server) || server.Code != "55P03" || time.Since(began) > maxWait { // lock_not_available
			return err
		}
		log.WarnContext(ctx, "a table is in use, retrying the change", "what", what,
			"after", wait)
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for a lock: %w", ctx.Err())
		case <-time.After(wait):
		}
		// another session has such a lock, or the table of another role is in use
		if err := endAutovacuum(ctx, conn); err != nil {
			log.WarnContext(ctx, "cannot interrupt autovacuum or another session that blocks a table", "what", what,
				"error", err)
		}
	}
}

const (
	waitForAutovacuum = `SELECT set_config('lock_timeout', (setting::int + 1000)::text, true) FROM pg_settings WHERE name = 'deadlock_timeout'`
	// VACUUM, ANALYZE and CREATE INDEX CONCURRENTLY hold a lock of this mode.
	vacuumedTables = `
SELECT string_agg('ONLY ' || c.oid::regclass, ', ') FROM pg_class c
WHERE c.relkind = 'r' AND pg_table_is_visible(c.oid) AND c.oid IN (SELECT relation FROM pg_locks
	WHERE mode = 'ShareUpdateExclusiveLock' AND granted AND pid <> pg_backend_pid() AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`
)

// endAutovacuum waits, without blocking requests, until autovacuum has released the tables that it processes.
// Autovacuum returns to them in its next round. Other holders of such locks keep them.
func endAutovacuum(ctx context.Context, conn *sql.Conn) error {
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // nothing was written
	var tables sql.NullString
	if err := tx.QueryRowContext(ctx, vacuumedTables).Scan(&tables); err != nil || !tables.Valid {
		return err
	}
	if _, err := tx.ExecContext(ctx, waitForAutovacuum); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "LOCK TABLE "+tables.String+" IN SHARE UPDATE EXCLUSIVE MODE")
	return err
}
