package node

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

// outageOf stops the database of members until all have noticed, and returns when it was available again:
// when the first of them stored a beat, which may be before Start returns.
func outageOf(t *testing.T, server *dbtest.Server, members ...*member) (back time.Time) {
	t.Helper()
	for _, m := range members {
		eventually(t, "each process may claim", func() bool { return m.mayClaim() && m.mayRun() })
	}
	server.Stop()
	for _, m := range members {
		eventually(t, "the silence is long enough", func() bool { return m.SinceStored() > 2*quick.silent })
	}
	server.Start()
	for _, m := range members {
		eventually(t, "each process has detected the outage", func() bool {
			m.Node.mu.Lock()
			defer m.Node.mu.Unlock()
			if m.outage == nil {
				return false
			}
			if first := m.outage.limit.Add(-quick.patience); back.IsZero() || first.Before(back) {
				back = first
			}
			return true
		})
	}
	return back
}

// After an outage, no process claims while another one has earlier results, however long it takes to store
// them. Once they are stored, the others continue.
func TestClaimsWaitForEarlierResults(t *testing.T) {
	t.Parallel()
	server := dbtest.NewServer(t)
	d := server.Open()
	one, two := prepareMember(t, d, "one"), prepareMember(t, d, "two")
	one.times.patience, two.times.patience = time.Hour, time.Hour
	begin(t, one)
	begin(t, two)
	var results atomic.Int64
	results.Store(244)
	two.Watch(func(time.Time) int { return int(results.Load()) })
	outageOf(t, server, one, two)
	holdsFor(t, 2*quick.pause, "neither process may claim", func() bool { return !one.mayClaim() && !two.mayClaim() })
	if one.hasHanded(two.ID()) {
		t.Error("the claims of a process that is storing its results were released")
	}
	results.Store(0)
	eventually(t, "both processes may claim", func() bool { return one.mayClaim() && two.mayClaim() })
}

// No process waits forever, neither for one that cannot store its results nor for one that does not return
// from an outage.
func TestWaitAfterOutageIsLimited(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]func(t *testing.T, one, two *member) (noticing []*member){
		"a process cannot store its results": func(_ *testing.T, one, two *member) []*member {
			two.Watch(func(time.Time) int { return 1 })
			return []*member{one, two}
		},
		"a process does not return": func(t *testing.T, one, two *member) []*member {
			t.Helper()
			two.kill(t)
			return []*member{one}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := dbtest.NewServer(t)
			d := server.Open()
			one, two := join(t, d, "one"), join(t, d, "two")
			eventually(t, "both processes may claim", func() bool { return one.mayClaim() && two.mayClaim() })
			back := outageOf(t, server, c(t, one, two)...)
			eventually(t, "the other process may claim", one.mayClaim)
			if took := time.Since(back); took < quick.patience-quick.every {
				t.Errorf("it may claim %s after the outage, want not before %s", took, quick.patience)
			}
		})
	}
}

// A process that is silent alone, for example because of a broken cable, does not prevent others from
// claiming.
func TestSilentProcessDoesNotBlockOthers(t *testing.T) {
	t.Parallel()
	for range 20 {
		d := dbtest.New(t)
		one, two := join(t, d, "one"), prepareMember(t, d, "two")
		two.times.patience = time.Hour
		begin(t, two)
		two.Watch(func(time.Time) int { return 1 })
		eventually(t, "both processes may claim", func() bool { return one.mayClaim() && two.mayClaim() })
		dbtest.Exec(t, d, `UPDATE nodes SET seen_at = seen_at - interval '1 minute' WHERE id = $1`, two.ID()) // its next beat detects a silence
		eventually(t, "the silent process may not claim", func() bool { return !two.mayClaim() })
		may, undisturbed := true, true
		for end, looked := time.Now().Add(quick.pause), time.Now(); may && time.Now().
			Before(end); <-time.After(10 * time.Millisecond) {
			may = one.mayClaim()
			undisturbed = undisturbed && one.SinceStored() < quick.silent && time.Since(looked) < quick.every
			looked = time.Now()
		}
		if may {
			return
		}
		if undisturbed {
			t.Fatal("the other process may not claim while only one process is silent")
		}
		t.Log("the machine was paused so long that the other process was silent too, retrying")
	}
	t.Fatal("the machine was paused repeatedly")
}

// A beat that was stuck in a frozen server for too long changes nothing, and the next one counts.
func TestLateBeatHasNoEffect(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	m := prepareMember(t, d, "one")
	if err := m.registerNode(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := m.writeRow(t.Context()); err != nil {
		t.Fatal(err)
	}
	dbtest.Exec(t, d,
		`INSERT INTO nodes (name, version, roles, started_at, seen_at, claims_from) SELECT 'two', version, roles, started_at, seen_at, claims_from FROM nodes`)
	dbtest.Exec(t, d, `UPDATE nodes SET seen_at = seen_at - interval '1 hour', claims_from = '2026-01-01'`)
	m.mu.Lock()
	m.clock = m.clock.Add(-time.Hour) // as if the statement had been sent that long ago
	m.mu.Unlock()
	if _, err := m.writeRow(t.Context()); !errors.Is(err, errLate) {
		t.Errorf("a beat that is an hour late returned %v, want %v", err, errLate)
	}
	if n := count(t, d, `SELECT count(*) FROM nodes WHERE seen_at < now() - interval '50 minutes' AND claims_from = '2026-01-01' AND name = 'one'`); n != 1 {
		t.Error("the late beat changed the row")
	}
	if _, err := m.writeRow(t.Context()); err != nil {
		t.Errorf("the beat after a late one returned %v", err)
	}
	if n := count(t, d, `SELECT count(*) FROM nodes WHERE seen_at > now() - interval '50 minutes' AND claims_from > now()`); n != 1 {
		t.Error("the beat after a late one did not detect the silence")
	}
}

// After a silence, other processes get a pause in which they can store their results. A process that was
// alone before, and is alone now, only waits while it has results of its own.
func TestPauseIsOnlyForOtherProcesses(t *testing.T) {
	t.Parallel()
	const silence = `UPDATE nodes SET seen_at = seen_at - interval '1 hour', claims_from = '2026-01-01'`
	for name, c := range map[string]struct {
		also  string // in addition to the silence of all
		holds int    // earlier results
		want  bool   // no process claims for a while
	}{
		"alone":                            {},
		"alone with earlier results":       {holds: 1, want: true},
		"another process was alive before": {also: `INSERT INTO nodes (name, version, roles, started_at, seen_at, claims_from) SELECT 'two', version, roles, started_at, seen_at, claims_from FROM nodes`, want: true},
		"another process has returned":     {also: `INSERT INTO nodes (name, version, roles, started_at, seen_at, claims_from) SELECT 'two', version, roles, started_at, now(), claims_from FROM nodes`, want: true},
		"another process was already dead": {also: `INSERT INTO nodes (name, version, roles, started_at, seen_at, claims_from) SELECT 'two', version, roles, started_at, seen_at - interval '5 seconds', claims_from FROM nodes`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := dbtest.New(t)
			m := prepareMember(t, d, "one")
			m.Watch(func(time.Time) int { return c.holds })
			if err := m.registerNode(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := m.writeRow(t.Context()); err != nil {
				t.Fatal(err)
			}
			dbtest.Exec(t, d, silence)
			if c.also != "" {
				dbtest.Exec(t, d, c.also)
			}
			m.mu.Lock() // as if its own last beat were as old
			m.beat, m.clock = m.beat.Add(-time.Hour), time.Time{}
			m.clockAt = time.Time{}
			m.mu.Unlock()
			if _, err := m.writeRow(t.Context()); err != nil {
				t.Fatalf("the beat after the silence returned %v, want none", err)
			}
			if waits := !m.mayClaim(); waits != c.want {
				t.Errorf("after the silence, the process waits: %v, want %v", waits, c.want)
			}
		})
	}
}
