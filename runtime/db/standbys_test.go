package db_test

import (
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/db/dbtest"
	"github.com/postrider/postrider/runtime/expect"
	"github.com/postrider/postrider/runtime/fault"
)

// replicated waits until the answer says so; "" is that all is well.
func replicated(t *testing.T, d *db.DB, want string) {
	t.Helper()
	what := "enough standbys follow"
	if want != "" {
		what = "standbys are missed: " + want
	}
	expect.Within(t, 15*time.Second, what, func() bool {
		err := d.Replicated(t.Context())
		return want == "" && err == nil || want != "" && err != nil && strings.Contains(err.Error(), want)
	})
}

func TestStandbysThatAreAskedFor(t *testing.T) {
	t.Parallel()
	server := dbtest.NewServer(t)
	if _, err := db.Open(t.Context(), db.Config{URL: server.URL(), Standbys: 1}, discard); err == nil ||
		!strings.Contains(err.Error(), "waits for 0 standbys") || fault.IsDatabaseAway(err) {
		t.Errorf("a server that waits for nobody: %v, want it refused with the reason and for good", err)
	}
	one := server.NewStandby("one")
	server.WaitFor("ANY 1 (one, two)")
	if _, err := db.Open(t.Context(), db.Config{URL: server.URL(), Standbys: 2}, discard); err == nil || !strings.Contains(err.Error(), "waits for 1 standbys") {
		t.Errorf("a server that waits for one of two: %v, want it refused", err)
	}
	d := openURL(t, db.Config{URL: server.URL(), Standbys: 1})
	replicated(t, d, "")
	if _, err := d.SQL.ExecContext(t.Context(), `CREATE TABLE kept (at timestamptz)`); err != nil {
		t.Errorf("a write that waits for its standby: %v", err)
	}
	one.Stop()
	replicated(t, d, "0 standbys follow")
	one.Start()
	replicated(t, d, "")

	// Whoever is not told must not guess.
	if _, err := d.SQL.ExecContext(t.Context(), `CREATE ROLE blind LOGIN`); err != nil {
		t.Fatal(err)
	}
	blind := openURL(t, db.Config{URL: strings.Replace(server.URL(), "postrider@", "blind@", 1), Standbys: 1})
	replicated(t, blind, "pg_monitor")
	if _, err := d.SQL.ExecContext(t.Context(), `GRANT pg_monitor TO blind`); err != nil {
		t.Fatal(err)
	}
	replicated(t, blind, "")
}

// Each host of the address is asked who it is: also those that the pools do not use.
func TestEveryHostSaysWhichClusterItIs(t *testing.T) {
	t.Parallel()
	primary, stranger := dbtest.NewServer(t), dbtest.NewServer(t)
	standby := primary.NewStandby("one")
	stranger.BecomeForeign()
	nobody := t.TempDir()
	d := openURL(t, db.Config{URL: withHosts(t, stranger.URL(), hostOf(t, primary)+","+hostOf(t, standby)+","+nobody, "5432,5432,5432", "read-write")})
	type host struct {
		name, cluster string
		standby       bool
		err           error
	}
	var all []host
	cluster, err := d.AskHosts(t.Context(), func(name, cluster string, standby bool, err error) {
		all = append(all, host{name, cluster, standby, err})
	})
	if err != nil || len(all) != 4 || cluster == "" {
		t.Fatalf("the hosts are %+v, %q, %v; want four", all, cluster, err)
	}
	if p := all[0]; p.cluster != cluster || p.standby || p.err != nil {
		t.Errorf("the primary is %+v", p)
	}
	if s := all[1]; s.cluster != cluster || !s.standby || s.err != nil {
		t.Errorf("the standby is %+v", s)
	}
	if n := all[2]; n.err == nil || !strings.Contains(n.name, nobody) {
		t.Errorf("nobody is %+v", n)
	}
	if o := all[3]; o.cluster != "42" || o.standby || o.err != nil {
		t.Errorf("the stranger is %+v", o)
	}
}

// An empty database may be a stranger's, and the mail on a host that is away.
func TestAnEmptyDatabaseIsFilledOnlyWhereEveryHostAnswers(t *testing.T) {
	t.Parallel()
	primary, stranger, full := dbtest.NewServer(t), dbtest.NewServer(t), dbtest.NewServer(t)
	standby := primary.NewStandby("one")
	primary.Empty()
	stranger.Empty()
	stranger.BecomeForeign()
	nobody := t.TempDir()
	for name, c := range map[string]struct {
		server, before string
		want           string // in the refusal; empty: none
		away           bool   // the refusal may pass
	}{
		"a primary with its standby":                  {primary.URL(), hostOf(t, standby), "", false},
		"a primary, and a host that is away":          {primary.URL(), nobody, nobody, true},
		"two hosts of different clusters":             {primary.URL(), hostOf(t, stranger), "different clusters", false},
		"a primary with tables, and one that is away": {full.URL(), nobody, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := openURL(t, db.Config{URL: withHosts(t, c.server, c.before, "5432", "read-write")})
			err := d.MayFill(t.Context())
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("whether tables may be made: %v, want %q", err, c.want)
			}
			if got := fault.IsDatabaseAway(err); got != c.away {
				t.Errorf("that the refusal may pass is %t, want %t: %v", got, c.away, err)
			}
		})
	}
	if err := openURL(t, db.Config{URL: primary.URL()}).MayFill(t.Context()); err != nil {
		t.Errorf("an address with one host: %v, want no refusal", err)
	}
}

// The old primary comes back, believes that it still is one, and takes writes.
func TestAPrimaryFromBeforeAFailOverIsPassedOver(t *testing.T) {
	t.Parallel()
	primary := dbtest.NewServer(t)
	standby := primary.NewStandby("one")
	d := openURL(t, db.Config{URL: withHosts(t, standby.URL(), hostOf(t, primary), "5432", "read-write")})
	signals := newSignals(t, d)
	wake := listening(t, signals, "mail")[0]
	primary.Stop()
	standby.Promote()
	served := func() bool { return d.Ping(t.Context()) == nil }
	expect.Within(t, 15*time.Second, "the promoted standby is used", served)
	woken(t, wake, "the promoted standby is listened to")
	standby.Stop()
	primary.Start()
	if _, err := primary.Open().SQL.ExecContext(t.Context(), `SELECT txid_current()`); err != nil {
		t.Fatalf("the old primary takes no writes: %v; there is nothing to pass over", err)
	}
	expect.Within(t, 15*time.Second, "the old primary is refused with the reason", func() bool {
		err := d.Ping(t.Context())
		return err != nil && strings.Contains(err.Error(), "before a fail-over")
	})
	if _, held := signals.Lock(); held {
		t.Error("the old primary is listened to")
	}
	standby.Start()
	expect.Within(t, 15*time.Second, "the new primary is used again", served)
	woken(t, wake, "the new primary is listened to again")
}
