package db_test

import (
	"database/sql"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

type pair struct {
	n    int
	text string
}

func (p *pair) columns() []any { return []any{&p.n, &p.text} }

const pairsSQL = `SELECT n, repeat('x', n) FROM generate_series(1, $1::int) AS n ORDER BY n`

func TestAllReturnsRowsInOrder(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	for name, door := range entryPoints(d) {
		got, err := db.All(t.Context(), door, (*pair).columns, pairsSQL, 2)
		if want := []pair{{1, "x"}, {2, "xx"}}; err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: All returned %v, %v, want %v", name, got, err, want)
		}
		got, err = db.All(t.Context(), door, (*pair).columns, pairsSQL, 0)
		if err != nil || len(got) != 0 {
			t.Errorf("%s: All without rows returned %v, %v", name, got, err)
		}
	}
}

func TestOneReturnsErrNoRows(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	for name, door := range entryPoints(d) {
		got, err := db.One(t.Context(), door, (*pair).columns, pairsSQL, 3)
		if err != nil || got != (pair{1, "x"}) {
			t.Errorf("%s: One returned %v, %v, want the first row", name, got, err)
		}
		got, err = db.One(t.Context(), door, (*pair).columns, pairsSQL, 0)
		if !errors.Is(err, sql.ErrNoRows) || got != (pair{}) {
			t.Errorf("%s: One without rows returned %v, %v, want sql.ErrNoRows", name, got, err)
		}
	}
}

func TestRowErrorsAreReturned(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	refused := errors.New("refused by the visitor")
	for name, door := range entryPoints(d) {
		if err := db.Each(t.Context(), door, func(db.Row) error { return refused }, pairsSQL, 2); !errors.Is(err,
			refused) {
			t.Errorf("%s: Each returned %v, want the error of visit", name, err)
		}
		if _, err := db.All(t.Context(), door, db.Value[int], pairsSQL, 1); err == nil {
			t.Errorf("%s: All scanned two columns into one field without an error", name)
		}
		// The server fails at the third row.
		const breaks = `SELECT 1 / (3 - n) FROM generate_series(1, $1::int) AS n`
		got, err := db.All(t.Context(), door, db.Value[int], breaks, 5)
		if err == nil || got != nil {
			t.Errorf("%s: All returned %v, %v for a statement that fails midway, want only an error", name, got, err)
		}
		if _, err := db.One(t.Context(), door, db.Value[int], breaks, 5); err == nil {
			t.Errorf("%s: One returned no error for a statement that fails midway", name)
		}
	}
	// The connections are available again.
	if _, used := d.Connections(); used != 0 {
		t.Errorf("%d connections are still in use, want 0", used)
	}
}

func TestExecCounts(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	mustExec(t, d, `CREATE TABLE numbers (n int)`)
	for name, door := range entryPoints(d) {
		if n, err := db.Exec(t.Context(), door, `INSERT INTO numbers SELECT generate_series(1, $1::int)`, 3); n != 3 || err != nil {
			t.Errorf("%s: Exec of an insert of 3 rows returned %d, %v", name, n, err)
		}
		if n, err := db.Exec(t.Context(), door, `UPDATE numbers SET n = n WHERE n > $1`, 100); n != 0 || err != nil {
			t.Errorf("%s: Exec of an update of no rows returned %d, %v", name, n, err)
		}
	}
}

func mustExec(t *testing.T, d *db.DB, statement string) {
	t.Helper()
	if _, err := db.Exec(t.Context(), d.SQL, statement); err != nil {
		t.Fatalf("the statement %s failed: %v", statement, err)
	}
}

func TestScansColumnTypes(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	type row struct {
		tags []string
		none map[string]int
		took time.Duration
		kept time.Duration
	}
	columns := func(r *row) []any {
		r.kept = time.Hour
		return []any{db.ScanJSON(&r.tags), db.ScanJSON(&r.none), db.ScanMicroseconds(&r.took),
			db.ScanMicroseconds(&r.kept)}
	}
	for name, door := range entryPoints(d) {
		got, err := db.One(t.Context(), door, columns, `SELECT '["a", "b"]'::jsonb, NULL::jsonb, 1500000::bigint, NULL::bigint`)
		if err != nil || !slices.Equal(got.tags, []string{"a", "b"}) || got.none != nil ||
			got.took != 1500*time.Millisecond || got.kept != time.Hour {
			t.Errorf("%s: the columns were read as %+v, %v", name, got, err)
		}
		if _, err := db.One(t.Context(), door, columns, `SELECT '{"not": "a list"}'::jsonb, NULL::jsonb, 1::bigint, NULL::bigint`); err == nil {
			t.Errorf("%s: a JSON column of another type was scanned without an error", name)
		}
	}
}
