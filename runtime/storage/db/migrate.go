package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"time"

	"github.com/lib/pq"

	"github.com/postrider/postrider/ent/migrate/migrations"
	"github.com/postrider/postrider/runtime/storage/db/locks"
)

// migrationLock is the advisory lock that every migrating process takes.
const migrationLock = 0x706f7374_72696472 // "postridr"

// lockPatience is how long a migration keeps trying to lock a table.
const lockPatience = 5 * time.Minute

// Migrate migrates the database to the version of this binary: each missing file in its own transaction,
// under a lock, so that any number of processes may call it concurrently. It rejects a database that is too
// new for this binary, or whose applied files were changed afterwards.
func Migrate(ctx context.Context, d *DB, log *slog.Logger) error {
	return migrateFiles(ctx, d, migrations.Files, log)
}

// Schema returns the version of the newest migration of this program.
func Schema() string {
	files, err := readMigrations(migrations.Files)
	if err != nil || len(files) == 0 {
		return "" // reported by a test of the migrations
	}
	return files[len(files)-1].version
}

// VersionOf returns the version of a migration of this program, given its file name without time and
// extension.
func (*DB) VersionOf(name string) string {
	files, err := readMigrations(migrations.Files)
	if err != nil {
		return "" // reported by a test of the migrations
	}
	for _, file := range files {
		if file.name == file.version+"_"+name+".sql" {
			return file.version
		}
	}
	return ""
}

// PlannedMigration is a migration that is missing in the database.
type PlannedMigration struct {
	Name  string
	Kind  string // expand, contract, or empty if unmarked
	Alone bool   // it runs outside a transaction
}

// Plan returns the steps that Migrate would take, and changes nothing. It fails if Migrate would.
func Plan(ctx context.Context, d *DB) (planned []PlannedMigration, err error) {
	pending, err := compareSchema(ctx, d)
	if err != nil {
		return nil, fmt.Errorf("plan migrations: %w", err)
	}
	for _, m := range pending {
		planned = append(planned, PlannedMigration{m.name, m.kind, m.alone})
	}
	return planned, nil
}

// CheckSchema returns an error if the database lacks migrations of this binary, or if Migrate would fail. It
// changes nothing.
func CheckSchema(ctx context.Context, d *DB) error {
	pending, err := compareSchema(ctx, d)
	if err == nil && len(pending) > 0 {
		err = fmt.Errorf("the database lacks %d migrations, the first is %s, and POSTRIDER_MIGRATE is off: run `postrider migrate` of this version", len(pending), pending[0].name)
	}
	if err != nil {
		return fmt.Errorf("check the schema: %w", err)
	}
	return nil
}

// HasTables reports whether the database contains our schema, in any version.
func (d *DB) HasTables(ctx context.Context) (bool, error) {
	return One(ctx, d.SQL, Value[bool], `SELECT to_regclass('schema_migrations') IS NOT NULL`)
}

// compareSchema returns the migrations that the database lacks.
func compareSchema(ctx context.Context, d *DB) ([]migration, error) {
	files, err := readMigrations(migrations.Files)
	if err != nil {
		return nil, err
	}
	made, err := d.HasTables(ctx)
	var applied []migration
	if err == nil && made {
		applied, err = appliedMigrations(ctx, d.SQL)
	}
	if err != nil {
		return nil, err
	}
	pending, _, err := pendingMigrations(files, applied)
	return pending, err
}

func migrateFiles(ctx context.Context, d *DB, source fs.FS, log *slog.Logger) error {
	files, err := readMigrations(source)
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	handle, err := d.OpenPatient()
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	conn, err := handle.Conn(ctx)
	if err == nil {
		err = errors.Join(migrateOn(ctx, conn, files, log), conn.Close())
	}
	if err = errors.Join(err, handle.Close()); err != nil { // releases the lock
		return fmt.Errorf("migrate: %w", err)
	}
	return nil
}

// OpenPatient opens a pool for statements that change tables. They may run for long, but must not wait for
// locks for long: later requests for the same table queue after them and must not exceed their own limit.
func (d *DB) OpenPatient() (*sql.DB, error) {
	config := d.config
	config.StatementTimeout, config.LockTimeout = 59*time.Minute, config.LockTimeout/2
	return d.openPool(config, 2, &dialer{timeout: config.OpTimeout, idle: time.Hour})
}

func migrateOn(ctx context.Context, conn *sql.Conn, files []migration, log *slog.Logger) error {
	if err := lockMigrations(ctx, conn); err != nil {
		return err
	}
	if err := locks.WithRetry(ctx, conn, "schema_migrations", lockPatience, log,
		func() error { return makeTable(ctx, conn) }); err != nil {
		return fmt.Errorf("create schema_migrations: %w", err)
	}
	applied, err := appliedMigrations(ctx, conn)
	if err != nil {
		return err
	}
	pending, newer, err := pendingMigrations(files, applied)
	if err != nil {
		return err
	}
	if len(newer) > 0 {
		log.InfoContext(ctx, "the database is newer than this program, but supports programs of this version",
			"migration",
			newer[len(newer)-1].name)
	}
	for _, file := range pending {
		started := time.Now()
		if err := applyMigration(ctx, conn, file, log); err != nil {
			return fmt.Errorf("%s: %w", file.name, err)
		}
		log.InfoContext(ctx, "migration applied", "file", file.name, "duration", time.Since(started).
			Round(time.Millisecond))
	}
	return nil
}

// makeTable creates the table of applied migrations. The column oldest was added later: it is null for
// files applied by older programs, which corresponds to unmarked files.
func makeTable(ctx context.Context, conn *sql.Conn) error {
	if _, err := conn.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS schema_migrations (
		version text COLLATE "C" PRIMARY KEY, name text NOT NULL, checksum text NOT NULL,
		applied_at timestamptz NOT NULL DEFAULT now(), oldest text COLLATE "C")`); err != nil {
		return err
	}
	whole, err := One(ctx, conn, Value[bool], `SELECT EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'schema_migrations'::regclass AND attname = 'oldest')`)
	if err == nil && !whole {
		_, err = conn.ExecContext(ctx, `ALTER TABLE schema_migrations ADD COLUMN IF NOT EXISTS oldest text COLLATE "C"`)
	}
	return err
}

// lockMigrations polls for the lock, so that ctx can end the wait: a server that blocks in pg_advisory_lock
// would have to be interrupted.
func lockMigrations(ctx context.Context, conn *sql.Conn) error {
	for {
		var locked bool
		if err := conn.QueryRowContext(ctx, `SELECT pg_try_advisory_lock($1)`, int64(migrationLock)).Scan(&locked); err != nil {
			return fmt.Errorf("take the migration lock: %w", err)
		}
		if locked {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for another process that migrates: %w", ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// applyMigration applies one file as its marks require.
func applyMigration(ctx context.Context, conn *sql.Conn, file migration, log *slog.Logger) error {
	apply := applyInTx
	if file.alone {
		apply = applyAlone
	}
	return locks.WithRetry(ctx, conn, file.name, lockPatience, log, func() error { return apply(ctx, conn, file) })
}

func applyInTx(ctx context.Context, conn *sql.Conn, file migration) error {
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	return runInTx(tx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, file.sql); err != nil {
			return err
		}
		return noteApplied(ctx, tx, file)
	})
}

// applyAlone executes a statement that cannot be in a transaction, such as CREATE INDEX CONCURRENTLY. It
// blocks neither readers nor writers, so it may wait. Incomplete results of an earlier attempt are created
// again.
func applyAlone(ctx context.Context, conn *sql.Conn, file migration) (err error) {
	if _, err := conn.ExecContext(ctx, `SET lock_timeout = 0`); err != nil {
		return err
	}
	defer func() {
		_, undo := conn.ExecContext(ctx, `RESET lock_timeout`)
		err = errors.Join(err, undo)
	}()
	statements := []string{file.sql}
	if index := concurrently.FindStringSubmatch(file.sql); index != nil {
		if statements, err = indexStatements(ctx, conn, file.sql, index[2], index[3]); err != nil {
			return fmt.Errorf("index %s: %w", index[2], err)
		}
	}
	for _, statement := range statements {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return noteApplied(ctx, conn, file)
}

func noteApplied(ctx context.Context, on Execer, file migration) error {
	_, err := on.ExecContext(ctx,
		`INSERT INTO schema_migrations (version, name, checksum, oldest) VALUES ($1, $2, $3, $4)`, file.version, file.name, file.checksum, file.oldest)
	return err
}

// RequireSQL returns the statement of Require.
func RequireSQL(name string) string {
	return `UPDATE schema_migrations SET oldest = version WHERE substr(name, 16) = ` + pq.QuoteLiteral(name+".sql")
}

// Require makes the database reject programs that lack a migration, from the commit on, although the
// migration is only an expansion: data is about to be stored that they would misread. name is the file name
// without time and extension. Programs that are already running are not stopped.
func (*DB) Require(ctx context.Context, on Execer, name string) error {
	n, err := Exec(ctx, on, RequireSQL(name))
	if err == nil && n != 1 {
		err = fmt.Errorf("%d migrations have this name", n)
	}
	if err != nil {
		return fmt.Errorf("require the migration %s of programs: %w", name, err)
	}
	return nil
}
