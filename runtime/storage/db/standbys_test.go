package db_test

import (
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/storage/db/failover"
)

// awaitStandbys waits until the status contains a text; "" means that enough standbys are connected.
func awaitStandbys(t *testing.T, d *db.DB, want string) {
	t.Helper()
	what := "enough standbys are connected"
	if want != "" {
		what = "standbys are missed: " + want
	}
	expect.EventuallyWithin(t, 15*time.Second, what, func() bool {
		err := d.CheckReplication(t.Context())
		return want == "" && err == nil || want != "" && err != nil && strings.Contains(err.Error(), want)
	})
}

func TestRequiredStandbys(t *testing.T) {
	t.Parallel()
	server := dbtest.NewServer(t)
	if _, err := db.Open(t.Context(), db.Config{URL: server.URL(), Standbys: 1}, discard); err == nil ||
		!strings.Contains(err.Error(), "waits for 0 standbys") || fault.IsDatabaseUnavailable(err) {
		t.Errorf("a server that waits for no standby returned %v, want a permanent error with the reason", err)
	}
	one := server.NewStandby("one")
	server.WaitFor("ANY 1 (one, two)")
	if _, err := db.Open(t.Context(), db.Config{URL: server.URL(), Standbys: 2}, discard); err == nil ||
		!strings.Contains(err.Error(), "waits for 1 standbys") {
		t.Errorf("a server that waits for one of two returned %v, want an error", err)
	}
	d := openURL(t, db.Config{URL: server.URL(), Standbys: 1})
	awaitStandbys(t, d, "")
	if _, err := d.SQL.ExecContext(t.Context(), `CREATE TABLE kept (at timestamptz)`); err != nil {
		t.Errorf("a write that waits for its standby returned %v", err)
	}
	one.Stop()
	awaitStandbys(t, d, "only 0 connected standbys")
	one.Start()
	awaitStandbys(t, d, "")

	// A role that cannot see the standbys must not guess.
	if _, err := d.SQL.ExecContext(t.Context(), `CREATE ROLE blind LOGIN`); err != nil {
		t.Fatal(err)
	}
	blind := openURL(t, db.Config{URL: strings.Replace(server.URL(), "postrider@", "blind@", 1), Standbys: 1})
	awaitStandbys(t, blind, "pg_monitor")
	if _, err := d.SQL.ExecContext(t.Context(), `GRANT pg_monitor TO blind`); err != nil {
		t.Fatal(err)
	}
	awaitStandbys(t, blind, "")
}

// Each host of the address is identified, including those that the pools do not use.
func TestHostsReportTheirCluster(t *testing.T) {
	t.Parallel()
	primary, stranger := dbtest.NewServer(t), dbtest.NewServer(t)
	standby := primary.NewStandby("one")
	stranger.BecomeForeign()
	nobody := t.TempDir()
	d := openURL(t, db.Config{URL: withHosts(t, stranger.URL(), hostOf(t, primary)+","+hostOf(t, standby)+","+nobody,
		"5432,5432,5432", "read-write")})
	all, cluster, err := d.AskHosts(t.Context())
	if err != nil || len(all) != 4 || cluster == "" {
		t.Fatalf("the hosts are %+v, %q, %v; want four", all, cluster, err)
	}
	if p := all[0]; p.System != cluster || !p.Primary() || p.Err != nil {
		t.Errorf("the primary is %+v", p)
	}
	if s := all[1]; s.System != cluster || !s.Standby || s.Err != nil {
		t.Errorf("the standby is %+v", s)
	}
	if n := all[2]; n.Err == nil || !strings.Contains(n.Host, nobody) {
		t.Errorf("the non-standby is %+v", n)
	}
	if o := all[3]; o.System != "42" || o.Standby || o.Err != nil {
		t.Errorf("the unrelated host is %+v", o)
	}
}

// An empty database may be an unrelated one, while the mail is on a host that is down.
func TestEmptyDatabaseRequiresAllHosts(t *testing.T) {
	t.Parallel()
	primary, stranger, full := dbtest.NewServer(t), dbtest.NewServer(t), dbtest.NewServer(t)
	standby := primary.NewStandby("one")
	primary.Empty()
	stranger.Empty()
	stranger.BecomeForeign()
	nobody := t.TempDir()
	for name, c := range map[string]struct {
		server, before string
		want           string // part of the error; empty if there is none
		away           bool   // the error is temporary
	}{
		"a primary with its standby":                     {primary.URL(), hostOf(t, standby), "", false},
		"a primary, and an unreachable host":             {primary.URL(), nobody, nobody, true},
		"two hosts of different clusters":                {primary.URL(), hostOf(t, stranger), "different clusters", false},
		"a primary with tables, and an unreachable host": {full.URL(), nobody, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := openURL(t, db.Config{URL: withHosts(t, c.server, c.before, "5432", "read-write")})
			err := d.CheckMayCreate(t.Context())
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("the check for creating tables returned %v, want %q", err, c.want)
			}
			if got := fault.IsDatabaseUnavailable(err); got != c.away {
				t.Errorf("the error is temporary: %t, want %t: %v", got, c.away, err)
			}
		})
	}
	if err := openURL(t, db.Config{URL: primary.URL()}).CheckMayCreate(t.Context()); err != nil {
		t.Errorf("an address with one host: %v, want no error", err)
	}
}

// failedOver returns a server, its promoted standby, and an address with both, the old one first.
func failedOver(t *testing.T) (old, promoted *dbtest.Server, address string) {
	t.Helper()
	old = dbtest.NewServer(t)
	promoted = old.NewStandby("one")
	address = withHosts(t, promoted.URL(), hostOf(t, old), "5432", "read-write")
	old.Stop()
	promoted.Promote()
	expect.EventuallyWithin(t, 15*time.Second, "the promoted standby accepts writes", func() bool {
		_, err := promoted.OpenPatiently().SQL.ExecContext(t.Context(), `CREATE TABLE IF NOT EXISTS written (by text)`)
		return err == nil
	})
	return old, promoted, address
}

// takesWrites checks that the old primary still accepts writes; otherwise there is nothing to reject.
func takesWrites(t *testing.T, old *dbtest.Server) *db.DB {
	t.Helper()
	d := old.OpenPatiently()
	if _, err := d.SQL.ExecContext(t.Context(), `CREATE TABLE written (by text)`); err != nil {
		t.Fatalf("the old primary accepts no writes: %v", err)
	}
	return d
}

// The old primary comes back and still accepts writes.
func TestOldPrimaryIsSkippedAfterFailover(t *testing.T) {
	t.Parallel()
	primary := dbtest.NewServer(t)
	standby := primary.NewStandby("one")
	d := openURL(t, db.Config{URL: withHosts(t, standby.URL(), hostOf(t, primary), "5432", "read-write")})
	signals := newSignals(t, d)
	wake := subscribeAll(t, signals, "mail")[0]
	primary.Stop()
	standby.Promote()
	served := func() bool { return d.Ping(t.Context()) == nil }
	expect.EventuallyWithin(t, 15*time.Second, "the promoted standby is used", served)
	expectWake(t, wake, "the promoted standby is listened to")
	standby.Stop()
	primary.Start()
	takesWrites(t, primary)
	refused := func(why string) func() bool {
		return func() bool {
			err := d.Ping(t.Context())
			return err != nil && fault.IsDatabaseUnavailable(err) && strings.Contains(err.Error(), why)
		}
	}
	expect.EventuallyWithin(t, 15*time.Second, "the old primary is rejected with the reason",
		refused("before a failover"))
	if _, held := signals.Lock(); held {
		t.Error("the process listens to the old primary")
	}
	standby.Start()
	expect.EventuallyWithin(t, 15*time.Second, "nothing is used while both accept writes",
		refused("2 hosts of DATABASE_URL accept writes"))
	primary.Stop()
	expect.EventuallyWithin(t, 15*time.Second, "the new primary is used again", served)
	expectWake(t, wake, "the new primary is listened to again")
}

// A starting process does not know about the failover, and its address lists the old primary first.
func TestNewProcessRejectsTwoPrimaries(t *testing.T) {
	t.Parallel()
	old, promoted, address := failedOver(t)
	old.Start()
	before := takesWrites(t, old)
	var told expect.Log
	open := func() (*db.DB, error) {
		return db.Open(t.Context(), db.Config{URL: address, OpTimeout: expect.Patience},
			slog.New(slog.NewTextHandler(&told, nil)))
	}
	d, err := open()
	if err == nil {
		_, err = d.SQL.ExecContext(t.Context(), `INSERT INTO written VALUES ('a fresh process')`)
		checkEnd(t, d.Close())
	}
	var split *failover.SplitError
	if !errors.As(err, &split) || !fault.IsDatabaseUnavailable(err) || len(split.Primaries) != 2 {
		t.Errorf("a new process with two primaries got %v, want a temporary error with both", err)
	}
	if !strings.Contains(told.String(), "the database cannot be used") ||
		!strings.Contains(told.String(), hostOf(t, old)) {
		t.Errorf("the log is %q, want it to explain why the database cannot be used", told.String())
	}
	if one, err := db.HostInUse(t.Context(), address); !errors.As(err, &split) {
		t.Errorf("PostgreSQL clients are sent to %q (%v), want an error with two primaries", one, err)
	}
	if n, err := db.One(t.Context(), before.SQL, db.Value[int], `SELECT count(*) FROM written`); n != 0 || err != nil {
		t.Errorf("the old primary has %d rows (%v), want none", n, err)
	}
	old.Stop()
	if d, err = open(); err != nil {
		t.Fatalf("a new process with only the new primary got %v", err)
	}
	if _, err := d.SQL.ExecContext(t.Context(), `INSERT INTO written VALUES ('a fresh process')`); err != nil {
		t.Errorf("a write with only the new primary returned %v", err)
	}
	if one, err := db.HostInUse(t.Context(), address); err != nil ||
		!strings.Contains(one, url.QueryEscape(hostOf(t, promoted))) ||
		strings.Contains(one, url.QueryEscape(hostOf(t, old))) {
		t.Errorf("PostgreSQL clients are sent to %q (%v), want only the new primary", one, err)
	}
	checkEnd(t, d.Close())
	if n, err := db.One(t.Context(), promoted.OpenPatiently().SQL, db.Value[int], `SELECT count(*) FROM written`); n != 1 || err != nil {
		t.Errorf("the new primary has %d rows (%v), want one", n, err)
	}
}

// A running process has open connections to the new primary when the old one comes back.
func TestOpenConnectionsRejectTwoPrimaries(t *testing.T) {
	t.Parallel()
	old, _, address := failedOver(t)
	var told expect.Log
	d, err := db.Open(t.Context(), db.Config{URL: address}, slog.New(slog.NewTextHandler(&told, nil)))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { checkEnd(t, d.Close()) }()
	write := func() error {
		_, err := d.Hot.ExecContext(t.Context(), `INSERT INTO written VALUES ('a process that runs')`)
		return err
	}
	if err := write(); err != nil {
		t.Fatalf("a write with only the new primary returned %v", err)
	}
	old.Start()
	takesWrites(t, old)
	expect.EventuallyWithin(t, 15*time.Second, "the process rejects writes", func() bool {
		err := write()
		var split *failover.SplitError
		return errors.As(err, &split) && fault.IsDatabaseUnavailable(err)
	})
	old.Stop()
	expect.EventuallyWithin(t, 15*time.Second, "the process writes again", func() bool { return write() == nil })
	if n := strings.Count(told.String(), "the database cannot be used"); n != 1 ||
		!strings.Contains(told.String(), "the database can be used again") {
		t.Errorf("the log reports %d times that the database cannot be used, want once, and then its recovery: %s", n,
			told.String())
	}
}

// The new primary is down, and a standby of it responds: the only primary is the old one.
func TestStandbyRevealsFailover(t *testing.T) {
	t.Parallel()
	old, promoted, address := failedOver(t)
	follower := promoted.NewStandby("two")
	promoted.Stop()
	old.Start()
	takesWrites(t, old)
	address = withHosts(t, address, hostOf(t, follower), "5432,5432", "read-write")
	d, err := db.Open(t.Context(), db.Config{URL: address, OpTimeout: expect.Patience}, discard)
	if err == nil {
		checkEnd(t, d.Close())
	}
	if err == nil || !fault.IsDatabaseUnavailable(err) || !strings.Contains(err.Error(), "before a failover") {
		t.Errorf("a new process with the old primary and a standby of the new one got %v, want a temporary error", err)
	}
}
