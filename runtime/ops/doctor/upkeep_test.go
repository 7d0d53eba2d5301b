package doctor

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

func TestChecksUpkeep(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		look  func(upkeep) Finding
		seen  upkeep
		want  Level
		found string
	}{
		"no synchronous standby required":     {upkeep.judgeStandbys, upkeep{told: true, connected: 1}, OK, "1 connected"},
		"one required and connected":          {upkeep.judgeStandbys, upkeep{names: "a", told: true, connected: 2, synchronous: 1}, OK, "1 of 2"},
		"one required but disconnected":       {upkeep.judgeStandbys, upkeep{names: "a", told: true, connected: 1}, Error, `wait for "a", and none of 1`},
		"one required, but not visible to us": {upkeep.judgeStandbys, upkeep{names: "a", connected: 1}, Skipped, "not visible"},
		"no slot":                             {upkeep.judgeSlots, upkeep{}, OK, "none"},
		"a slot that is read":                 {upkeep.judgeSlots, upkeep{slot: "s", held: 5 << 20}, OK, "s holds 5 MB"},
		"a slot without a consumer":           {upkeep.judgeSlots, upkeep{slot: "s", held: 11 << 30}, Warning, "s holds 11 GB"},
		"healthy tables":                      {upkeep.judgeDeadRows, upkeep{}, OK, "none"},
		"a table that cannot be vacuumed": {upkeep.judgeDeadRows, upkeep{table: "recipients", deadRows: 500_000, live: 10},
			Warning, "recipients has 500000 dead rows and 10 live rows"},
	} {
		if got := c.look(c.seen); got.Level != c.want || !strings.Contains(got.Found, c.found) {
			t.Errorf("%s: got %+v, want the level %s and %q", name, got, c.want, c.found)
		}
	}
}

func TestChecksUpkeepOfLiveServer(t *testing.T) {
	t.Parallel()
	server := dbtest.NewServer(t)
	d := server.OpenPatiently()
	look := func(check string) Finding {
		for _, f := range lookAfter(t.Context(), d) {
			if f.Check == check {
				return f
			}
		}
		t.Fatalf("no finding %s in %+v", check, lookAfter(t.Context(), d))
		return Finding{}
	}
	for _, check := range []string{"database.standbys", "database.slots", "database.dead_rows"} {
		if got := look(check); got.Level != OK {
			t.Errorf("on a new server, got %+v, want ok", got)
		}
	}
	if _, err := d.SQL.ExecContext(t.Context(), `SELECT pg_create_physical_replication_slot('backup', true)`); err != nil {
		t.Fatal(err)
	}
	if got := look("database.slots"); got.Level != OK || !strings.HasPrefix(got.Found, "backup holds") {
		t.Errorf("with a slot, got %+v, want ok and its name", got)
	}
	for _, statement := range []string{`CREATE TABLE notes (n int) WITH (autovacuum_enabled = off)`,
		fmt.Sprintf(`INSERT INTO notes SELECT generate_series(1, %d)`, manyDead+1),
		`DELETE FROM notes`, `SELECT pg_stat_force_next_flush()`} {
		if _, err := d.SQL.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	if got := look("database.dead_rows"); got.Level != Warning || !strings.HasPrefix(got.Found, "notes has") {
		t.Errorf("with a table of dead rows, got %+v, want a warning with its name", got)
	}
	server.SetHangingCommits(true) // commits wait for a standby that does not exist, so all writes hang
	// Each connection of the pool reloads its settings at its own time.
	expect.EventuallyWithin(t, 10*time.Second, "doctor misses the synchronous standby",
		func() bool { return look("database.standbys").Level == Error })
	server.SetHangingCommits(false)
}
