package doctor

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/postrider/postrider/runtime/storage/clockstep"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/capacity"
)

// DatabaseConfig is the expected configuration of a database.
type DatabaseConfig struct {
	Embedded       bool // in this data directory
	Connections    int  // connections that the pools of a process may open
	RiskLosingMail bool // synchronous_commit=off was accepted
	Standbys       int  // standbys that must hold confirmed data
	Cell           int  // the number of the cell in these settings
}

// Database returns the checks of an open database.
func Database(d *db.DB, c DatabaseConfig) Check {
	return func(ctx context.Context) []Finding {
		var seen serverState
		err := d.SQL.QueryRowContext(ctx, standingSQL).Scan(&seen.version, &seen.fsync, &seen.fullPages, &seen.commit,
			&seen.standbys, &seen.autovacuum, &seen.readOnly,
			&seen.skew, &seen.oldest, &seen.age, &seen.local, &seen.encrypted, &seen.throwAway)
		if err != nil {
			return UnusableFindings(err)
		}
		all := seen.judge(c)
		return slices.Concat(all, checkHosts(ctx, d), checkStandbys(ctx, d, c), lookAfter(ctx, d),
			checkNodes(ctx, d, c), checkProcesses(ctx, d, c.Cell), clockSteps(ctx, d), tablesByMonth(ctx, d))
	}
}

const standingSQL = `
SELECT current_setting('server_version_num')::int, current_setting('fsync'), current_setting('full_page_writes'), current_setting('synchronous_commit'), current_setting('synchronous_standby_names'),
	current_setting('autovacuum'), pg_is_in_recovery() OR current_setting('default_transaction_read_only') = 'on',
	extract(epoch FROM clock_timestamp())::float8,
	coalesce((SELECT extract(epoch FROM max(now() - xact_start)) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database() AND state <> 'idle'), 0)::float8,
	(SELECT age(datfrozenxid) FROM pg_database WHERE datname = current_database()),
	inet_server_addr() IS NULL OR inet_server_addr() <<= '127.0.0.0/8' OR inet_server_addr() = '::1',
	coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false),
	coalesce(current_setting('postrider.throw_away_test_server', true), '') = 'yes'`

// serverState contains a server's report about itself.
type serverState struct {
	version                               int
	fsync, fullPages, commit, autovacuum  string
	standbys                              string
	readOnly, local, encrypted, throwAway bool
	skew                                  float64 // its time, in seconds since 1970
	oldest                                float64 // age of the oldest transaction, in seconds
	age                                   int64   // transactions since the oldest row that is not frozen
}

// judge compares the server's settings with Postrider's requirements.
func (s serverState) judge(c DatabaseConfig) []Finding {
	var all []Finding
	// Each row: the expectation, whether it is met, the actual value, and the advice.
	check := func(name, expected string, fine bool, l Level, found, do string) {
		f := Finding{Check: "database." + name, Expected: expected, Found: found}
		if !fine {
			f.Level, f.Do = l, do
		}
		all = append(all, f)
	}
	check("version", "PostgreSQL 14 or newer", s.version >= 140000, Error,
		fmt.Sprintf("%d.%d", s.version/10000, s.version%10000), "Upgrade PostgreSQL.")
	check("fsync", "on", s.fsync == "on" || s.throwAway, Error, s.fsync,
		"Set fsync = on: a crash would destroy accepted mail.")
	check("full_page_writes", "on", s.fullPages == "on" || s.throwAway, Error, s.fullPages,
		"Set full_page_writes = on, unless the file system writes pages whole: a crash could destroy accepted mail.")
	check("synchronous_commit", "on, or stricter", db.IsDurable(s.commit, s.standbys) || c.RiskLosingMail, Error,
		s.commit,
		"Set synchronous_commit = on: a crash, or a failover to a synchronous standby, would lose accepted mail.")
	check("autovacuum", "on", s.autovacuum == "on", Error, s.autovacuum,
		"Set autovacuum = on: the queue's tables grow without bound.")
	check("writes", "the server accepts writes", !s.readOnly, Error,
		map[bool]string{true: "read-only", false: "it does"}[s.readOnly],
		"Connect to the primary: name all hosts in DATABASE_URL, with target_session_attrs=read-write.")
	skew := time.Duration(math.Abs(float64(time.Now().UnixMicro())-s.skew*1e6)) * time.Microsecond
	check("clock", "the clocks of the server and this machine differ by less than 2 seconds", skew < 2*time.Second,
		Warning, skew.Round(time.Millisecond).String(),
		"Run NTP on both machines: scheduled mail follows the clock of the database.")
	check("oldest_transaction", "less than 10 minutes", s.oldest < 600, Warning,
		(time.Duration(s.oldest) * time.Second).String(),
		"End that transaction (pg_stat_activity): newer dead rows cannot be vacuumed, and the queue becomes slow.")
	check("wraparound", "fewer than 1,000 million transactions", s.age < 1_000_000_000, Error,
		fmt.Sprintf("%d million", s.age/1_000_000),
		"Run VACUUM (FREEZE) soon: at 2,000 million the server stops accepting writes.")
	check("encryption", "TLS, or a server on this machine", s.local || s.encrypted, Warning,
		map[bool]string{true: "as expected", false: "another machine, without TLS"}[s.local || s.encrypted],
		"Add sslmode=verify-full to DATABASE_URL: mail and keys cross the network unencrypted.")
	return all
}

// checkStandbys checks the standbys that must hold confirmed data.
func checkStandbys(ctx context.Context, d *db.DB, c DatabaseConfig) []Finding {
	s := subject{"database.standbys", fmt.Sprintf("%d synchronous standbys are connected", c.Standbys)}
	if c.Standbys == 0 {
		return nil
	}
	if err := d.CheckReplication(ctx); err != nil {
		return []Finding{s.finding(Error, err.Error(),
			"Restore the standbys (pg_stat_replication): processes are not ready without them.")}
	}
	return []Finding{s.ok("they do")}
}

const nodesSQL = `SELECT count(*), coalesce(string_agg(DISTINCT twin, ', '), ''), coalesce(string_agg(DISTINCT version, ', '), '')
FROM (SELECT version, CASE WHEN count(*) OVER (PARTITION BY name) > 1 THEN name END AS twin FROM nodes WHERE seen_at > now() - interval '6 seconds') live`

// checkNodes checks the live processes on the database.
func checkNodes(ctx context.Context, d *db.DB, c DatabaseConfig) []Finding {
	s := subject{"nodes", "one process of each name"}
	if c.Embedded {
		s.expected = "one process: a data directory belongs to one service"
	}
	var live int
	var twins, versions string
	switch err := d.SQL.QueryRowContext(ctx, nodesSQL).Scan(&live, &twins, &versions); {
	case err != nil && strings.Contains(err.Error(), `"nodes" does not exist`), err == sql.ErrNoRows:
		return []Finding{s.finding(Skipped, "the database has no Postrider tables yet",
			"Start the service, or run postrider migrate.")}
	case err != nil:
		return []Finding{s.finding(Error, err.Error(), "Run this again.")}
	}
	found := fmt.Sprintf("%d, of version %s", live, versions)
	if live == 0 {
		found = "none runs"
	}
	var all []Finding
	switch {
	case c.Embedded && live > 1:
		all = append(all, s.finding(Error, found,
			"Stop all of them but one: two services use the database of one data directory. Give the other one its own data directory or a DATABASE_URL."))
	case twins != "":
		all = append(all, s.finding(Error, found+"; several are called "+twins,
			"Give each process its own POSTRIDER_NODE: when one starts, it may take over the claims of the other."))
	default:
		all = append(all, s.ok(found))
	}
	return append(all, checkConnections(d, max(live, 1), c.Connections))
}

// checkConnections checks whether each live process can open its configured number of connections.
func checkConnections(d *db.DB, processes, wanted int) Finding {
	s := subject{"database.connections", fmt.Sprintf("room for %d processes with %d connections each",
		processes, wanted+1)}
	room, _, _ := d.ConnectionRoom()
	found := fmt.Sprintf("room for %d connections", room)
	if each := capacity.PerProcess(room, processes, wanted); each < wanted {
		return s.finding(Warning, fmt.Sprintf("%s: each process opens at most %d", found, each+1),
			"Set max_connections (and the connection limit of the role and of the database, if they have one) to %d or more, or lower POSTRIDER_DATABASE_CONNECTIONS. Under load requests wait for connections.", capacity.NeededRoom(processes, wanted))
	}
	return s.ok(found)
}

// MasterKey returns a check that the configured keys open the stored secrets. count returns how many stored
// secrets can be opened and how many cannot.
func MasterKey(count func(ctx context.Context) (open, closed int, err error)) Check {
	return func(ctx context.Context) []Finding {
		s := subject{"master_key", "the master key opens every stored signing key"}
		open, closed, err := count(ctx)
		switch {
		case err != nil:
			return []Finding{s.finding(Skipped, err.Error(), "Check the database first.")}
		case closed > 0:
			return []Finding{s.finding(Error, fmt.Sprintf("it opens %d keys and cannot open %d", open, closed),
				"Add the master key that encrypted them to POSTRIDER_MASTER_KEY, after the new key, separated by a comma. Domains whose key cannot be opened cannot send.")}
		}
		return []Finding{s.ok(fmt.Sprintf("it opens all %d keys", open))}
	}
}

// clockSteps reports whether the database clock stepped back.
func clockSteps(ctx context.Context, d *db.DB) []Finding {
	s := subject{"database.clock_step", "the database clock has not stepped back within a day"}
	step, err := clockstep.Read(ctx, d.SQL)
	switch {
	case err != nil:
		return []Finding{s.finding(Skipped, err.Error(), "Check the database first, and run postrider migrate.")}
	case step == nil:
		return []Finding{s.ok("no step")}
	}
	return []Finding{s.finding(Warning, step.String(),
		"Run NTP on the machines of the database and its standbys. Due times, leases and limits that were stored while the clock was ahead are repaired. "+
			"Statistics miss events until the clock reaches its former time: then run postrider admin statistics rebuild.")}
}
