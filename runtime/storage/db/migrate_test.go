package db_test

import (
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

func TestMigrateTogether(t *testing.T) {
	t.Parallel()
	address := dbtest.EmptyURL(t)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			d, err := db.Open(t.Context(), db.Config{URL: address, Connections: 4, OpTimeout: expect.Patience}, discard)
			if err != nil {
				t.Error(err)
				return
			}
			if err := db.Migrate(t.Context(), d, discard); err != nil {
				t.Error(err)
			}
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	d := openURL(t, db.Config{URL: address, OpTimeout: expect.Patience})
	if n := countPlans(t, d); n != 5 {
		t.Errorf("got %d plans, want each of the 5 seeded once", n)
	}
	if _, err := d.Ent.Email.Query().Count(t.Context()); err != nil {
		t.Error(err)
	}
}

func files(pairs ...string) fstest.MapFS {
	result := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		result[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return result
}

func TestMigrateRunsInOrder(t *testing.T) {
	t.Parallel()
	d := openURL(t, db.Config{URL: dbtest.EmptyURL(t), OpTimeout: expect.Patience})
	run := func(pairs ...string) error { return db.MigrateFrom(t.Context(), d, files(pairs...), discard) }
	const one, two, three = "20260101000000_one.sql", "20260102000000_two.sql", "20260103000000_three.sql"
	const makeOne, makeTwo = "CREATE TABLE steps (id int)", "INSERT INTO steps VALUES (1); INSERT INTO steps VALUES (2)"
	if err := run(two, makeTwo, one, makeOne); err != nil {
		t.Fatal(err)
	}
	if err := run(two, makeTwo, one, makeOne); err != nil {
		t.Errorf("the second run returned %v", err)
	}
	for name, test := range map[string]struct {
		files []string
		want  string
	}{
		"an older program": {[]string{one, makeOne}, "the database is newer than this program: it has " + two},
		"a changed file":   {[]string{one, makeOne + " ", two, makeTwo}, one + " was changed after"},
		"a version twice":  {[]string{one, makeOne, two, makeTwo, "20260102000000_copy.sql", ""}, "the same version"},
		"a bad name":       {[]string{"first.sql", ""}, "not named"},
		"a failing file":   {[]string{one, makeOne, two, makeTwo, three, "INSERT INTO steps VALUES (3); SELECT no_such()"}, three},
	} {
		if err := run(test.files...); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s returned %v, want it to contain %q", name, err, test.want)
		}
	}
	if err := run(one, makeOne, two, makeTwo, three, "INSERT INTO steps VALUES (4)"); err != nil {
		t.Errorf("after the failures, got %v", err)
	}
	rows, err := d.SQL.QueryContext(t.Context(), `SELECT id FROM steps ORDER BY id`)
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	for rows.Next() {
		var id int
		if err := rows.Scan(&id); err != nil {
			t.Fatal(err)
		}
		got = append(got, id)
	}
	if diff := cmp.Diff([]int{1, 2, 4}, got); diff != "" || rows.Err() != nil {
		t.Errorf("the steps differ (-want +got), %v:\n%s", rows.Err(), diff)
	}
}

func TestIdsSortByBytes(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	rows, err := d.SQL.QueryContext(t.Context(), `SELECT table_name || '.' || column_name FROM information_schema.columns
		WHERE table_schema = 'public' AND column_name IN ('id', 'account_id', 'email_id', 'domain_id', 'subject_id', 'api_key_id')
		AND data_type LIKE 'character%' AND collation_name IS DISTINCT FROM 'C' AND table_name <> 'plans'`)
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var column string
		if err := rows.Scan(&column); err != nil {
			t.Fatal(err)
		}
		t.Errorf("the column %s is not COLLATE \"C\"", column)
	}
	if err := rows.Err(); err != nil {
		t.Error(err)
	}
}

// A promoted standby cannot read the unlogged sequences of PostgreSQL 15, so tables with serial ids could not
// store any more rows.
func TestSequencesAreLogged(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	unlogged, err := db.All(t.Context(), d.SQL, db.Value[string], `SELECT relname FROM pg_class WHERE relkind = 'S' AND relpersistence = 'u'`)
	if err != nil || len(unlogged) > 0 {
		t.Errorf("got the unlogged sequences %v, %v", unlogged, err)
	}
}

// CheckSchema changes nothing: it rejects a database without our tables, and accepts a migrated one.
func TestCheckSchemaRequiresMigrations(t *testing.T) {
	t.Parallel()
	d, err := db.Open(t.Context(), db.Config{URL: dbtest.EmptyURL(t), Connections: 4, OpTimeout: expect.Patience},
		discard)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	if planned, err := db.Plan(t.Context(), d); err != nil || len(planned) == 0 ||
		planned[len(planned)-1].Name[:14] != db.Schema() {
		t.Errorf("an empty database has %d migrations planned (%v), want all up to %s", len(planned), err, db.Schema())
	}
	if err := db.CheckSchema(t.Context(), d); err == nil || !strings.Contains(err.Error(), "postrider migrate") {
		t.Errorf("an empty database returned %v, want a hint to postrider migrate", err)
	}
	if err := db.Migrate(t.Context(), d, discard); err != nil {
		t.Fatal(err)
	}
	if err := db.CheckSchema(t.Context(), d); err != nil {
		t.Errorf("a migrated database returned %v, want nil", err)
	}
	if planned, err := db.Plan(t.Context(), d); err != nil || len(planned) > 0 {
		t.Errorf("a migrated database has the plan %v (%v), want none", planned, err)
	}
	if _, err := d.SQL.ExecContext(t.Context(), `DELETE FROM schema_migrations WHERE version = $1`, db.Schema()); err != nil {
		t.Fatal(err)
	}
	if err := db.CheckSchema(t.Context(), d); err == nil || !strings.Contains(err.Error(), "lacks 1 migrations") {
		t.Errorf("a database without the newest migration returned %v, want an error with its name", err)
	}
}

// The newer migrations determine whether an older program may use a database.
func TestOlderProgramStartsIfDatabaseAllows(t *testing.T) {
	t.Parallel()
	const one, two, three, four = "20260101000000_one.sql", "20260102000000_two.sql", "20260103000000_three.sql",
		"20260104000000_four.sql"
	all := []string{one, "CREATE TABLE steps (id int)", two, "-- expand\nALTER TABLE steps ADD COLUMN a int",
		three, "-- Drops an unused column.\n-- contract 20260102000000\nALTER TABLE steps DROP COLUMN id",
		four, "-- expand\nALTER TABLE steps ADD COLUMN b int"}
	for _, c := range []struct {
		applied, has int // of the files
		want         string
	}{
		{1, 1, ""}, {2, 1, ""}, {3, 2, ""}, {4, 3, ""}, {4, 2, ""}, {2, 2, ""},
		{1, 0, "it has " + one + ", which a program without the migration 20260101000000 cannot work with"},
		{3, 1, "it has " + three + ", which a program without the migration 20260102000000 cannot work with"},
		{4, 1, "it has " + three},
	} {
		d := openURL(t, db.Config{URL: dbtest.EmptyURL(t), OpTimeout: expect.Patience})
		if err := db.MigrateFrom(t.Context(), d, files(all[:2*c.applied]...), discard); err != nil {
			t.Fatal(err)
		}
		err := db.MigrateFrom(t.Context(), d, files(all[:2*c.has]...), discard)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("a program with %d of %d migrations got %v, want %q", c.has, c.applied, err, c.want)
		}
	}
}

// An expanding migration can be required once data is stored that programs without it would misread.
func TestExpandingMigrationCanBeRequired(t *testing.T) {
	t.Parallel()
	const one, two = "20260101000000_one.sql", "20260102000000_some_bodies.sql"
	all := []string{one, "CREATE TABLE steps (id int)", two, "-- expand\nALTER TABLE steps ADD COLUMN a int"}
	d := openURL(t, db.Config{URL: dbtest.EmptyURL(t), OpTimeout: expect.Patience})
	if err := db.MigrateFrom(t.Context(), d, files(all...), discard); err != nil {
		t.Fatal(err)
	}
	if err := db.MigrateFrom(t.Context(), d, files(all[:2]...), discard); err != nil {
		t.Errorf("before it is required, a program without it got %v, want nil", err)
	}
	for range 2 {
		if err := d.Require(t.Context(), d.SQL, "some_bodies"); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.MigrateFrom(t.Context(), d, files(all[:2]...), discard); err == nil ||
		!strings.Contains(err.Error(), "it has "+two+
			", which a program without the migration 20260102000000 cannot work with") {
		t.Errorf("a program without a required migration got %v, want an error", err)
	}
	if err := db.MigrateFrom(t.Context(), d, files(all...), discard); err != nil {
		t.Errorf("a program with it got %v, want nil", err)
	}
	if err := d.Require(t.Context(), d.SQL, "bodies"); err == nil {
		t.Error("an unknown migration can be required")
	}
}

// A database from before the marks existed supports them, and otherwise behaves as before.
func TestMarksAreAddedToOlderDatabase(t *testing.T) {
	t.Parallel()
	const one, two = "20260101000000_one.sql", "20260102000000_two.sql"
	d := openURL(t, db.Config{URL: dbtest.EmptyURL(t), OpTimeout: expect.Patience})
	if err := db.MigrateFrom(t.Context(), d, files(one, "SELECT 1"), discard); err != nil {
		t.Fatal(err)
	}
	if _, err := d.SQL.ExecContext(t.Context(), `ALTER TABLE schema_migrations DROP COLUMN oldest`); err != nil {
		t.Fatal(err)
	}
	if err := db.MigrateFrom(t.Context(), d, files(), discard); err == nil ||
		!strings.Contains(err.Error(), "newer than this program") {
		t.Errorf("a program without the only migration got %v, want an error", err)
	}
	if err := db.MigrateFrom(t.Context(), d, files(one, "SELECT 1", two, "-- expand"), discard); err != nil {
		t.Fatal(err)
	}
	if err := db.MigrateFrom(t.Context(), d, files(one, "SELECT 1"), discard); err != nil {
		t.Errorf("a program without an expanding migration got %v", err)
	}
}

// A migration that waits for a table does not block users of the table.
func TestWaitingMigrationDoesNotBlockReaders(t *testing.T) {
	t.Parallel()
	address := dbtest.EmptyURL(t)
	d, users, log := openURL(t, db.Config{URL: address}), openURL(t,
		db.Config{URL: address, OpTimeout: expect.Patience}), make(written, 100)
	const one, two = "20260101000000_one.sql", "20260102000000_two.sql"
	if err := db.MigrateFrom(t.Context(), d, files(one, "CREATE TABLE steps (id int)"), discard); err != nil {
		t.Fatal(err)
	}
	busy, err := users.SQL.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := busy.ExecContext(t.Context(), `INSERT INTO steps VALUES (1)`); err != nil {
		t.Fatal(err)
	}
	migrated := make(chan error, 1)
	go func() {
		migrated <- db.MigrateFrom(t.Context(), d,
			files(one, "CREATE TABLE steps (id int)", two, "ALTER TABLE steps ADD COLUMN a int"),
			slog.New(slog.NewTextHandler(log, nil)))
	}()
	var longest time.Duration
	for tries := 0; tries < 2; {
		began := time.Now()
		if _, err := busy.ExecContext(t.Context(), `SELECT 1`); err != nil { // so that it is not idle
			t.Fatal(err)
		}
		if _, err := users.Hot.ExecContext(t.Context(), `SELECT count(*) FROM steps`); err != nil {
			t.Errorf("a reader during a waiting migration got %v", err)
		}
		longest = max(longest, time.Since(began))
		select {
		case line := <-log:
			if strings.Contains(line, "a table is in use") {
				tries++
			}
		case err := <-migrated:
			t.Fatalf("the migration during a transaction that uses the table returned %v", err)
		default:
		}
	}
	if longest > 30*time.Second { // if the migration waited without a limit, so would the reader
		t.Errorf("a reader waited %s, want no longer than the second for which a migration waits for its lock", longest)
	}
	if err := busy.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := <-migrated; err != nil {
		t.Errorf("once the table was free, the migration returned %v", err)
	}
}

// Creating an index concurrently may stop halfway; it is then created again.
func TestMigrationWithoutTransaction(t *testing.T) {
	t.Parallel()
	d := openURL(t, db.Config{URL: dbtest.EmptyURL(t), OpTimeout: expect.Patience})
	const one, two = "20260101000000_one.sql", "20260102000000_two.sql"
	both := files(one, "CREATE TABLE steps (id int); INSERT INTO steps VALUES (1), (1)",
		two,
		"-- expand\n-- no transaction\nCREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS \"steps_id\" ON steps (id);\n")
	if err := db.MigrateFrom(t.Context(), d, both, discard); err == nil || !strings.Contains(err.Error(), two) {
		t.Fatalf("an index over duplicate rows returned %v, want the error of %s", err, two)
	}
	if _, err := d.SQL.ExecContext(t.Context(), `DELETE FROM steps WHERE ctid = (SELECT min(ctid) FROM steps)`); err != nil {
		t.Fatal(err)
	}
	if err := db.MigrateFrom(t.Context(), d, both, discard); err != nil {
		t.Fatal(err)
	}
	valid, err := db.One(t.Context(), d.SQL, db.Value[bool], `SELECT indisvalid FROM pg_index WHERE indexrelid = 'steps_id'::regclass`)
	if err != nil || !valid {
		t.Errorf("the index is valid: %t (%v), want it created again", valid, err)
	}
	if err := db.MigrateFrom(t.Context(), d, files(one, "CREATE TABLE steps (id int); INSERT INTO steps VALUES (1), (1)"), discard); err != nil {
		t.Errorf("a program without the index got %v", err)
	}
}

// PostgreSQL cannot create an index of a partitioned table concurrently, so each partition gets one, and they
// are attached. An interrupted migration continues.
func TestIndexOfPartitionedTable(t *testing.T) {
	t.Parallel()
	d := openURL(t, db.Config{URL: dbtest.EmptyURL(t), OpTimeout: expect.Patience})
	both := files("20260101000000_one.sql", `CREATE TABLE steps (id text COLLATE "C" PRIMARY KEY, n int) PARTITION BY RANGE (id);
		CREATE TABLE steps_2026_01 PARTITION OF steps FOR VALUES FROM (MINVALUE) TO ('m'); CREATE TABLE steps_rest PARTITION OF steps FOR VALUES FROM ('m') TO (MAXVALUE);
		INSERT INTO steps VALUES ('a', 1), ('z', 0)`,
		"20260102000000_two.sql",
		"-- expand\n-- no transaction\nCREATE INDEX CONCURRENTLY IF NOT EXISTS \"steps_n\" ON \"steps\" ((1 / n));\n")
	if err := db.MigrateFrom(t.Context(), d, both, discard); err == nil ||
		!strings.Contains(err.Error(), "division by zero") {
		t.Fatalf("an index that cannot be created on the second partition returned %v", err)
	}
	if _, err := d.SQL.ExecContext(t.Context(), `UPDATE steps SET n = 2 WHERE n = 0`); err != nil {
		t.Fatal(err)
	}
	if err := db.MigrateFrom(t.Context(), d, both, discard); err != nil {
		t.Fatal(err)
	}
	whole, err := db.One(t.Context(), d.SQL, db.Value[bool],
		`SELECT count(*) = 3 AND bool_and(indisvalid) FROM pg_index WHERE indexrelid::regclass::text LIKE 'steps_n%'`)
	if err != nil || !whole {
		t.Errorf("the indexes of the table and of both partitions are valid: %t, %v", whole, err)
	}
}
