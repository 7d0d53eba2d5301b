package db

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"time"

	"github.com/postrider/postrider/ent/migrate/migrations"
)

// migrationLock is the advisory lock that every migrating process takes.
const migrationLock = 0x706f7374_72696472 // "postridr"

// Migrate brings the database up to this binary: each missing file in its own
// transaction, under a lock, so that any number of processes may do it at once.
// It refuses a database that is newer than the binary or whose applied files
// were changed afterwards.
func Migrate(ctx context.Context, d *DB, log *slog.Logger) error {
	return migrate(ctx, d, migrations.Files, log)
}

// Schema is the version of the newest migration of this program.
func Schema() string {
	files, err := readMigrations(migrations.Files)
	if err != nil || len(files) == 0 {
		return "" // a test of the migrations says so
	}
	return files[len(files)-1].version
}

// CheckSchema changes nothing. It refuses a database that lacks migrations of this binary, and
// whatever Migrate refuses.
func CheckSchema(ctx context.Context, d *DB) error {
	files, err := readMigrations(migrations.Files)
	if err != nil {
		return fmt.Errorf("check the schema: %w", err)
	}
	made, err := One(ctx, d.SQL, Value[bool], `SELECT to_regclass('schema_migrations') IS NOT NULL`)
	var applied []migration
	if err == nil && made {
		applied, err = appliedMigrations(ctx, d.SQL)
	}
	var pending []migration
	if err == nil {
		pending, err = pendingMigrations(files, applied)
	}
	if err == nil && len(pending) > 0 {
		err = fmt.Errorf("the database lacks %d migrations, the first is %s, and POSTRIDER_MIGRATE is off: run `postrider migrate` of this version", len(pending), pending[0].name)
	}
	if err != nil {
		return fmt.Errorf("check the schema: %w", err)
	}
	return nil
}

func migrate(ctx context.Context, d *DB, source fs.FS, log *slog.Logger) error {
	files, err := readMigrations(source)
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	// Statements of a migration may take long; nobody answers requests yet.
	config := d.config
	config.StatementTimeout, config.LockTimeout = 59*time.Minute, 30*time.Second
	handle, err := d.open(config, 2, &dialer{timeout: config.OpTimeout, idle: time.Hour})
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	conn, err := handle.Conn(ctx)
	if err == nil {
		err = errors.Join(migrateOn(ctx, conn, files, log), conn.Close())
	}
	if err = errors.Join(err, handle.Close()); err != nil { // gives back the lock
		return fmt.Errorf("migrate: %w", err)
	}
	return nil
}

func migrateOn(ctx context.Context, conn *sql.Conn, files []migration, log *slog.Logger) error {
	if err := lockMigrations(ctx, conn); err != nil {
		return err
	}
	if _, err := conn.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS schema_migrations (
		version text COLLATE "C" PRIMARY KEY, name text NOT NULL, checksum text NOT NULL,
		applied_at timestamptz NOT NULL DEFAULT now())`); err != nil {
		return fmt.Errorf("create schema_migrations: %w", err)
	}
	applied, err := appliedMigrations(ctx, conn)
	if err != nil {
		return err
	}
	pending, err := pendingMigrations(files, applied)
	if err != nil {
		return err
	}
	for _, file := range pending {
		started := time.Now()
		if err := applyMigration(ctx, conn, file); err != nil {
			return fmt.Errorf("%s: %w", file.name, err)
		}
		log.InfoContext(ctx, "migration applied", "file", file.name, "duration", time.Since(started).Round(time.Millisecond))
	}
	return nil
}

// lockMigrations polls for the lock, so that ctx can end the wait: a server
// that blocks in pg_advisory_lock would have to be interrupted.
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

// migration is one file.
type migration struct {
	version, name, checksum, sql string
}

// readMigrations gives the files in order of version.
func readMigrations(source fs.FS) ([]migration, error) {
	names, err := fs.Glob(source, "*.sql")
	if err != nil {
		return nil, err
	}
	var files []migration
	for _, name := range names { // Glob sorts
		content, err := fs.ReadFile(source, name)
		if err != nil {
			return nil, err
		}
		version, _, named := strings.Cut(name, "_")
		if !named || len(version) != len("20060102150405") {
			return nil, fmt.Errorf("%s: not named YYYYMMDDHHMMSS_name.sql", name)
		}
		sum := sha256.Sum256(content)
		files = append(files, migration{version: version, name: name, checksum: hex.EncodeToString(sum[:]), sql: string(content)})
	}
	return files, nil
}

func appliedMigrations(ctx context.Context, conn Execer) ([]migration, error) {
	applied, err := All(ctx, conn, func(m *migration) []any { return []any{&m.version, &m.name, &m.checksum} },
		`SELECT version, name, checksum FROM schema_migrations ORDER BY version`)
	if err != nil {
		return nil, fmt.Errorf("read schema_migrations: %w", err)
	}
	return applied, nil
}

// pendingMigrations compares what the binary has with what the database has.
func pendingMigrations(files, applied []migration) ([]migration, error) {
	known := map[string]migration{}
	for _, file := range files {
		if twin, twice := known[file.version]; twice {
			return nil, fmt.Errorf("%s and %s have the same version", twin.name, file.name)
		}
		known[file.version] = file
	}
	done := map[string]bool{}
	for _, m := range applied {
		file, exists := known[m.version]
		if !exists {
			return nil, fmt.Errorf("the database is newer than this program: it has %s; start a newer version", m.name)
		}
		if file.checksum != m.checksum {
			return nil, fmt.Errorf("%s was changed after it had been applied to this database; restore the file and write a new one", file.name)
		}
		done[m.version] = true
	}
	var pending []migration
	for _, file := range files {
		if !done[file.version] {
			pending = append(pending, file)
		}
	}
	return pending, nil
}

func applyMigration(ctx context.Context, conn *sql.Conn, file migration) error {
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	return run(tx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, file.sql); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO schema_migrations (version, name, checksum) VALUES ($1, $2, $3)`,
			file.version, file.name, file.checksum)
		return err
	})
}
