// Package locks has changes of tables take their locks beside the traffic.
//
// Whoever waits for a lock makes everybody wait who comes later, so it is asked for shortly, and again after a while.
// That is less time than after which PostgreSQL has autovacuum give way (deadlock_timeout), and autovacuum may be at work
// on a large table for hours. So after a try that failed it is asked away with a lock that holds up no request.
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

// pause is between two tries, at first; ten times as long at most.
const pause = 500 * time.Millisecond

// Patiently tries until it gets its locks, or patience is over. Each time it waits for them only as long as the
// lock_timeout of the connection says. The try leaves no transaction open.
func Patiently(ctx context.Context, conn *sql.Conn, what string, patience time.Duration, log *slog.Logger, try func() error) error {
	for began, wait := time.Now(), pause; ; wait = min(2*wait, 10*pause) {
		err := try()
		var server *pq.Error
		if !errors.As(err, &server) || server.Code != "55P03" || time.Since(began) > patience { // lock_not_available
			return err
		}
		log.WarnContext(ctx, "a table is in use: whoever changes it lets others go first, and tries again", "what", what, "after", wait)
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for a lock: %w", ctx.Err())
		case <-time.After(wait):
		}
		if err := endAutovacuum(ctx, conn); err != nil { // somebody else has a lock of its kind, or a table of another's is in use
			log.WarnContext(ctx, "autovacuum, or who else keeps a table in its way, was not asked to give way", "what", what, "error", err)
		}
	}
}

const (
	waitForAutovacuum = `SELECT set_config('lock_timeout', (setting::int + 1000)::text, true) FROM pg_settings WHERE name = 'deadlock_timeout'`
	// A lock of this mode is held by VACUUM, ANALYZE and those who make indexes beside the traffic.
	vacuumedTables = `
SELECT string_agg('ONLY ' || c.oid::regclass, ', ') FROM pg_class c
WHERE c.relkind = 'r' AND pg_table_is_visible(c.oid) AND c.oid IN (SELECT relation FROM pg_locks
	WHERE mode = 'ShareUpdateExclusiveLock' AND granted AND pid <> pg_backend_pid() AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`
)

// endAutovacuum waits, beside all requests, until autovacuum has given way on the tables that it is at work on. It comes
// back at its next round. Whoever else has such a lock keeps it.
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
