package outbound

import (
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/work/node"
	"github.com/postrider/postrider/runtime/work/node/machine"
)

// fleet is the set of processes known to one of them.
type fleet struct {
	self   node.Process
	others []node.Process
	tried  map[netip.Addr]bool
}

func (f *fleet) Self() node.Process                         { return f.self }
func (f *fleet) Others() []node.Process                     { return f.others }
func (f *fleet) Has(addr netip.Addr) bool                   { return f.self.Addresses.Has(addr) }
func (f *fleet) RecordTrials(addresses map[netip.Addr]bool) { f.tried = addresses }

func process(name string, addresses ...string) node.Process {
	p := node.Process{Name: name, Roles: []string{node.Delivers}, Egress: "here", Alive: true}
	for _, text := range addresses {
		p.Addresses = append(p.Addresses, machine.SingleNetwork(netip.MustParseAddr(text)))
	}
	return p
}

// among turns a world's service into one of several processes.
func (w *world) among(t *testing.T, f *fleet, goneAfter time.Duration) *Ways {
	t.Helper()
	w.logged.Reset()
	s, err := NewWays(WaysParams{Config: Config{ReadEvery: time.Hour, GoneAfter: goneAfter}, DB: w.db,
		Accounts: w.accounts, Nodes: f, Logger: slog.New(slog.NewTextHandler(w.logged, nil))})
	if err != nil {
		t.Fatal(err)
	}
	start(t, s)
	return s
}

// A process first chooses its own addresses, then those of other processes, then those that recently lost
// their process. The plan's order of pools takes precedence.
func TestNearestAddressIsChosen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(t, SourceInput{Address: "192.0.2.1", Pool: "shared"}, SourceInput{Address: "192.0.2.2", Pool: "shared"},
		SourceInput{Address: "192.0.2.3", Pool: "shared", Node: "two"},
		SourceInput{Address: "192.0.2.4", Pool: "pool"},
		SourceInput{Address: "192.0.2.5", Pool: "dedicated", Account: w.dedicated},
		SourceInput{Address: "192.0.2.6", Pool: "shared", Hostname: "pair.example.com"},
		SourceInput{Address: "2001:db8::6", Pool: "shared", Hostname: "pair.example.com"})
	f := &fleet{self: process("one", "192.0.2.1", "192.0.2.3", "2001:db8::6"),
		others: []node.Process{process("two", "192.0.2.2", "192.0.2.3", "192.0.2.5")}}
	s := w.among(t, f, time.Hour)
	from := map[string]bool{}
	for _, destination := range []string{"a.example", "b.example", "c.example", "d.example", "e.example", "f.example",
		"g.example", "h.example", "i.example"} {
		for _, label := range choose(t, s, 1, Question{AccountID: w.free, Destination: destination}) {
			from[label] = true
		}
	}
	if !from["192.0.2.1"] || !from["192.0.2.6"] || len(from) != 2 {
		t.Errorf("mail is sent from %v, want only the local addresses: 192.0.2.1 and the pair", from)
	}
	for label, want := range map[string]Routing{"192.0.2.1": Open, "192.0.2.2": OnOtherNode, "192.0.2.3": OnOtherNode,
		"192.0.2.4": OnOtherNode, "192.0.2.5": OnOtherNode, "192.0.2.6": Open, "": Open, "smarthost:a:25": Open, "192.0.2.99": Open} {
		if got := s.RoutingOf(label); got != want {
			t.Errorf("Place of %q is %d, want %d", label, got, want)
		}
	}
	if got := s.known.findOutlet("192.0.2.6").
		way.LocalAddrs; !slices.Equal(got, []netip.Addr{netip.MustParseAddr("2001:db8::6")}) {
		t.Errorf("mail of a pair with only a local IPv6 address is sent from %v", got)
	}
	if got := choose(t, s, 1, Question{AccountID: w.dedicated}); got[0] != "192.0.2.5" {
		t.Errorf("mail of an account with an address on another process is sent from %q, want that address", got[0])
	}
	if got := choose(t, s, 1, Question{AccountID: w.pool}); got[0] != "192.0.2.4" {
		t.Errorf("mail of an account on the plan pool is sent from %q, want the address of its pool that recently "+
			"lost its process", got[0])
	}
	if has, known := f.tried[netip.MustParseAddr("192.0.2.2")]; has || !known ||
		!f.tried[netip.MustParseAddr("192.0.2.1")] {
		t.Errorf("the node received the addresses %v", f.tried)
	}
}

// An address that no process has had for long is skipped, except for an account's own address, whose mail
// waits. This is logged once. When a process has the address again, it is used immediately.
func TestOrphanedAddressIsSkipped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(t, SourceInput{Address: "192.0.2.1", Pool: "shared"},
		SourceInput{Address: "192.0.2.5", Pool: "dedicated", Account: w.dedicated})
	dead := process("two", "192.0.2.1", "192.0.2.5")
	dead.Alive, dead.Silent = false, 30*time.Minute
	f := &fleet{self: process("one"), others: []node.Process{dead}}
	s := w.among(t, f, 10*time.Minute)
	reread(t, s)
	if got := choose(t, s, 1, Question{AccountID: w.free}); got[0] != "" || s.RoutingOf("192.0.2.1") != Orphaned {
		t.Errorf("mail is sent from %q (Place %d), want the machine's own address", got[0], s.RoutingOf("192.0.2.1"))
	}
	if got := choose(t, s, 1, Question{AccountID: w.dedicated}); got[0] != "192.0.2.5" ||
		s.RoutingOf("192.0.2.5") != Unroutable {
		t.Errorf("mail for an account's own address is sent from %q (Place %d), want it to wait", got[0],
			s.RoutingOf("192.0.2.5"))
	}
	if n := strings.Count(w.logged.String(), "no process has a source address"); n != 2 {
		t.Errorf("got %d log lines for two addresses:\n%s", n, w.logged)
	}
	f.others[0].Alive, f.others[0].Silent = true, 0
	reread(t, s)
	if s.RoutingOf("192.0.2.1") != OnOtherNode || s.RoutingOf("192.0.2.5") != OnOtherNode {
		t.Error("a process has returned, but mail queued for its addresses is not left to it")
	}
	f.others = nil
	reread(t, s)
	if got := choose(t, s, 1, Question{AccountID: w.free}); got[0] != "192.0.2.1" ||
		s.RoutingOf("192.0.2.1") != OnOtherNode {
		t.Errorf("right after the process ended, mail is sent from %q, want it to wait for the address", got[0])
	}
	// With a local address in the same pool, queued mail is chosen again immediately.
	w.add(t, SourceInput{Address: "192.0.2.2", Pool: "shared"})
	f.self = process("one", "192.0.2.2")
	reread(t, s)
	if got := choose(t, s, 1, Question{AccountID: w.free}); got[0] != "192.0.2.2" ||
		s.RoutingOf("192.0.2.1") != Orphaned ||
		s.RoutingOf("192.0.2.5") != OnOtherNode {
		t.Errorf("with a local address, mail is sent from %q, and Place of the queued mail is %d and %d", got[0],
			s.RoutingOf("192.0.2.1"), s.RoutingOf("192.0.2.5"))
	}
}

// The queue is notified immediately when an address moves to this process, and not when an address moves
// away.
func TestGainedReportsMovedAddress(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(t, SourceInput{Address: "192.0.2.1", Pool: "shared", Node: "two"})
	f := &fleet{self: process("one", "192.0.2.1"), others: []node.Process{process("two", "192.0.2.1")}}
	s := w.among(t, f, time.Hour)
	gained := func() bool {
		select {
		case <-s.GainedWays():
			return true
		default:
			return false
		}
	}
	for _, c := range []struct {
		to   string
		want bool
	}{{"two", false}, {"one", true}, {"one", false}, {"two", false}} {
		if _, err := w.MoveSource(t.Context(), "192.0.2.1", c.to, true); err != nil {
			t.Fatal(err)
		}
		reread(t, s)
		if got := gained(); got != c.want {
			t.Errorf("after the address moved to %s, GainedWays reported it: %t, want %t", c.to, got, c.want)
		}
	}
}

// A provider's limits for an address are divided among the processes that deliver from it.
func TestAmongCountsSharingProcesses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(t, SourceInput{Address: "192.0.2.1", Pool: "shared"},
		SourceInput{Address: "192.0.2.2", Pool: "shared", Node: "one"})
	api, dead, far := process("api", "192.0.2.1"), process("dead", "192.0.2.1"), process("far", "192.0.2.1")
	api.Roles, dead.Alive, far.Egress = []string{node.Accepts}, false, "there"
	f := &fleet{self: process("one", "192.0.2.1", "192.0.2.2"),
		others: []node.Process{process("two", "192.0.2.1", "192.0.2.2"), process("three"), api, dead, far}}
	s := w.among(t, f, time.Hour)
	for label, want := range map[string]int{"": 3, "192.0.2.1": 2, "192.0.2.2": 1} {
		if got := s.CountSharing(label); got != want {
			t.Errorf("%d processes share %q, want %d", got, label, want)
		}
	}
	if got := w.CountSharing(""); got != 1 {
		t.Errorf("a process that knows no others shares its address with %d", got)
	}
}
