package search_test

import (
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/storage/search"
)

// Many new documents are merged into the index before an insert has to, and a few are left for later.
func TestMergeOfNewDocuments(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	dbtest.Exec(t, d, `CREATE TABLE notes (n int, search tsvector)`)
	dbtest.Exec(t, d, `CREATE INDEX notes_search ON notes USING gin (search)`)
	insert := func(from, to int) {
		dbtest.Exec(t, d, `INSERT INTO notes SELECT n, to_tsvector('simple', 'order ' || n) FROM generate_series($1::int, $2::int) n`, from, to)
	}
	pages := func() int64 {
		t.Helper()
		list, err := db.One(t.Context(), d.SQL, db.Value[int64], `SELECT gin_clean_pending_list('notes_search')`)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	m := search.NewMerger(d)
	run := func() (wait time.Duration) {
		t.Helper()
		wait, err := m.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return wait
	}
	expect.Eventually(t, "the index is known", func() bool { return run() > 0 })
	insert(1, search.MergeRows/2)
	run()
	if pages() == 0 {
		t.Error("a few new documents were merged")
	}
	insert(1, search.MergeRows)
	expect.Eventually(t, "the server counts the new rows", func() bool { return run() == 0 })
	if n := pages(); n != 0 {
		t.Errorf("%d pages of new documents were left", n)
	}
}
