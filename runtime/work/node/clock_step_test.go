package node

import (
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/storage/clockstep"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

// After the database clock stepped back, rows remain whose times are an hour ahead. A running process
// continues to claim.
func TestProcessClaimsAfterClockStepBack(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	m, other := join(t, d, "one"), join(t, d, "two")
	eventually(t, "both may claim", func() bool { return m.mayClaim() && other.mayClaim() })
	dbtest.Exec(t, d,
		`UPDATE nodes SET started_at = started_at + interval '1 hour', seen_at = seen_at + interval '1 hour', claims_from = claims_from + interval '1 hour'`)
	eventually(t, "beats have the current time", func() bool {
		return count(t, d, `SELECT count(*) FROM nodes WHERE seen_at <= now() AND claims_from <= now() + interval '10 seconds'`) == 2
	})
	eventually(t, "both may claim again", func() bool { return m.mayClaim() && other.mayClaim() })
}

// A process that died while the clock was ahead does not prevent others from claiming, and its claims are
// released.
func TestDeadProcessWithFutureBeatIsReleased(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"one", "two"} { // a restart, and another process
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := dbtest.New(t)
			dead := join(t, d, "one")
			eventually(t, "it may claim", dead.mayClaim)
			id := dead.ID()
			dead.kill(t)
			dbtest.Exec(t, d,
				`UPDATE nodes SET started_at = started_at + interval '1 hour', seen_at = now() + interval '1 hour', claims_from = now() + interval '1 hour'`)
			m := join(t, d, name)
			eventually(t, "the next one may claim", m.mayClaim)
			eventually(t, "the claims of the dead process are released", func() bool { return m.hasHanded(id) })
		})
	}
}

// Another process repairs rows of dead ones as soon as it notices them.
func TestRowsOfDeadProcessesAreRepaired(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	m := join(t, d, "one")
	dbtest.Exec(t, d,
		`INSERT INTO nodes (started_at, name, version, roles, seen_at, claims_from, lock) SELECT at, 'dead', 'v1', '[]', at, at, 4711 FROM (SELECT now() + interval '1 hour' AS at) a`)
	eventually(t, "the row is visible", func() bool { return len(m.Others()) == 1 && m.Others()[0].Alive })
	rows, err := m.RepairTimes(t.Context(), clockstep.Step{})
	if err != nil || rows != 1 {
		t.Fatalf("RepairTimes returned %d, %v; want 1", rows, err)
	}
	eventually(t, "it counts as dead", func() bool { return len(m.Others()) == 1 && !m.Others()[0].Alive })
	if rows, err := m.RepairTimes(t.Context(), clockstep.Step{}); err != nil || rows != 0 {
		t.Errorf("the second RepairTimes returned %d, %v; want 0", rows, err)
	}
}

// Each beat reads the database clock.
func TestBeatReadsDatabaseClock(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	m := prepareMember(t, d, "one")
	type reading struct{ sent, answered, seen time.Time }
	readings := make(chan reading, 100)
	m.observe = func(sent, answered, seen time.Time) { readings <- reading{sent, answered, seen} }
	begin(t, m)
	for range 3 {
		r := <-readings
		if r.answered.Before(r.sent) || r.seen.Sub(r.sent).Abs() > time.Minute {
			t.Errorf("the clock showed %s, with the query sent at %s and answered at %s", r.seen, r.sent, r.answered)
		}
	}
}
