package node

import (
	"context"
	"log/slog"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/work/node/machine"
)

// quick contains the standard durations divided by three, so that a busy machine does not count as an outage.
var quick = timing{every: 600 * time.Millisecond, again: 150 * time.Millisecond, silent: 2400 * time.Millisecond,
	holds: 3 * time.Second,
	gone:  3600 * time.Millisecond, pause: 3600 * time.Millisecond, forget: time.Hour, patience: 12 * time.Second,
	look: 600 * time.Millisecond}

// member is a node with the connection that holds its lock.
type member struct {
	*Node

	signals *db.Signals
	mu      sync.Mutex
	handed  []int32 // nodes whose claims it has released
}

// join starts a node with a name. It ends with the test.
func join(t *testing.T, d *db.DB, name string) *member {
	t.Helper()
	m := prepareMember(t, d, name)
	begin(t, m)
	return m
}

// begin starts a prepared member. It ends with the test.
func begin(t *testing.T, m *member) {
	t.Helper()
	if err := m.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
}

// changing is a machine whose addresses change.
type changing struct {
	now atomic.Pointer[machine.Networks]
}

func (c *changing) set(addresses ...string) {
	var list machine.Networks
	for _, text := range addresses {
		list = append(list, machine.SingleNetwork(netip.MustParseAddr(text)))
	}
	c.now.Store(&list)
}

func (c *changing) List() (machine.Networks, error) { return c.now.Load().List() }
func (c *changing) Has(addr netip.Addr) bool        { return c.now.Load().Has(addr) }

func prepareMember(t *testing.T, d *db.DB, name string) *member {
	t.Helper()
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	signals, err := db.NewSignals(d, log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := signals.Close(); err != nil {
			t.Error(err)
		}
	})
	n, err := New(Params{DB: d, Signals: signals, Name: name, Version: "v1", Roles: []string{Accepts, Delivers},
		Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	n.times = quick
	m := &member{Node: n, signals: signals}
	n.OnDead("claims", func(_ context.Context, id int32) (int64, error) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.handed = append(m.handed, id)
		return 1, nil
	})
	return m
}

// hasHanded reports whether the member has released the claims of a node.
func (m *member) hasHanded(id int32) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Contains(m.handed, id)
}

// mayClaim reports whether the member may claim now.
func (m *member) mayClaim() bool { return isAllowed(m.AwaitClaim) }

// mayRun reports whether claimed jobs may start now.
func (m *member) mayRun() bool { return isAllowed(m.AwaitRun) }

func isAllowed(await func(<-chan struct{}) bool) bool {
	stop := make(chan struct{})
	close(stop)
	return await(stop)
}

// kill ends a member like kill -9 does: it beats no more, and its lock is released, because the server
// detects the closed connection.
func (m *member) kill(t *testing.T) {
	t.Helper()
	lock, _ := m.signals.Lock()
	m.tasks.Stop(t.Context())
	m.started = false // so that Stop leaves the row
	if err := m.signals.Close(); err != nil {
		t.Error(err)
	}
	eventually(t, "the lock of the killed process is free", func() bool {
		return count(t, m.db, `SELECT count(*) FROM pg_locks WHERE `+holds, lock) == 0
	})
}

// holds is the condition on pg_locks for the holder of a lock.
const holds = `locktype = 'advisory' AND classid::bigint << 32 | objid::bigint = $1`

func count(t *testing.T, d *db.DB, query string, args ...any) (n int) {
	t.Helper()
	if err := d.SQL.QueryRowContext(t.Context(), query, args...).Scan(&n); err != nil {
		t.Fatalf("the query %s failed: %v", query, err)
	}
	return n
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	expect.EventuallyWithin(t, 20*time.Second, what, holds)
}

// holdsFor fails the test if a condition stops holding within a time.
func holdsFor(t *testing.T, wait time.Duration, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(wait); time.Now().Before(end); <-time.After(10 * time.Millisecond) {
		if !holds() {
			t.Fatalf("within %s, this no longer held: %s", wait, what)
		}
	}
}

func TestNodeRegistersAndLeaves(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	m := join(t, d, "one")
	eventually(t, "the row contains the lock", func() bool {
		key, held := m.signals.Lock()
		return held && count(t, d, `SELECT count(*) FROM nodes WHERE lock = $1`, key) == 1
	})
	var name, version, roles string
	if err := d.SQL.QueryRowContext(t.Context(), `SELECT name, version, roles FROM nodes WHERE id = $1`, m.ID()).Scan(&name, &version, &roles); err != nil {
		t.Fatal(err)
	}
	if name != "one" || version != "v1" || roles != `["accepts", "delivers"]` {
		t.Errorf("the row contains %s, %s, %s", name, version, roles)
	}
	eventually(t, "a node that is alone may claim, holds what it claims, and has stored a beat", func() bool {
		return m.mayClaim() && m.Holds(time.Now()) && m.SinceStored() < quick.silent
	})
	eventually(t, "it may begin", m.mayRun)
	seen := func() int {
		return count(t, d, `SELECT (extract(epoch FROM seen_at - started_at) * 1000)::int FROM nodes`)
	}
	first := seen()
	eventually(t, "it beats", func() bool { return seen() > first })
	if err := m.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := count(t, d, `SELECT count(*) FROM nodes`); n != 0 {
		t.Errorf("got %d rows after Stop", n)
	}
}

// The claims of a dead process are released: immediately by a process with the same name, after a while by
// another one, and never while it lives.
func TestClaimsOfDeadNodeAreReleased(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	other := join(t, d, "other")
	first := join(t, d, "one")
	eventually(t, "both processes hold their locks", func() bool { return first.mayRun() && other.mayRun() })
	id := first.ID()
	twin := join(t, d, "one")
	eventually(t, "the twin has checked for dead processes", func() bool { return twin.mayRun() })
	holdsFor(t, 3*quick.every, "the claims of a live process were released",
		func() bool { return !twin.hasHanded(id) && !other.hasHanded(id) })
	twin.kill(t)
	first.kill(t)
	var beaten time.Time // by the clock of this machine, which is also that of the database
	if err := d.SQL.QueryRowContext(t.Context(), `SELECT seen_at FROM nodes WHERE id = $1`, id).Scan(&beaten); err != nil {
		t.Fatal(err)
	}
	again := prepareMember(t, d, "one")
	if err := again.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = again.Stop(t.Context()) }()
	eventually(t, "a process with the same name releases them", func() bool { return again.hasHanded(id) })
	eventually(t, "another process releases them too", func() bool { return other.hasHanded(id) })
	if took := time.Since(beaten); took < quick.gone {
		t.Errorf("a process with another name released the claims %s after the last beat, want not before %s", took,
			quick.gone)
	}
	if again.hasHanded(again.ID()) || other.hasHanded(again.ID()) {
		t.Error("the claims of a live node were released")
	}
}

// An outage of the database is followed by a pause, in which processes with results can store them. This also
// applies to a process that starts during the outage and has not seen its beginning.
func TestOutageIsFollowedByPause(t *testing.T) {
	t.Parallel()
	server := dbtest.NewServer(t)
	d := server.Open()
	one, two := join(t, d, "one"), join(t, d, "two")
	eventually(t, "both processes may claim", func() bool {
		return one.mayClaim() && two.mayClaim() && one.mayRun() &&
			two.mayRun()
	})
	before, back := time.Now(), one.RecoverySignal()
	server.Stop()
	eventually(t, "neither process may claim", func() bool { return !one.mayClaim() && !two.mayClaim() })
	eventually(t, "no process holds the claims", func() bool { return !one.Holds(before) && !two.Holds(before) })
	eventually(t, "the silence is long enough", func() bool { return one.SinceStored() > 2*quick.silent })
	stopped := time.Now()
	server.Start()
	fresh := join(t, d, "fresh")
	for _, m := range []*member{one, two, fresh} {
		eventually(t, "a beat is stored", func() bool { return m.SinceStored() < quick.silent })
	}
	// The database is available again with the first beat that it stores, which may be before Start returns.
	var claimsFrom time.Time
	if err := d.SQL.QueryRowContext(t.Context(), `SELECT min(claims_from) FROM nodes`).Scan(&claimsFrom); err != nil {
		t.Fatal(err)
	}
	up := claimsFrom.Add(-quick.pause)
	if up.Before(stopped) {
		t.Errorf("a process may claim from %s on, %s after the outage, want not before %s", claimsFrom,
			claimsFrom.Sub(stopped), quick.pause)
	}
	select {
	case <-back:
	case <-time.After(expect.Patience):
		t.Error("a heartbeat is stored, but the recovery of the database was not reported")
	}
	for name, m := range map[string]*member{"one": one, "two": two, "fresh": fresh} {
		eventually(t, name+" may claim again", m.mayClaim)
		if took := time.Since(up); took < quick.pause {
			t.Errorf("%s may claim %s after the outage, want not before %s", name, took, quick.pause)
		}
		if m.Holds(before) {
			t.Errorf("%s still holds claims from before the outage, which others may have taken", name)
		}
	}
	if one.hasHanded(two.ID()) || two.hasHanded(one.ID()) || fresh.hasHanded(one.ID()) {
		t.Error("after the outage, the claims of a live node were released")
	}
}

// A starting process waits if others are silent, like after an outage. It does not wait if another process
// has been beating all the time, nor for a process that it replaces.
func TestNewNodeWaitsForSilentNodes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rows string
		want bool
	}{
		"alone":                               {``, true},
		"the one before it was killed":        {`('fresh', now() - interval '5 seconds', now() - interval '1 hour')`, true},
		"another one is silent":               {`('a', now() - interval '5 seconds', now() - interval '1 hour')`, false},
		"another one was silent so long":      {`('a', now() - interval '2 hours', now() - interval '3 hours')`, true},
		"one is silent, one beats steadily":   {`('a', now() - interval '5 seconds', now() - interval '1 hour'), ('b', now(), now() - interval '1 hour')`, true},
		"one is silent, one is back just now": {`('a', now() - interval '5 seconds', now() - interval '1 hour'), ('b', now(), now() + interval '3 seconds')`, false},
		"the only other is back just now":     {`('a', now(), now() + interval '3 seconds')`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var d *db.DB
			var m *member
			var started time.Time
			// repeated if the machine was paused, because the rows are seconds old
			for tries, took := 0, time.Hour; took > time.Second; tries++ {
				if tries == 20 {
					t.Fatal("the machine was paused repeatedly")
				}
				d = dbtest.New(t)
				begun := time.Now()
				if c.rows != "" {
					dbtest.Exec(t, d,
						`INSERT INTO nodes (name, version, roles, started_at, seen_at, claims_from) SELECT v.name, 'v1', '[]', v.from_, v.seen, v.from_ FROM (VALUES `+c.rows+`) AS v (name, seen, from_)`)
				}
				started = time.Now()
				m = join(t, d, "fresh")
				may := m.mayClaim()
				if took = time.Since(begun); took <= time.Second && may != c.want {
					t.Errorf("it may claim immediately: %v, want %v", may, c.want)
				}
			}
			eventually(t, "it may claim", m.mayClaim)
			if took := time.Since(started); !c.want && took < quick.pause {
				t.Errorf("the process waited %s, want %s", took, quick.pause)
			}
		})
	}
}

// A process that loses the connection with its lock starts nothing until it holds a lock again.
func TestNodeWithoutLockStartsNoJobs(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	m := join(t, d, "one")
	eventually(t, "it may begin", m.mayRun)
	lock, _ := m.signals.Lock()
	dbtest.Exec(t, d, `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE `+holds, lock)
	eventually(t, "it holds another lock, which its row contains", func() bool {
		now, held := m.signals.Lock()
		return held && now != lock && m.mayRun() && count(t, d, `SELECT count(*) FROM nodes WHERE lock = $1`, now) == 1
	})
	quiet := prepareMember(t, d, "two") // it does not beat
	eventually(t, "it has a lock", func() bool { _, held := quiet.signals.Lock(); return held })
	if quiet.mayRun() {
		t.Error("it may begin although no row contains its lock")
	}
	key, _ := quiet.signals.Lock()
	quiet.recordBeat(beatResult{sent: time.Now(), lock: key})
	if !quiet.mayRun() {
		t.Error("it may not begin although its row contains its lock")
	}
}

func TestDeletedRowIsRecreated(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	m := join(t, d, "one")
	old := m.ID()
	dbtest.Exec(t, d, `DELETE FROM nodes`)
	eventually(t, "the process has a row again", func() bool {
		return m.ID() != old && count(t, d, `SELECT count(*) FROM nodes WHERE id = $1`, m.ID()) == 1
	})
	eventually(t, "it may begin", m.mayRun)
}

// Rows of an hour are kept. Of older ones, the latest are kept for a day, so that faults can name the process.
func TestOldRowsAreDeleted(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	dbtest.Exec(t, d,
		`INSERT INTO nodes (name, version, roles, started_at, seen_at, claims_from) SELECT 'old', 'v1', '[]', now(), now() - i, now()
			FROM unnest(array_fill(interval '2 hours', ARRAY[25]) || ARRAY[interval '10 minutes', interval '26 hours']) WITH ORDINALITY u (i, n) ORDER BY n`)
	join(t, d, "one")
	eventually(t, "the latest 20 rows remain, except one of the day before",
		func() bool { return count(t, d, `SELECT count(*) FROM nodes`) == 19 })
	if n := count(t, d, `SELECT count(*) FROM nodes WHERE seen_at > now() - interval '1 hour'`); n != 2 {
		t.Errorf("%d rows of the last hour remain, want 2", n)
	}
}

// The standard durations fulfill the promises of the package.
func TestStandardDurationsAreConsistent(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]timing{"standard": standard, "quick": quick} {
		if s.holds >= s.gone {
			t.Errorf("%s: irreversible steps may happen until %s after a beat, but claims are released after %s", name,
				s.holds, s.gone)
		}
		if s.silent < 2*s.every || s.silent > s.holds {
			t.Errorf("%s: a process is silent after %s, but beats every %s", name, s.silent, s.every)
		}
	}
}

// After a failover, the database clock may be that of another server, and slow. An outage during the lifetime
// of this process is still detected.
func TestSilenceIsDetectedDespiteDatabaseClock(t *testing.T) {
	t.Parallel()
	m := prepareMember(t, dbtest.New(t), "one")
	long := time.Now().Add(-2 * quick.silent)
	m.recordBeat(beatResult{sent: long, seen: long})
	if m.mayClaim() || m.Holds(long) {
		t.Error("a silent node may claim, or still holds its claims")
	}
	since := time.Now()
	m.recordBeat(beatResult{sent: time.Now(), seen: long.Add(-time.Hour)})
	if m.mayClaim() || m.Holds(long) {
		t.Error("right after a silence, the node may claim, or still holds earlier claims")
	}
	if !m.Holds(time.Now()) {
		t.Error("the node does not hold its new claims")
	}
	eventually(t, "the node may claim after the pause", func() bool {
		m.recordBeat(beatResult{sent: time.Now(), seen: long})
		return m.mayClaim()
	})
	if took := time.Since(since); took < quick.pause {
		t.Errorf("the node may claim after %s, want not before %s", took, quick.pause)
	}
}
