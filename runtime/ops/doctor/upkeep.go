package doctor

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/postrider/postrider/runtime/storage/db"
)

// The thresholds of the checks.
const (
	slotHolds = 10 << 30 // bytes of WAL
	manyDead  = 100_000  // rows
)

// upkeepSQL queries conditions that an operator must monitor. The state of standbys is only visible with the
// role pg_monitor.
const upkeepSQL = `
SELECT current_setting('synchronous_standby_names'),
	(SELECT count(*) FROM pg_stat_replication), (SELECT count(*) FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')),
	pg_has_role(current_user, 'pg_read_all_stats', 'USAGE'),
	coalesce((SELECT slot_name || '' FROM held ORDER BY octets DESC LIMIT 1), ''), coalesce((SELECT max(octets) FROM held), 0)::bigint,
	coalesce((SELECT relname || '' FROM dead ORDER BY n_dead_tup DESC LIMIT 1), ''), coalesce((SELECT max(n_dead_tup) FROM dead), 0), coalesce((SELECT n_live_tup FROM dead ORDER BY n_dead_tup DESC LIMIT 1), 0)
FROM (SELECT) one`

// heldSQL and deadSQL precede upkeepSQL. A standby does not retain WAL itself.
const (
	heldSQL = `WITH held AS (
	SELECT slot_name, pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() THEN restart_lsn ELSE pg_current_wal_lsn() END, restart_lsn) AS octets
	FROM pg_replication_slots WHERE restart_lsn IS NOT NULL
), `
	deadSQL = `dead AS (
	SELECT relname, n_dead_tup, n_live_tup FROM pg_stat_user_tables WHERE n_dead_tup > greatest(n_live_tup, $1)
)`
)

// upkeep is the result of upkeepSQL.
type upkeep struct {
	names          string // synchronous_standby_names
	connected      int    // standbys
	synchronous    int    // standbys that commits wait for
	told           bool   // the state of standbys is visible
	slot           string // the slot that retains the most WAL
	held           int64  // bytes
	table          string // the table with the most dead rows, if it has more dead than live rows
	deadRows, live int64
}

// lookAfter returns the findings about hidden growth and backlogs.
func lookAfter(ctx context.Context, d *db.DB) []Finding {
	var u upkeep
	err := d.SQL.QueryRowContext(ctx, heldSQL+deadSQL+upkeepSQL, manyDead).
		Scan(&u.names, &u.connected, &u.synchronous, &u.told, &u.slot, &u.held, &u.table, &u.deadRows, &u.live)
	if err != nil && err != sql.ErrNoRows {
		s := subject{"database.upkeep", "the statistics views are readable"}
		return []Finding{s.finding(Skipped, err.Error(),
			"Let the role of DATABASE_URL read pg_replication_slots and pg_stat_user_tables.")}
	}
	return []Finding{u.judgeStandbys(), u.judgeSlots(), u.judgeDeadRows()}
}

func (u upkeep) judgeStandbys() Finding {
	s := subject{"database.standbys", "a synchronous standby is connected, if commits wait for one"}
	switch {
	case u.names == "":
		return s.ok(fmt.Sprintf("commits wait for none; %d connected", u.connected))
	case !u.told:
		return s.finding(Skipped, fmt.Sprintf("%d connected, their state is not visible to this role", u.connected),
			"GRANT pg_monitor to the role of DATABASE_URL.")
	case u.synchronous == 0:
		return s.finding(Error, fmt.Sprintf("commits wait for %q, and none of %d standbys is synchronous", u.names,
			u.connected),
			"Restore the standby, or remove it from synchronous_standby_names: until then no mail is accepted.")
	}
	return s.ok(fmt.Sprintf("%d of %d standbys are synchronous", u.synchronous, u.connected))
}

func (u upkeep) judgeSlots() Finding {
	s := subject{"database.slots", fmt.Sprintf("no replication slot holds more than %d GB of the write-ahead log",
		slotHolds>>30)}
	switch {
	case u.slot == "":
		return s.ok("there is none")
	case u.held > slotHolds:
		return s.finding(Warning, fmt.Sprintf("%s holds %d GB", u.slot, u.held>>30),
			"Start the consumer of the slot, or drop it (pg_drop_replication_slot): the log fills the disk, and then nothing is accepted.")
	}
	return s.ok(fmt.Sprintf("%s holds %d MB", u.slot, u.held>>20))
}

func (u upkeep) judgeDeadRows() Finding {
	s := subject{"database.dead_rows", "no table has more dead rows than live ones"}
	if u.table == "" {
		return s.ok("none has")
	}
	return s.finding(Warning, fmt.Sprintf("%s has %d dead rows and %d live rows", u.table, u.deadRows, u.live),
		"Look for an old transaction or an idle replication slot, which keep rows from being removed, then run VACUUM %s.", u.table)
}
