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

// fleet is the processes that one of them knows, as a test makes them up.
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
		p.Addresses = append(p.Addresses, machine.Single(netip.MustParseAddr(text)))
	}
	return p
}

// among makes a world's service one of several processes.
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

// A process chooses its own addresses first, then those of others, then those that no process
// has had for a short time; the plan's order of pools takes precedence.
func TestTheNearestAddressOfAPoolIsChosen(t *testing.T) {
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
		t.Errorf("mail leaves from %v, want the addresses here alone: 192.0.2.1 and the pair", from)
	}
	for label, want := range map[string]Routing{"192.0.2.1": Open, "192.0.2.2": OnOtherNode, "192.0.2.3": OnOtherNode,
		"192.0.2.4": OnOtherNode, "192.0.2.5": OnOtherNode, "192.0.2.6": Open, "": Open, "smarthost:a:25": Open, "192.0.2.99": Open} {
		if got := s.Place(label); got != want {
			t.Errorf("what waits for %q is in place %d, want %d", label, got, want)
		}
	}
	if got := s.known.findOutlet("192.0.2.6").
		way.LocalAddrs; !slices.Equal(got, []netip.Addr{netip.MustParseAddr("2001:db8::6")}) {
		t.Errorf("a pair of which only IPv6 is here leaves from %v", got)
	}
	if got := choose(t, s, 1, Question{AccountID: w.dedicated}); got[0] != "192.0.2.5" {
		t.Errorf("an account with an address of its own elsewhere leaves from %q, want that", got[0])
	}
	if got := choose(t, s, 1, Question{AccountID: w.pool}); got[0] != "192.0.2.4" {
		t.Errorf("an account of the plan pool leaves from %q, want the address of its pool that no process has had for a short time", got[0])
	}
	if has, known := f.tried[netip.MustParseAddr("192.0.2.2")]; has || !known ||
		!f.tried[netip.MustParseAddr("192.0.2.1")] {
		t.Errorf("the node was sent the addresses %v", f.tried)
	}
}

// An address that no process has had for long is skipped, but for an account's own, which is
// waited for; it is said once. Somebody who comes back with it has it at once.
func TestAnAddressThatIsGoneIsPassedOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(t, SourceInput{Address: "192.0.2.1", Pool: "shared"},
		SourceInput{Address: "192.0.2.5", Pool: "dedicated", Account: w.dedicated})
	dead := process("two", "192.0.2.1", "192.0.2.5")
	dead.Alive, dead.Silent = false, 30*time.Minute
	f := &fleet{self: process("one"), others: []node.Process{dead}}
	s := w.among(t, f, 10*time.Minute)
	reread(t, s)
	if got := choose(t, s, 1, Question{AccountID: w.free}); got[0] != "" || s.Place("192.0.2.1") != Orphaned {
		t.Errorf("mail leaves from %q (place %d), want the machine's own address", got[0], s.Place("192.0.2.1"))
	}
	if got := choose(t, s, 1, Question{AccountID: w.dedicated}); got[0] != "192.0.2.5" ||
		s.Place("192.0.2.5") != Unroutable {
		t.Errorf("mail of an address of an account leaves from %q (place %d), want that it waits", got[0],
			s.Place("192.0.2.5"))
	}
	if n := strings.Count(w.logged.String(), "no process has a source address"); n != 2 {
		t.Errorf("it is said %d times of two addresses:\n%s", n, w.logged)
	}
	f.others[0].Alive, f.others[0].Silent = true, 0
	reread(t, s)
	if s.Place("192.0.2.1") != OnOtherNode || s.Place("192.0.2.5") != OnOtherNode {
		t.Error("a process is back, and mail queued for its addresses is not left to it")
	}
	f.others = nil
	reread(t, s)
	if got := choose(t, s, 1, Question{AccountID: w.free}); got[0] != "192.0.2.1" ||
		s.Place("192.0.2.1") != OnOtherNode {
		t.Errorf("right after the process has ended mail leaves from %q, want that its address is waited for", got[0])
	}
	// Unless there is another of the pool here: then what waits is chosen again at once.
	w.add(t, SourceInput{Address: "192.0.2.2", Pool: "shared"})
	f.self = process("one", "192.0.2.2")
	reread(t, s)
	if got := choose(t, s, 1, Question{AccountID: w.free}); got[0] != "192.0.2.2" || s.Place("192.0.2.1") != Orphaned ||
		s.Place("192.0.2.5") != OnOtherNode {
		t.Errorf("with an address here mail leaves from %q, and queued mail is in places %d and %d", got[0],
			s.Place("192.0.2.1"), s.Place("192.0.2.5"))
	}
}

// Who draws what waits hears at once that an address has come to this process, and nothing when an address went.
func TestAnAddressThatComesHereIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(t, SourceInput{Address: "192.0.2.1", Pool: "shared", Node: "two"})
	f := &fleet{self: process("one", "192.0.2.1"), others: []node.Process{process("two", "192.0.2.1")}}
	s := w.among(t, f, time.Hour)
	gained := func() bool {
		select {
		case <-s.Gained():
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
			t.Errorf("after the address was moved to %s the arrival is reported: %t, want %t", c.to, got, c.want)
		}
	}
}

// What a provider allows an address is divided among those who leave from it.
func TestHowManyShareAnAddress(t *testing.T) {
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
		if got := s.Among(label); got != want {
			t.Errorf("%d processes share %q, want %d", got, label, want)
		}
	}
	if got := w.Among(""); got != 1 {
		t.Errorf("a process that knows of no others shares with %d", got)
	}
}
