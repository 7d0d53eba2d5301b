package db_test

import (
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/db/dbtest"
)

func TestMigrateTogether(t *testing.T) {
	t.Parallel()
	address := dbtest.EmptyURL(t)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			d, err := db.Open(t.Context(), db.Config{URL: address, Connections: 4}, discard)
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
	d := openURL(t, db.Config{URL: address})
	if n := countPlans(t, d); n != 5 {
		t.Errorf("%d plans, want each seeded once: 5", n)
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

func TestMigrateKeepsOrderAndRefuses(t *testing.T) {
	t.Parallel()
	d := openURL(t, db.Config{URL: dbtest.EmptyURL(t)})
	run := func(pairs ...string) error { return db.MigrateFrom(t.Context(), d, files(pairs...), discard) }
	const one, two, three = "20260101000000_one.sql", "20260102000000_two.sql", "20260103000000_three.sql"
	const makeOne, makeTwo = "CREATE TABLE steps (id int)", "INSERT INTO steps VALUES (1); INSERT INTO steps VALUES (2)"
	if err := run(two, makeTwo, one, makeOne); err != nil {
		t.Fatal(err)
	}
	if err := run(two, makeTwo, one, makeOne); err != nil {
		t.Errorf("a second time: %v", err)
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
			t.Errorf("%s: %v, want %q in it", name, err, test.want)
		}
	}
	if err := run(one, makeOne, two, makeTwo, three, "INSERT INTO steps VALUES (4)"); err != nil {
		t.Errorf("after the failures: %v", err)
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
		t.Errorf("steps (-want +got), %v:\n%s", rows.Err(), diff)
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
		t.Errorf("%s is not COLLATE \"C\"", column)
	}
	if err := rows.Err(); err != nil {
		t.Error(err)
	}
}

// A standby that is promoted cannot read the unlogged sequences of PostgreSQL 15: what counts by one stores
// nothing any more.
func TestNoSequenceIsUnlogged(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	unlogged, err := db.All(t.Context(), d.SQL, db.Value[string], `SELECT relname FROM pg_class WHERE relkind = 'S' AND relpersistence = 'u'`)
	if err != nil || len(unlogged) > 0 {
		t.Errorf("unlogged sequences: %v, %v", unlogged, err)
	}
}

// A check changes nothing: it refuses a database without our tables, and one that was brought
// up passes.
func TestCheckSchemaRefusesWhatLacksMigrations(t *testing.T) {
	t.Parallel()
	d, err := db.Open(t.Context(), db.Config{URL: dbtest.EmptyURL(t), Connections: 4}, discard)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := db.CheckSchema(t.Context(), d); err == nil || !strings.Contains(err.Error(), "postrider migrate") {
		t.Errorf("an empty database gives %v, want a word on postrider migrate", err)
	}
	if err := db.Migrate(t.Context(), d, discard); err != nil {
		t.Fatal(err)
	}
	if err := db.CheckSchema(t.Context(), d); err != nil {
		t.Errorf("a database that was brought up gives %v, want nil", err)
	}
	if _, err := d.SQL.ExecContext(t.Context(), `DELETE FROM schema_migrations WHERE version = $1`, db.Schema()); err != nil {
		t.Fatal(err)
	}
	if err := db.CheckSchema(t.Context(), d); err == nil || !strings.Contains(err.Error(), "lacks 1 migrations") {
		t.Errorf("a database that lacks the newest gives %v, want a word on it", err)
	}
}
