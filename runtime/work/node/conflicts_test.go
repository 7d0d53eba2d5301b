package node

import (
	"log/slog"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/work/node/machine"
)

// A row lists the addresses of its machine and follows changes. Results of trial connections take precedence.
func TestRowListsMachineAddresses(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	one, two := prepareMember(t, d, "one"), join(t, d, "two")
	var now changing
	now.set("198.51.100.7", "198.51.100.9")
	one.own.machine, one.egress = &now, "office"
	begin(t, one)
	lists := func(want ...string) {
		t.Helper()
		eventually(t, "one lists "+strings.Join(want, ", "), func() bool {
			i := slices.IndexFunc(two.Others(), func(p Process) bool { return p.Name == "one" })
			return i >= 0 && slices.Equal(two.Others()[i].Addresses.Texts(), want)
		})
	}
	lists("198.51.100.7", "198.51.100.9")
	one.RecordTrials(map[netip.Addr]bool{netip.MustParseAddr("198.51.100.9"): false,
		netip.MustParseAddr("203.0.113.5"): true})
	lists("203.0.113.5", "198.51.100.7")
	now.set("198.51.100.8")
	lists("203.0.113.5", "198.51.100.8")
	dbtest.Exec(t, d, `DELETE FROM nodes WHERE name = 'one'`) // a new row begins with the whole list
	eventually(t, "the new row has the addresses", func() bool {
		return count(t, d, `SELECT count(*) FROM nodes WHERE name = 'one' AND addresses = '["203.0.113.5", "198.51.100.8"]'`) == 1
	})
	lists("203.0.113.5", "198.51.100.8")

	eventually(t, "the second process sees the first again", func() bool { return len(two.Others()) == 1 })
	p := two.Others()[0]
	if !p.Alive || p.Egress != "office" || !p.DeliversFrom(netip.MustParseAddr("198.51.100.8"), "") ||
		!p.DeliversFrom(netip.MustParseAddr("198.51.100.8"), "one") {
		t.Errorf("the second process sees %+v, want the first at office, delivering from 198.51.100.8", p)
	}
	if p.DeliversFrom(netip.MustParseAddr("198.51.100.7"), "") ||
		p.DeliversFrom(netip.MustParseAddr("198.51.100.8"), "two") {
		t.Error("DeliversFrom is true for a missing address or another name")
	}
	var many machine.Networks
	for i := range 300 {
		many = append(many, machine.SingleNetwork(netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)})))
	}
	now.now.Store(&many)
	eventually(t, "the row has 256 addresses", func() bool {
		return count(t, d, `SELECT coalesce(max(jsonb_array_length(addresses)), 0) FROM nodes WHERE name = 'one'`) == mostAddresses
	})
}

// A row of a newer version contains values that this version does not know: a column, a role, an address
// format. A row of an older version has fewer values. Beats continue with both, and known values are used.
func TestRowsOfOtherVersionsAreRead(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	one := join(t, d, "one")
	dbtest.Exec(t, d, `ALTER TABLE nodes ADD COLUMN shard jsonb`)
	dbtest.Exec(t, d, `INSERT INTO nodes (name, version, roles, started_at, seen_at, claims_from, addresses, egress, shard) VALUES
		('newer', 'v9', '["delivers", "routes"]', now(), now() + interval '1 hour', now(), '["198.51.100.7", "wireguard:office", "198.51.100.0/33"]', 'office', '{"of": 7}')`)
	dbtest.Exec(t, d,
		`INSERT INTO nodes (name, version, roles, started_at, seen_at, claims_from) VALUES ('older', 'v0', '[]', now(), now() + interval '1 hour', now())`)
	eventually(t, "the process sees both rows", func() bool { return len(one.Others()) == 2 })
	before := one.SinceStored()
	eventually(t, "beats continue", func() bool { return one.SinceStored() < before || one.mayClaim() })
	for _, p := range one.Others() {
		addr := netip.MustParseAddr("198.51.100.7")
		if newer := p.Name == "newer"; !p.Alive || p.Is(Delivers) != newer || p.Is("routes") != newer ||
			p.DeliversFrom(addr, "") != newer || len(p.Addresses) > 1 || p.Is(Accepts) {
			t.Errorf("the process sees %+v", p)
		}
	}
}

// Each process counts the live processes by role. A killed process is no longer counted, and is shown as
// silent.
func TestLiveProcessesAreCounted(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	one, two := join(t, d, "one"), join(t, d, "two")
	reg := prometheus.NewRegistry()
	if err := one.Register(reg); err != nil {
		t.Fatal(err)
	}
	counts := func(want map[string]float64) func() bool {
		return func() bool {
			families, err := reg.Gather()
			if err != nil || len(families) != 1 || families[0].GetName() != "postrider_nodes" {
				t.Fatalf("the registry has the metrics %v, %v", families, err)
			}
			got := map[string]float64{}
			for _, m := range families[0].GetMetric() {
				got[m.GetLabel()[0].GetValue()] = m.GetGauge().GetValue()
			}
			return maps.Equal(got, want)
		}
	}
	eventually(t, "two processes are counted", counts(map[string]float64{Accepts: 2, Delivers: 2, Webhooks: 0}))
	two.kill(t)
	eventually(t, "one process is counted", counts(map[string]float64{Accepts: 1, Delivers: 1, Webhooks: 0}))
	if p := one.Others()[0]; p.Name != "two" || p.Alive || p.Silent < quick.gone {
		t.Errorf("the first process sees %+v, want the second, silent", p)
	}
}

// If two processes have the same name, both log this once. A process that was killed and restarted does not
// count as two.
func TestDuplicateNameIsLogged(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	var logs [3]expect.Log
	member := func(i int) *member {
		m := prepareMember(t, d, "twin")
		m.log = slog.New(slog.NewTextHandler(&logs[i], nil))
		begin(t, m)
		return m
	}
	told := func(i int) int { return strings.Count(logs[i].String(), "another process has the same name") }
	first := member(0)
	first.kill(t)
	second := member(1)
	eventually(t, "the claims of the first process are released", func() bool { return second.hasHanded(first.ID()) })
	if told(1) != 0 {
		t.Errorf("after a restart, the log is\n%s", &logs[1])
	}
	member(2)
	eventually(t, "both processes have logged the conflict", func() bool { return told(1) == 1 && told(2) == 1 })
	beats := second.Others()[0].SeenAt
	eventually(t, "two beats have passed", func() bool {
		return len(second.Others()) > 0 && second.Others()[len(second.Others())-1].SeenAt.Sub(beats) > 2*quick.every
	})
	if told(1) != 1 || told(2) != 1 {
		t.Errorf("the conflict was logged %d and %d times, want once each", told(1), told(2))
	}
}

// A clock that differs from the database's is reported in the log and in the row. Claims and the detection of dead
// processes use the database clock and continue.
func TestWrongClockIsReported(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	var log expect.Log
	wrong := prepareMember(t, d, "wrong")
	corrected := make(chan time.Duration, 100)
	wrong.correct = func(by time.Duration) { corrected <- by }
	wrong.log, wrong.times.skew = slog.New(slog.NewTextHandler(&log, nil)), -time.Hour
	begin(t, wrong)
	right := join(t, d, "right")
	eventually(t, "the row reports the clock", func() bool {
		all, err := right.Processes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return all[0].ClockAhead != nil && *all[0].ClockAhead < -3_590_000 && all[1].ClockAhead == nil
	})
	if !strings.Contains(log.String(), "the clock of this machine and that of the database differ") ||
		!strings.Contains(log.String(), "ahead=-59m") && !strings.Contains(log.String(), "ahead=-1h0m") {
		t.Errorf("the log is\n%s", &log)
	}
	eventually(t, "both may claim", func() bool { return wrong.mayClaim() && right.mayClaim() })
	if by := <-corrected; len(corrected) != 0 || by > -time.Hour+time.Minute || by < -time.Hour-time.Minute {
		t.Errorf("the correction of a clock that is an hour behind was %s, and %d more; want one", by, len(corrected))
	}
	if !right.Others()[0].Alive || !wrong.Self().Alive {
		t.Error("a process with a wrong clock was treated as dead")
	}
	for name, c := range map[string]struct{ sent, answered, seen, want time.Duration }{
		"within the response time": {0, 2 * time.Second, time.Second, 0},
		"behind":                   {0, time.Second, 61 * time.Second, -time.Minute},
		"ahead":                    {61 * time.Second, 62 * time.Second, time.Second, time.Minute},
	} {
		begin := time.Now()
		if got := aheadBy(begin.Add(c.sent), begin.Add(c.answered), begin.Round(0).Add(c.seen)); got != c.want {
			t.Errorf("%s: the clock is %s ahead, want %s", name, got, c.want)
		}
	}
}
