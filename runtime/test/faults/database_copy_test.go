package faults_test

import (
	"database/sql"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/lib/pq"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

// copyDatabase copies a database into a new one of another cluster, and returns its address. It uses pg_dump and
// psql. The PostgreSQL servers fetched through npm lack these; then every row of every table is copied.
func copyDatabase(t *testing.T, from string) string {
	t.Helper()
	dump, restore := findClient(t, "pg_dump"), findClient(t, "psql")
	if dump == "" || restore == "" {
		t.Log("pg_dump and psql are not installed: copying rows instead")
		to := dbtest.URL(t)
		copyRows(t, from, to)
		return to
	}
	to, file := dbtest.EmptyURL(t), filepath.Join(t.TempDir(), "dump.sql")
	run(t, dump, "--no-owner", "--file", file, from)
	run(t, restore, "--quiet", "--set", "ON_ERROR_STOP=1", "--file", file, to)
	return to
}

// findClient returns the path of a PostgreSQL client program, or "".
func findClient(t *testing.T, name string) string {
	t.Helper()
	if found, err := exec.LookPath(name); err == nil {
		return found
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		return ""
	}
	return found[len(found)-1]
}

func run(t *testing.T, name string, args ...string) {
	t.Helper()
	if output, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput(); err != nil {
		t.Fatalf("the command %s failed: %v: %s", name, err, output)
	}
}

func copyRows(t *testing.T, from, to string) {
	t.Helper()
	source, target := openDatabase(t, from), openDatabase(t, to)
	target.SetMaxOpenConns(1)
	execute(t, target, `SET session_replication_role = replica`) // rows are inserted in any order
	tables := queryColumn(t, source, `SELECT quote_ident(tablename) FROM pg_tables WHERE schemaname = 'public'`)
	for _, table := range tables {
		execute(t, target, `TRUNCATE `+table+` CASCADE`)
	}
	for _, table := range tables {
		rows := queryColumn(t, source, `SELECT coalesce(json_agg(r), '[]')::text FROM `+table+` r`)
		execute(t, target, `INSERT INTO `+table+` OVERRIDING SYSTEM VALUE SELECT * FROM json_populate_recordset(NULL::`+table+`, $1::json)`, rows[0])
	}
	names := queryColumn(t, source, `SELECT quote_ident(sequencename) FROM pg_sequences WHERE last_value IS NOT NULL ORDER BY 1`)
	values := queryColumn(t, source, `SELECT last_value FROM pg_sequences WHERE last_value IS NOT NULL ORDER BY quote_ident(sequencename)`)
	for i, name := range names {
		execute(t, target, `SELECT setval('`+name+`', `+values[i]+`)`)
	}
}

func openDatabase(t *testing.T, address string) *sql.DB {
	t.Helper()
	d, err := sql.Open("postgres", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() }) // the server may have stopped by then
	return d
}

func execute(t *testing.T, d *sql.DB, statement string, args ...any) {
	t.Helper()
	if _, err := d.ExecContext(t.Context(), statement, args...); err != nil {
		t.Fatalf("the statement %s failed: %v", statement, err)
	}
}

func queryColumn(t *testing.T, d *sql.DB, statement string) []string {
	t.Helper()
	var all []string
	err := d.QueryRowContext(t.Context(), `SELECT coalesce(array_agg(v), '{}')::text[] FROM (`+statement+`) AS q (v)`).Scan((*pq.StringArray)(&all))
	if err != nil {
		t.Fatalf("the query %s failed: %v", statement, err)
	}
	return all
}

// The copy that replaces a dump contains all data of the database.
func TestCopyContainsAllRows(t *testing.T) {
	expect.SkipWhenQuick(t, "make drill-short")
	t.Parallel()
	from, copied := dbtest.URL(t), dbtest.URL(t)
	execute(t, openDatabase(t, from), `UPDATE plans SET name = 'moved'`)
	copyRows(t, from, copied)
	if got := queryColumn(t, openDatabase(t, copied), `SELECT DISTINCT name FROM plans`); len(got) != 1 || got[0] != "moved" {
		t.Errorf("copied plans: %v", got)
	}
}
