// Package dbtest provides each test with its own migrated PostgreSQL database.
//
// Each test binary starts one disposable server at its first use, from a data folder that is cached between
// runs (initdb and the migrations run again only if one of them changed), and each test gets a clone of the
// migrated template. The server does not flush to disk. It ends with the test binary, however the binary
// ends, and a small shell process that outlives both removes its files. The next run removes any remaining
// files.
//
// The files are in memory (/dev/shm) if there is room: a database is nearly 900 files, and a file system on
// disk takes far longer to create and remove them than most tests take for everything else.
//
// POSTRIDER_TEST_DATABASE_URL names a server to use instead, with permission to create databases;
// POSTRIDER_POSTGRES_BIN names the binaries of the disposable server; POSTRIDER_TEST_DIR names the folder for
// the files of disposable servers, for tests that need a real disk; POSTRIDER_TEST_MONTHS, if not empty,
// makes all tests use partitioned tables.
package dbtest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lib/pq"

	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/months"
)

// splitVariable makes every test use partitioned tables.
const splitVariable = "POSTRIDER_TEST_MONTHS"

const patience = 2 * time.Minute // for setup steps on a busy machine

// New returns a new database with all migrations, which is closed and dropped when the test ends. It may be
// called many times, also by parallel tests. Its timeouts are longer than those of the product, unless a
// change shortens them.
func New(t testing.TB, changes ...func(*db.Config)) *db.DB {
	t.Helper()
	config := patientConfig(URL(t))
	for _, change := range changes {
		change(&config)
	}
	return openDatabase(t, config)
}

// patientConfig returns the configuration for tests that are not about an unresponsive database: on a busy
// machine a statement, or a pause of a process inside a transaction, may take longer than the product would
// tolerate.
func patientConfig(address string) db.Config {
	return db.Config{URL: address, OpTimeout: patience, IdleInTxTimeout: patience}
}

// Exec runs a statement and fails the test if it fails.
func Exec(t testing.TB, d *db.DB, statement string, args ...any) {
	t.Helper()
	if _, err := d.SQL.ExecContext(t.Context(), statement, args...); err != nil {
		t.Fatalf("the statement %s failed: %v", statement, err)
	}
}

// Count returns the single number that a query selects.
func Count(t testing.TB, d *db.DB, query string, args ...any) int {
	t.Helper()
	n, err := db.One(t.Context(), d.SQL, db.Value[int], query, args...)
	if err != nil {
		t.Fatalf("the query %s failed: %v", query, err)
	}
	return n
}

// URL returns the connection string of a new database with all migrations, for tests of programs that
// connect on their own.
func URL(t testing.TB) string {
	t.Helper()
	return createDatabase(t, "")
}

// EmptyURL returns the connection string of a new, empty database, for tests of the migrations.
func EmptyURL(t testing.TB) string {
	t.Helper()
	return createDatabase(t, "template0")
}

// createDatabase clones a database; without a template, the migrated one.
func createDatabase(t testing.TB, template string) string {
	t.Helper()
	admin, err := sharedServer()
	if err != nil {
		t.Fatalf("test server: %v", err)
	}
	if template == "" {
		template = admin.template
	}
	name, err := admin.cloneDatabase(template)
	if err != nil {
		t.Fatalf("clone the template database: %v", err)
	}
	t.Cleanup(func() {
		if err := admin.dropDatabase(name); err != nil {
			t.Errorf("drop the test database: %v", err)
		}
	})
	return databaseURL(admin.url, name)
}

func openDatabase(t testing.TB, config db.Config) *db.DB {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	config.Connections = 16
	d, err := db.Open(ctx, config, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatalf("open the test database: %v", err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Errorf("close the test database: %v", err)
		}
	})
	return d
}

// admin creates and drops databases on a server.
type admin struct {
	url      string // of any database of the server
	template string
	how      string // options of CREATE DATABASE
	handle   *sql.DB
}

var sharedServer = sync.OnceValues(func() (*admin, error) {
	if given := os.Getenv("POSTRIDER_TEST_DATABASE_URL"); given != "" {
		return onGivenServer(given)
	}
	server, err := startFromCache(throwAway)
	if err != nil {
		return nil, err
	}
	a, err := newAdmin(server.DatabaseURL("postgres"), templateName)
	if err != nil {
		return nil, err
	}
	return a, a.copyFiles()
})

func newAdmin(address, template string) (*admin, error) {
	handle, err := sql.Open("postgres", address)
	if err != nil {
		return nil, err
	}
	handle.SetMaxOpenConns(2) // cloning is work of the server; more concurrency is not faster
	handle.SetMaxIdleConns(2) // each new connection is a process of the server
	return &admin{url: address, template: template, handle: handle}, nil
}

func (a *admin) cloneDatabase(template string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	name := "test_" + randomName()
	_, err := a.handle.ExecContext(ctx, fmt.Sprintf("CREATE DATABASE %s TEMPLATE %s", pq.QuoteIdentifier(name),
		pq.QuoteIdentifier(template))+a.how)
	return name, err
}

// copyFiles makes the server clone databases file by file, without WAL. This requires a checkpoint, which
// costs nothing on a server that does not flush, and is expensive on others.
func (a *admin) copyFiles() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var version int
	if err := a.handle.QueryRowContext(ctx, `SELECT current_setting('server_version_num')::int`).Scan(&version); err != nil {
		return err
	}
	if version >= 150000 { // older versions have no other strategy
		a.how = " STRATEGY file_copy"
	}
	return nil
}

func (a *admin) dropDatabase(name string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, err := a.handle.ExecContext(ctx,
		fmt.Sprintf("DROP DATABASE IF EXISTS %s WITH (FORCE)", pq.QuoteIdentifier(name)))
	return err
}

// onGivenServer creates the template on a server that others may use at the same time; its name contains
// the version of the migrations.
func onGivenServer(address string) (*admin, error) {
	sum, err := migrationsSum()
	if err != nil {
		return nil, err
	}
	a, err := newAdmin(address, "postrider_template_"+sum)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, err := a.handle.Conn(ctx)
	if err != nil {
		return nil, err
	}
	return a, errors.Join(makeTemplate(ctx, conn, a), conn.Close())
}

// makeTemplate holds a lock while it checks, creates and migrates the template. The finished template is
// marked, to distinguish it from an unfinished one.
func makeTemplate(ctx context.Context, conn *sql.Conn, a *admin) error {
	if _, err := conn.ExecContext(ctx, `SELECT pg_advisory_lock(hashtext($1))`, a.template); err != nil {
		return err
	}
	var finished bool
	err := conn.QueryRowContext(ctx, `SELECT datistemplate FROM pg_database WHERE datname = $1`, a.template).Scan(&finished)
	if err == nil && finished {
		return nil
	}
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	name := pq.QuoteIdentifier(a.template)
	for _, statement := range []string{"DROP DATABASE IF EXISTS " + name, "CREATE DATABASE " + name} {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	if err := migrateTemplate(ctx, databaseURL(a.url, a.template)); err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, "ALTER DATABASE "+name+" IS_TEMPLATE true")
	return err
}

func migrateTemplate(ctx context.Context, address string) error {
	log := slog.New(slog.DiscardHandler)
	config := patientConfig(address)
	config.Connections = 4
	d, err := db.Open(ctx, config, log)
	if err != nil {
		return err
	}
	err = db.Migrate(ctx, d, log)
	if os.Getenv(splitVariable) != "" {
		for _, t := range months.Tables() {
			if err == nil {
				err = months.Move(ctx, d, t, log, func(string) {})
			}
		}
		if err == nil {
			_, err = months.Maintain(ctx, d, log)
		}
	}
	return errors.Join(err, d.Close())
}

// databaseURL returns the address of another database on the same server.
func databaseURL(address, database string) string {
	if parsed, err := url.Parse(address); err == nil && strings.HasPrefix(parsed.Scheme, "postgres") {
		parsed.Path = "/" + database
		return parsed.String()
	}
	return address + " dbname=" + database
}

func randomName() string {
	var random [8]byte
	rand.Read(random[:]) // never returns an error
	return hex.EncodeToString(random[:])
}
