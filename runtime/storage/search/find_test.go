package search_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/storage/search"
)

// A page of a partitioned table is searched from the newest month. It equals the page of a plain table,
// wherever it begins and however its rows are distributed over time.
func TestPartitionedPagesEqualPlainPages(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	for table, parts := range map[string]string{"postcards": "", "letters": " PARTITION BY RANGE (id)"} {
		dbtest.Exec(t, d, `CREATE TABLE `+table+
			` (id text COLLATE "C", account_id text, subject text, created_at timestamptz, search tsvector)`+parts)
	}
	bound := id.Since(id.Email, time.Now().AddDate(0, 0, -60))
	dbtest.Exec(t, d, `CREATE TABLE old_letters PARTITION OF letters FOR VALUES FROM (MINVALUE) TO ('`+bound+`')`)
	dbtest.Exec(t, d, `CREATE TABLE new_letters PARTITION OF letters FOR VALUES FROM ('`+bound+`') TO (MAXVALUE)`)
	now := time.Now().Truncate(time.Second)
	marks := map[string][]string{}
	var all []string
	for n, age := range []int{0, 0, 1, 2, 3, 5, 31, 32, 33, 34, 40, 64, 65, 100, 101, 102, 300, 301, 301, 600} {
		at := now.AddDate(0, 0, -age).Add(-time.Duration(n) * time.Second)
		row := id.Since(id.Email, at)
		all = append(all, row)
		marks["all"] = append(marks["all"], row)
		own := []string{"a=acc_1", "all"}
		if n%6 == 5 {
			marks["few"], own = append(marks["few"], row), append(own, "few")
		}
		for _, table := range []string{"postcards", "letters"} {
			dbtest.Exec(t, d, `INSERT INTO `+table+` VALUES ($1, 'acc_1', 'x', $2, array_to_tsvector($3))`, row, at, db.Array(own))
			dbtest.Exec(t, d, `INSERT INTO `+table+` VALUES ($1, 'acc_2', 'x', $2, array_to_tsvector('{a=acc_2,all,few}'))`, row, at)
		}
	}
	for _, name := range []string{"postcards", "letters"} {
		table := search.Table{Name: name, Prefix: id.Email, Time: "created_at"}
		for mark, want := range marks {
			for _, size := range []int{1, 3, 4, 50} {
				for _, back := range []bool{false, true} {
					terms := search.Terms{Marks: []string{mark}}
					got := walk(t, d, table, search.PageRequest{AccountID: "acc_1", Back: back, Limit: size,
						Terms: terms})
					expected := slices.Clone(want)
					if back {
						slices.Reverse(expected)
					}
					if !slices.Equal(got, expected) {
						t.Errorf("%s, %s in pages of %d, backward %t: got %v, want %v", name, mark, size,
							back, ages(got),
							ages(expected))
					}
				}
			}
		}
		for _, days := range [][2]int{{0, 2}, {1, 33}, {33, 300}, {200, 650}, {64, 66}} {
			since, until := now.AddDate(0, 0, -days[1]), now.AddDate(0, 0, -days[0])
			got := walk(t, d, table, search.PageRequest{AccountID: "acc_1", Limit: 2,
				Terms: search.Terms{Since: since, Until: until}})
			expected := slices.DeleteFunc(slices.Clone(all),
				func(row string) bool { at := id.Time(row); return at.Before(since) || !at.Before(until) })
			if !slices.Equal(got, expected) {
				t.Errorf("%s, %d to %d days ago: got %v, want %v", name, days[0], days[1], ages(got), ages(expected))
			}
		}
	}
}

// The index is searched without the mark of an account that has most rows of the table. A page contains only its own
// rows nevertheless, and so does that of another account.
func TestOwnRowsOfAnAccountWithMostRows(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	dbtest.Exec(t, d, `CREATE TABLE notes (id text COLLATE "C", account_id text, subject text, created_at timestamptz, search tsvector)`)
	const rows = 3 * search.Window // so that a rare mark needs the index
	first := time.Now().Add(-rows * time.Second).Truncate(time.Second)
	var ids, accounts []string
	want := map[string][]string{}
	for n := range rows {
		row, account := id.Since(id.Email, first.Add(time.Duration(n)*time.Second)), "acc_1"
		if n%10 == 5 {
			account = "acc_2"
		}
		ids, accounts = append(ids, row), append(accounts, account)
		if n < 100 && n%5 == 0 {
			want[account] = append([]string{row}, want[account]...)
		}
	}
	dbtest.Exec(t, d, `INSERT INTO notes SELECT id, account_id, 'x', now(), array_to_tsvector(
			CASE WHEN n <= 100 AND n % 5 = 1 THEN ARRAY['a=' || account_id, 'rare'] ELSE ARRAY['a=' || account_id] END)
		FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS x (id, account_id, n)`, db.Array(ids), db.Array(accounts))
	table := search.Table{Name: "notes", Prefix: id.Email, Time: "created_at"}
	for _, known := range []bool{false, true} {
		if known {
			dbtest.Exec(t, d, `ANALYZE notes`)
		}
		for account, want := range want {
			got := walk(t, d, table, search.PageRequest{AccountID: account, Limit: 4, Terms: search.Terms{Marks: []string{"rare"}}})
			if !slices.Equal(got, want) {
				t.Errorf("%s, with statistics %t: got %v, want %v", account, known, got, want)
			}
		}
	}
}

// walk returns all pages, one after the other.
func walk(t *testing.T, d *db.DB, table search.Table, p search.PageRequest) (all []string) {
	t.Helper()
	for range 100 {
		found, err := table.Find(t.Context(), d.SQL, p)
		if err != nil {
			t.Fatal(err)
		}
		if all = append(all, found...); len(found) < p.Limit {
			return all
		}
		p.StartAfter = found[len(found)-1]
	}
	t.Fatalf("too many pages: %s", strings.Join(all, ", "))
	return nil
}

func ages(rows []string) (all []string) {
	for _, row := range rows {
		all = append(all, fmt.Sprint(int(time.Since(id.Time(row)).Hours()/24)))
	}
	return all
}
