package months_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/storage/db/months"
)

// holdsEverything reports gaps and overlaps in the ranges of months.
func holdsEverything(t *testing.T, state months.TableState) {
	t.Helper()
	last := ""
	for i, m := range state.Months {
		if m.From != last || i > 0 && last == "" {
			t.Errorf("%s begins at %q, but the previous month ends at %q", m.Name, m.From, last)
		}
		last = m.Below
	}
	if last != "" {
		t.Errorf("the last month ends at %q", last)
	}
}

// Partitions are created ahead of time, and dropped when they are past and empty. A row always has a
// partition, even with a wrong clock.
func TestMonthsAreCreatedAndDropped(t *testing.T) {
	t.Parallel()
	eachTable(t, func(t *testing.T, table months.Table) {
		d := newPlainDatabase(t)
		old := newRow(table)
		store(t, d, table, old)
		move(t, d, table)
		begin := time.Now().UTC()
		this := time.Date(begin.Year(), begin.Month(), 1, 12, 0, 0, 0, time.UTC)
		var rows []string
		for month := range 12 {
			now := this.AddDate(0, month, 5)
			kept, err := months.KeepAt(t.Context(), d, table, now)
			if err != nil {
				t.Fatal(err)
			}
			if len(kept.Dropped)+len(kept.Full) > 0 {
				t.Errorf("in month %d, with rows in all months, the state is %+v", month, kept)
			}
			state := readState(t, d, table)
			holdsEverything(t, state)
			row := keyAt(table, now, 1)
			store(t, d, table, row)
			rows = append(rows, row)
			if place := placeOf(t, d, table, row); month > 1 && !strings.HasSuffix(place, now.Format("2006_01")) {
				t.Errorf("a row of %s is stored in %s", now.Format(time.DateOnly), place)
			}
			if ahead := state.Months[len(state.Months)-1].From; ahead < table.SmallestKey(now.AddDate(0, 1, 0)) {
				t.Errorf("in month %d the default partition begins at %s", month, table.Time(ahead))
			}
		}
		later := this.AddDate(0, 12, 5)
		// An old month with rows keeps newer, empty ones.
		dbtest.Exec(t, d, `DELETE FROM `+table.Name+` WHERE `+table.Column+` = $1`, rows[3])
		if kept, err := months.KeepAt(t.Context(), d, table, later); err != nil || len(kept.Dropped) > 0 {
			t.Errorf("with rows in the first month, got %+v, %v", kept, err)
		}
		dbtest.Exec(t, d, `DELETE FROM `+table.Name+` WHERE `+table.Column+` <= $1`, rows[3])
		before := readState(t, d, table)
		kept, err := months.KeepAt(t.Context(), d, table, later)
		if err != nil || len(kept.Dropped) != len(before.Months)-len(readState(t, d, table).Months)+1 ||
			len(kept.Dropped) < 2 {
			t.Errorf("with the oldest four months empty, got %+v, %v", kept, err)
		}
		for _, name := range kept.Dropped {
			if queryOne[bool](t, d, `SELECT to_regclass($1) IS NOT NULL`, name) {
				t.Errorf("%s was reported as dropped but still exists", name)
			}
		}
		holdsEverything(t, readState(t, d, table))
		if n := queryOne[int](t, d, `SELECT count(*) FROM `+table.Name); n != 8 {
			t.Errorf("%d rows remain, want 8", n)
		}
		// A slow clock, and one that is far ahead.
		store(t, d, table, old)
		if place := placeOf(t, d, table, old); place != table.Name+"_past" {
			t.Errorf("a row of a dropped month is stored in %s", place)
		}
		dbtest.Exec(t, d, `DELETE FROM `+table.Name+` WHERE `+table.Column+` <= $1`, rows[4])
		if kept, err := months.KeepAt(t.Context(), d, table, later); err != nil || len(kept.Dropped) != 1 {
			t.Errorf("with a row before all months, got %+v, %v", kept, err)
		}
		// The current and the previous month are recent, even if empty.
		dbtest.Exec(t, d, `DELETE FROM `+table.Name)
		kept, err = months.KeepAt(t.Context(), d, table, later)
		young := readState(t, d, table).Months[1]
		if err != nil || young.Below < table.SmallestKey(later.AddDate(0, -1, -1)) ||
			young.From > table.SmallestKey(later.AddDate(0, -1, 0)) {
			t.Errorf("of an empty table, %v were dropped and %+v remain: %v", kept.Dropped, young, err)
		}
		store(t, d, table, newRow(table))
	})
}

// A month whose rows are no longer needed is dropped with them, in order: months after a needed one remain,
// and so do the rows before all months.
func TestUnneededMonthsAreDropped(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"facts", "webhook_deliveries", "received_emails"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, table := newPlainDatabase(t), findTable(t, name)
			move(t, d, table)
			this := months.Begin(time.Now()).AddDate(0, 0, 14)
			var rows []string
			for month := range 8 {
				now := this.AddDate(0, month, 0)
				if _, err := months.KeepAt(t.Context(), d, table, now); err != nil {
					t.Fatal(err)
				}
				rows = append(rows, keyAt(table, now, 1))
				store(t, d, table, rows[month])
			}
			later, asked := this.AddDate(0, 8, 0), 0
			until := func(bound string) months.DropRule {
				return months.DropRule{Table: name,
					Ask: func(_ context.Context, _ db.Execer, below string, now time.Time) (bool, error) {
						if asked++; !now.Equal(later) {
							t.Errorf("the rule got the time %s, want that of the database, %s", now, later)
						}
						return below <= bound, nil
					}}
			}
			left := func() (all []string) {
				t.Helper()
				all, err := db.All(t.Context(), d.SQL, db.Value[string], `SELECT id FROM `+name+` ORDER BY id`)
				if err != nil {
					t.Fatal(err)
				}
				return all
			}
			other := months.DropRule{Table: "emails", Ask: until("~").Ask}
			if kept, err := months.KeepAt(t.Context(), d, table, later, other); err != nil || len(kept.Dropped) > 0 ||
				asked > 0 {
				t.Errorf("with a rule for another table, got %+v, %v", kept, err)
			}
			// Both rules must agree, and the month after the fourth is needed.
			kept, err := months.KeepAt(t.Context(), d, table, later, until(keyAt(table, this.AddDate(0, 4, 0), 1)),
				until("~"))
			if got := left(); err != nil || len(kept.Dropped) == 0 || !slices.Equal(got, rows[4:]) {
				t.Errorf("%v were dropped, %v; the rows %v remain, want %v", kept.Dropped, err, got, rows[4:])
			}
			holdsEverything(t, readState(t, d, table))
			store(t, d, table, rows[0])
			if place := placeOf(t, d, table, rows[0]); place != name+"_past" {
				t.Errorf("a row of a dropped month is stored in %s", place)
			}
			if kept, err := months.KeepAt(t.Context(), d, table, later, until("~")); err != nil ||
				len(kept.Dropped) > 0 || len(left()) != 5 {
				t.Errorf("after adding rows before all months, %v were dropped, %v; %d rows remain, want 5",
					kept.Dropped,
					err, len(left()))
			}
			dbtest.Exec(t, d, `DELETE FROM `+name+` WHERE id = $1`, rows[0])
			// Recent months remain whatever the rules return.
			if _, err := months.KeepAt(t.Context(), d, table, later, until("~")); err != nil ||
				!slices.Equal(left(), rows[7:]) {
				t.Errorf("the rows %v remain, want %v: %v", left(), rows[7:], err)
			}
			store(t, d, table, keyAt(table, later, 1))
		})
	}
}

// If a rule fails, nothing is dropped.
func TestMonthsStayIfRuleFails(t *testing.T) {
	t.Parallel()
	d, table := newPlainDatabase(t), findTable(t, "facts")
	store(t, d, table, id.New(id.Fact))
	move(t, d, table)
	away := errors.New("away")
	kept, err := months.KeepAt(t.Context(), d, table, time.Now().AddDate(1, 0, 0), months.DropRule{Table: "facts",
		Ask: func(context.Context, db.Execer, string, time.Time) (bool, error) { return true, away }})
	if !errors.Is(err, away) || len(kept.Dropped) > 0 || queryOne[int](t, d, `SELECT count(*) FROM facts`) != 1 {
		t.Errorf("got %+v, %v, want the error and nothing dropped", kept, err)
	}
}

// If no process created partitions for a long time, new rows are in the default partition. Housekeeping
// reports this and changes nothing; a move creates a month from it.
func TestDefaultPartitionBecomesMonth(t *testing.T) {
	t.Parallel()
	eachTable(t, func(t *testing.T, table months.Table) {
		d := newPlainDatabase(t)
		store(t, d, table, newRow(table))
		move(t, d, table)
		row := keyAt(table, time.Now().AddDate(0, 8, 0), 1)
		store(t, d, table, row)
		if place := placeOf(t, d, table, row); place != table.Name+"_rest" {
			t.Fatalf("the row is in %s, but this test requires the default partition", place)
		}
		kept, err := months.Maintain(t.Context(), d, discard)
		if err != nil || !slices.Equal(kept.Full, []string{table.Name + "_rest"}) || len(kept.Created) > 0 {
			t.Errorf("with rows in the default partition, got %+v, %v", kept, err)
		}
		all := 0
		for cut := range 3 { // also interrupted between the steps
			if all, err = months.MoveSteps(t.Context(), d, table, cut); err != nil {
				t.Fatal(err)
			}
		}
		move(t, d, table)
		state := readState(t, d, table)
		holdsEverything(t, state)
		if place := placeOf(t, d, table, row); strings.HasSuffix(place, "rest") || state.UncheckedOf() > 0 {
			t.Errorf("after %d steps, the row is in %s; %+v", all, place, state)
		}
		if kept, err := months.KeepAt(t.Context(), d, table, time.Now().AddDate(0, 9, 0)); err != nil ||
			len(kept.Full) > 0 || len(kept.Created) == 0 {
			t.Errorf("afterwards, got %+v, %v", kept, err)
		}
		dbtest.Exec(t, d, `DELETE FROM `+table.Name)
	})
}

// A lookup reads one month, and a page of the newest rows stops in the month in which it is full, even with a
// cached plan.
func TestQueriesReadOneMonth(t *testing.T) {
	t.Parallel()
	eachTable(t, func(t *testing.T, table months.Table) {
		d := newPlainDatabase(t)
		move(t, d, table)
		var rows []string
		for month := range 12 {
			now := time.Now().UTC().AddDate(0, month, 0)
			if _, err := months.KeepAt(t.Context(), d, table, now); err != nil {
				t.Fatal(err)
			}
			for n := range 20 {
				rows = append(rows, keyAt(table, now, n))
				store(t, d, table, rows[len(rows)-1])
			}
		}
		dbtest.Exec(t, d, `ANALYZE `+table.Name)
		conn, err := d.Hot.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		by, typ, top := table.Column, "text", "~"
		if table.Prefix == "" {
			typ, top = "timestamptz", "9999-01-01T00:00:00Z"
		}
		stretch := `UPDATE ` + table.Name + ` e SET account_id = e.account_id FROM unnest(ARRAY[$1::` + typ +
			`]) v (id) WHERE e.` + by + ` BETWEEN v.id AND v.id AND e.account_id < $2`
		statements := map[string]int{
			stretch: 1,
			`SELECT * FROM ` + table.Name + ` WHERE ` + by + ` = $1 AND ` + by + ` < $2`:                                                                   1,
			`SELECT * FROM ` + table.Name + ` WHERE ` + by + ` = ANY (ARRAY[$1::` + typ + `]) AND ` + by + ` < $2`:                                         1,
			`SELECT * FROM ` + table.Name + ` WHERE account_id = 'acc_1' AND ` + by + ` <= $1 AND ` + by + ` < $2 ORDER BY ` + by + ` DESC LIMIT 10`:       1,
			`SELECT * FROM ` + table.Name + ` WHERE ` + by + ` <= $1 AND ` + by + ` < $2 ORDER BY ` + by + ` DESC LIMIT 10`:                                1,
			`SELECT e.account_id FROM unnest(ARRAY[$1::` + typ + `]) v (id) JOIN ` + table.Name + ` e ON e.` + by + ` = v.id WHERE v.id < $2`:              1,
			`UPDATE ` + table.Name + ` e SET account_id = e.account_id FROM unnest(ARRAY[$1::` + typ + `]) v (id) WHERE e.` + by + ` = v.id AND v.id < $2`: 1,
		}
		if table.Prefix == "" {
			delete(statements, stretch) // rows of statistics are always looked up by their account and kind
		}
		for statement, reads := range statements {
			plan := explain(t.Context(), t, conn, statement, rows[130], top)
			if got := strings.Count(plan, " using ") - strings.Count(plan, "(never executed)"); got != reads {
				t.Errorf("%s reads %d months, want %d:\n%s", statement, got, reads, plan)
			}
			if strings.Contains(plan, "Seq Scan") {
				t.Errorf("%s reads a whole month:\n%s", statement, plan)
			}
		}
	})
}

// Autovacuum does not analyze a partitioned table as a whole. Keep does, once a day.
func TestPartitionedTablesAreAnalyzedDaily(t *testing.T) {
	t.Parallel()
	d, table := newPlainDatabase(t), findTable(t, "facts")
	move(t, d, table)
	const read = `SELECT analyze_count FROM pg_stat_all_tables WHERE relid = 'facts'::regclass`
	before := queryOne[int](t, d, read)
	if before == 0 {
		t.Error("after a move, the whole table was not analyzed")
	}
	for range 2 {
		if _, err := months.Maintain(t.Context(), d, discard); err != nil {
			t.Fatal(err)
		}
	}
	if after := queryOne[int](t, d, read); after != before {
		t.Errorf("the table was analyzed %d times instead of %d, although its statistics are fresh", after, before)
	}
	dbtest.Exec(t, d, `SELECT pg_stat_reset_single_table_counters('facts'::regclass)`)
	if _, err := months.Maintain(t.Context(), d, discard); err != nil {
		t.Fatal(err)
	}
	if after := queryOne[int](t, d, read); after != 1 {
		t.Errorf("without a recorded time, the table was analyzed %d times, want once", after)
	}
}
