package locks_test

import (
	"context"
	"crypto/rand"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/storage/db/locks"
)

// alter changes a table, with retries for maxWait. It waits for its lock for less time than PostgreSQL lets
// autovacuum keep it.
func alter(t *testing.T, d *db.DB, table string, maxWait time.Duration) error {
	t.Helper()
	conn, err := d.SQL.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(t.Context(), `SET lock_timeout = '300ms'`); err != nil {
		t.Fatal(err)
	}
	return locks.WithRetry(t.Context(), conn, table, maxWait, slog.New(slog.DiscardHandler), func() error {
		_, err := conn.ExecContext(t.Context(), `ALTER TABLE `+table+` ADD COLUMN more int`)
		return err
	})
}

// Autovacuum may process a large table for hours. The table can still be changed.
func TestAutovacuumIsInterrupted(t *testing.T) {
	t.Parallel()
	d := dbtest.NewServer(t).OpenPatiently()
	for _, statement := range []string{
		`CREATE TABLE large AS SELECT n FROM generate_series(1, 100000) n`,
		`DELETE FROM large WHERE n % 10 = 0`,
		`ALTER TABLE large SET (autovacuum_vacuum_threshold = 1, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_cost_limit = 1, autovacuum_vacuum_cost_delay = 100)`,
		`ALTER SYSTEM SET autovacuum_naptime = '1s'`,
		`SELECT pg_reload_conf()`,
	} {
		dbtest.Exec(t, d, statement)
	}
	atWork := func() bool {
		is, err := db.One(t.Context(), d.SQL, db.Value[bool], `SELECT EXISTS (SELECT FROM pg_stat_progress_vacuum WHERE relid = 'large'::regclass)`)
		if err != nil {
			t.Fatal(err)
		}
		return is
	}
	expect.Eventually(t, "autovacuum is running", atWork)
	if err := alter(t, d, "large", expect.Patience); err != nil {
		t.Errorf("a table that autovacuum is processing returned %v, want it changed", err)
	}
}

// Other sessions keep their locks, and alter waits for them until maxWait has passed.
func TestOtherSessionsKeepTheirLocks(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	dbtest.Exec(t, d, `CREATE TABLE used (n int)`)
	for _, mode := range []string{"SHARE UPDATE EXCLUSIVE", "ROW EXCLUSIVE"} {
		tx, err := d.SQL.BeginTx(context.WithoutCancel(t.Context()), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.ExecContext(t.Context(), `LOCK TABLE used IN `+mode+` MODE`); err != nil {
			t.Fatal(err)
		}
		if err := alter(t, d, "used", 400*time.Millisecond); err == nil || !strings.Contains(err.Error(), "55P03") {
			t.Errorf("a table locked IN %s MODE returned %v, want the lock timeout", mode, err)
		}
		if err := tx.Commit(); err != nil {
			t.Errorf("the holder IN %s MODE returned %v", mode, err)
		}
	}
	if err := alter(t, d, "used", expect.Patience); err != nil {
		t.Errorf("an unlocked table returned %v", err)
	}
}

// Autovacuum is processing a table that our role may not lock. The retries continue.
func TestRetriesWithoutPermissionToLock(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	role := "locks_" + strings.ToLower(rand.Text())
	dbtest.Exec(t, d, `CREATE ROLE `+role)
	t.Cleanup(func() {
		for _, statement := range []string{`DROP OWNED BY ` + role, `DROP ROLE ` + role} {
			if _, err := d.SQL.ExecContext(context.Background(), statement); err != nil {
				t.Error(err)
			}
		}
	})
	for _, statement := range []string{`CREATE TABLE ours (n int)`, `CREATE TABLE theirs (n int)`,
		`ALTER TABLE ours OWNER TO ` + role} {
		dbtest.Exec(t, d, statement)
	}
	held, err := d.SQL.BeginTx(context.WithoutCancel(t.Context()), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{`LOCK TABLE ours IN ROW EXCLUSIVE MODE`, `LOCK TABLE theirs IN SHARE UPDATE EXCLUSIVE MODE`} {
		if _, err := held.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	conn, err := d.SQL.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, statement := range []string{`SET lock_timeout = '300ms'`, `SET ROLE ` + role} {
		if _, err := conn.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	var log expect.Log
	tries := 0
	err = locks.WithRetry(t.Context(), conn, "ours", expect.Patience, slog.New(slog.NewTextHandler(&log, nil)),
		func() error {
			if tries++; tries == 2 {
				if err := held.Commit(); err != nil {
					t.Error(err)
				}
			}
			_, err := conn.ExecContext(t.Context(), `ALTER TABLE ours ADD COLUMN more int`)
			return err
		})
	if err != nil || tries < 2 || !strings.Contains(log.String(), "permission denied for table theirs") {
		t.Errorf("after %d attempts, got %v, want the table changed once it was free; the log is\n%s", tries, err,
			log.String())
	}
	if _, err := conn.ExecContext(t.Context(), `RESET ROLE`); err != nil {
		t.Error(err)
	}
}
