package replica_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/storage/db/replica"
)

// bench is a primary with a monitored replica.
type bench struct {
	t *testing.T
	*db.DB
	replica *replica.Replica
	log     *expect.Log
}

func newBench(t *testing.T, primary *dbtest.Server, url string) *bench {
	t.Helper()
	b := &bench{t: t, DB: primary.OpenPatiently(), log: &expect.Log{}}
	var err error
	b.replica, err = replica.Open(b.DB, replica.Config{URL: url, Connections: 4},
		slog.New(slog.NewTextHandler(b.log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	b.ReadFrom(b.replica)
	b.replica.Start(nil)
	t.Cleanup(func() {
		stopping, cancel := context.WithTimeout(context.Background(), expect.Patience)
		defer cancel()
		if err := b.replica.Stop(stopping); err != nil {
			t.Error(err)
		}
		if err := b.replica.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// write executes a statement on the primary.
func (b *bench) write(statement string, args ...any) {
	b.t.Helper()
	if _, err := b.SQL.ExecContext(b.t.Context(), statement, args...); err != nil {
		b.t.Fatalf("the statement %s failed on the primary: %v", statement, err)
	}
}

// read returns a number and the server that returned it: "replica" or "primary".
func (b *bench) read(query string) (n int, server string) {
	b.t.Helper()
	err := b.Read(b.t.Context(), func(on *ent.Client) (err error) {
		if n, err = db.One(b.t.Context(), on, db.Value[int], query); err != nil {
			return err
		}
		server, err = db.One(b.t.Context(), on, db.Value[string], `SELECT CASE WHEN pg_is_in_recovery() THEN 'replica' ELSE 'primary' END`)
		return err
	})
	if err != nil {
		b.t.Errorf("read %s: %v", query, err)
	}
	return n, server
}

func (b *bench) server() string {
	b.t.Helper()
	_, server := b.read(`SELECT 1`)
	return server
}

// awaitReplica waits until the replica serves reads.
func (b *bench) awaitReplica() {
	b.t.Helper()
	expect.EventuallyWithin(b.t, 30*time.Second, "the replica serves reads",
		func() bool { return b.server() == "replica" })
}

// awaitSkipped waits until the replica is skipped for a reason.
func (b *bench) awaitSkipped(reason string) {
	b.t.Helper()
	expect.EventuallyWithin(b.t, 30*time.Second, "the replica is skipped: "+reason,
		func() bool { return strings.Contains(b.replica.Status().PassedOver, reason) })
	if server := b.server(); server != "primary" {
		b.t.Errorf("although the replica is skipped (%s), the %s served a read", reason, server)
	}
}

// countLogLines returns the number of log lines that report that a replica is skipped, and that it serves reads.
func (b *bench) countLogLines() (passedOver, answers int) {
	return strings.Count(b.log.String(), "is not used"), strings.Count(b.log.String(), "replica serves")
}

// A read sees everything committed before it began, whichever process wrote it, and however far behind the
// replica is.
func TestReadSeesAllCommits(t *testing.T) {
	t.Parallel()
	primary := dbtest.NewServer(t)
	standby := primary.NewStandby("reads")
	b := newBench(t, primary, standby.URL())
	b.write(`CREATE TABLE kept (n int)`)
	b.awaitReplica()
	other := &bench{t: t, DB: primary.OpenPatiently()} // another process
	by, rows := map[string]int{}, 0
	for by["replica"] < 150 && by["primary"] < 50 {
		[]*bench{b, other}[rows%2].write(`INSERT INTO kept VALUES ($1)`, rows)
		rows++
		n, server := b.read(`SELECT count(*) FROM kept`)
		if by[server]++; n != rows {
			t.Fatalf("after %d writes the %s returned %d", rows, server, n)
		}
		if server == "primary" { // the machine was paused
			b.awaitReplica()
		}
	}
	if by["primary"] == 50 {
		t.Errorf("reads were served by %v, want nearly all by the replica", by)
	}
	standby.PauseReplay(true)
	began := time.Now()
	for range 400 {
		other.write(`INSERT INTO kept VALUES ($1)`, rows)
		rows++
		if n, server := b.read(`SELECT count(*) FROM kept`); n != rows || server != "primary" {
			t.Fatalf("after %d writes, with a replica that replays nothing, the %s returned %d", rows, server, n)
		}
	}
	if took := time.Since(began); took > 36*time.Second {
		t.Errorf("400 reads took %s with a replica that replays nothing, want only some of them to wait a tenth of "+
			"a second", took)
	}
	b.awaitSkipped("behind")
	if lag := b.replica.Status().Lag; lag < replica.Tolerated {
		t.Errorf("skipped a replica that is %s behind", lag)
	}
	for range 20 {
		if server := b.server(); server != "primary" {
			t.Errorf("with a replica that is far behind, the %s served the read, want the primary", server)
		}
	}
	standby.PauseReplay(false)
	b.awaitReplica()
	if n, _ := b.read(`SELECT count(*) FROM kept`); n != rows {
		t.Errorf("got %d of %d rows at the end", n, rows)
	}
	// Once and twice, unless the machine was paused.
	if passedOver, answers := b.countLogLines(); passedOver < 1 || answers != passedOver+1 {
		t.Errorf("the log reports %d times that it is skipped and %d times that it serves reads, want once for each change:\n%s", passedOver, answers, b.log)
	}
}

// A read on the replica writes nothing, and is one transaction.
func TestReplicaReadIsReadOnlyTransaction(t *testing.T) {
	t.Parallel()
	primary := dbtest.NewServer(t)
	b := newBench(t, primary, primary.NewStandby("reads").URL())
	b.awaitReplica()
	type seen struct {
		replica         bool
		readOnly, began string
	}
	expect.Eventually(t, "the replica serves a read", func() bool {
		var all []seen
		err := b.Read(t.Context(), func(on *ent.Client) error {
			all = nil
			for range 2 {
				s, err := db.One(t.Context(), on,
					func(s *seen) []any { return []any{&s.replica, &s.readOnly, &s.began} },
					`SELECT pg_is_in_recovery(), current_setting('transaction_read_only'), now()::text`)
				if err != nil {
					return err
				}
				all = append(all, s)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if all[0].replica && (all[0] != all[1] || all[0].readOnly != "on") {
			t.Errorf("two statements reported %+v, want one read-only transaction", all)
		}
		return all[0].replica
	})
}

func TestUnsuitableReplicaIsSkipped(t *testing.T) {
	t.Parallel()
	primary, other := dbtest.NewServer(t), dbtest.NewServer(t)
	other.BecomeForeign()
	for reason, server := range map[string]*dbtest.Server{"another cluster": other.NewStandby("foreign"),
		"accepts writes": primary} {
		b := newBench(t, primary, server.URL())
		b.awaitSkipped(reason)
		for range 3 {
			b.replica.CheckNow(t.Context())
		}
		if passedOver, answers := b.countLogLines(); passedOver != 1 || answers != 0 {
			t.Errorf("%s: the log reports %d times that it is skipped and %d times that it serves reads, want 1 and 0:\n%s", reason, passedOver, answers, b.log)
		}
	}
}

// A promoted replica accepts writes that the primary never sees. The connections to it stay open.
func TestPromotedReplicaIsSkipped(t *testing.T) {
	t.Parallel()
	primary := dbtest.NewServer(t)
	standby := primary.NewStandby("reads")
	b := newBench(t, primary, standby.URL())
	b.write(`CREATE TABLE kept (n int)`)
	b.awaitReplica()
	standby.Promote()
	promoted := &bench{t: t, DB: standby.Open()}
	promoted.write(`INSERT INTO kept SELECT generate_series(1, 1000)`)
	for range 50 {
		if n, server := b.read(`SELECT count(*) FROM kept`); n != 0 || server != "primary" {
			t.Fatalf("the %s returned %d rows that exist only on the promoted server", server, n)
		}
	}
	b.awaitSkipped("accepts writes")
}

// After a failover, the standbys of the new primary are used. A standby of the old primary may be further
// ahead, and is not used.
func TestStandbyOfOldPrimaryIsSkipped(t *testing.T) {
	t.Parallel()
	old := dbtest.NewServer(t)
	next, follows, stays := old.NewStandby("next"), old.NewStandby("follows"), old.NewStandby("stays")
	before := &bench{t: t, DB: old.Open()}
	before.write(`CREATE TABLE kept (n int)`)
	old.Stop()
	next.Promote()
	b := newBench(t, next, follows.URL())
	expect.EventuallyWithin(t, 15*time.Second, "the new primary accepts writes", func() bool {
		_, err := b.SQL.ExecContext(t.Context(), `INSERT INTO kept VALUES (1)`)
		return err == nil
	})
	follows.Follow(next)
	expect.Eventually(t, "the standby of the new primary serves reads", func() bool {
		n, server := b.read(`SELECT count(*) FROM kept`)
		if n != 1 {
			t.Errorf("the %s returned %d rows, want 1", server, n)
		}
		return server == "replica"
	})

	old.Start()
	before.write(`INSERT INTO kept SELECT generate_series(1, 100000)`)
	other, at := newBench(t, next, stays.URL()), stays.Open()
	expect.EventuallyWithin(t, 15*time.Second,
		"the standby of the old primary is further ahead than that of the new one",
		func() bool {
			ahead, err := db.One(t.Context(), at.SQL, db.Value[string], `SELECT pg_last_wal_replay_lsn()::text`)
			if err != nil {
				t.Fatal(err)
			}
			behind, err := db.One(t.Context(), b.SQL, db.Value[bool], fmt.Sprintf(`SELECT pg_current_wal_lsn() < '%s'::pg_lsn`, ahead))
			return err == nil && behind
		})
	other.awaitSkipped("timeline")
	if n, _ := other.read(`SELECT count(*) FROM kept`); n != 1 {
		t.Errorf("got %d rows, but the new primary has 1", n)
	}
}

// The replay on the replica cancels a conflicting query.
func TestRecoveryConflictFallsBackToPrimary(t *testing.T) {
	t.Parallel()
	primary := dbtest.NewServer(t)
	standby := primary.NewStandby("reads")
	at := standby.Open()
	for _, statement := range []string{`ALTER SYSTEM SET max_standby_streaming_delay = 0`, `SELECT pg_reload_conf()`} {
		if _, err := at.SQL.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	b := newBench(t, primary, standby.URL())
	b.write(`CREATE TABLE kept (n int)`)
	b.write(`INSERT INTO kept VALUES (1)`)
	var runs []string
	read := func() error {
		return b.Read(t.Context(), func(on *ent.Client) error {
			server, err := db.One(t.Context(), on, db.Value[string], `SELECT CASE WHEN pg_is_in_recovery() THEN 'replica' ELSE 'primary' END FROM kept`)
			if err != nil {
				return err
			}
			if runs = append(runs, server); server == "primary" {
				return nil
			}
			b.write(`ALTER TABLE kept ADD COLUMN more int`)
			for began := time.Now(); time.Since(began) < expect.Patience; { // until the replay has advanced far enough
				if _, err := db.One(t.Context(), on, db.Value[int], `SELECT n FROM kept`); err != nil {
					return err
				}
			}
			t.Error("the query never conflicted with the replay")
			return nil
		})
	}
	var err error
	expect.Eventually(t, "a read starts on the replica", func() bool {
		runs = nil
		err = read()
		return err != nil || strings.Join(runs, " ") != "primary" // on a slow machine, the read is sent to the primary
	})
	if err != nil || strings.Join(runs, " ") != "replica primary" {
		t.Errorf("a read ran on %v and ended with %v, want the replica and then the primary", runs, err)
	}
}

// An unresponsive replica costs little, and is used again automatically.
func TestSilentReplicaCausesLittleDelay(t *testing.T) {
	t.Parallel()
	primary := dbtest.NewServer(t)
	standby := primary.NewStandby("reads")
	standby.Stop()
	b := newBench(t, primary, standby.URL()) // the replica is unavailable at the start
	b.awaitSkipped("connect")
	standby.Start()
	b.awaitReplica()
	standby.Freeze()
	began := time.Now()
	for range 100 {
		if server := b.server(); server != "primary" {
			t.Errorf("with a frozen replica, the %s served the read, want the primary", server)
		}
	}
	if took := time.Since(began); took > 30*time.Second { // a third of a second for each would be more
		t.Errorf("100 reads took %s with a frozen replica", took)
	}
	expect.EventuallyWithin(t, 30*time.Second, "the frozen replica is skipped",
		func() bool { return b.replica.Status().PassedOver != "" })
	standby.Thaw()
	b.awaitReplica()
}
