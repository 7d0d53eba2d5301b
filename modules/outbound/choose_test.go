package outbound

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	entsource "github.com/postrider/postrider/ent/source"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
)

func TestWithoutSourcesMailLeavesAsTheSettingsSay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ways, err := w.Choose(t.Context(), []Question{{AccountID: w.free, Destination: "example.net"},
		{AccountID: w.dedicated, DomainID: w.dedicatedDomain, Via: ViaFallback}})
	if diff := cmp.Diff(make([]smtpclient.Way, 2), ways,
		cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); err != nil || diff != "" {
		t.Errorf("choosing without sources returned error %v, want two empty ways; the difference is %s", err, diff)
	}
	if w.HasFallback(w.free, "") {
		t.Error("there is a fallback")
	}
}

func TestEachPlanHasItsPools(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(t, SourceInput{Address: "192.0.2.1", Pool: "shared"}, SourceInput{Address: "192.0.2.2", Pool: "pool"},
		SourceInput{Address: "192.0.2.3", Pool: "dedicated", Account: w.dedicated},
		SourceInput{Address: "192.0.2.4", Pool: "dedicated", Account: "pool@example.com"})
	for account, want := range map[string]string{
		// the plan Pool does not open the account's own
		w.free: "192.0.2.1", w.pool: "192.0.2.2", w.dedicated: "192.0.2.3",
		"acc_01kf0m4w7he6x8q2v5b3n9c1ta": "192.0.2.1", // deleted since
	} {
		if got := choose(t, w.Ways, 1, Question{AccountID: account}); got[0] != want {
			t.Errorf("%s leaves from %s, want %s", account, got[0], want)
		}
	}
	for _, address := range []string{"192.0.2.3", "192.0.2.2", "192.0.2.1", ""} {
		if got := choose(t, w.Ways, 1, Question{AccountID: w.dedicated}); got[0] != address {
			t.Errorf("leaves from %q, want %q", got[0], address)
		}
		if address == "" {
			break
		}
		if _, err := w.PauseSource(t.Context(), address, true); err != nil {
			t.Fatal(err)
		}
		reread(t, w.Ways)
	}
	if _, err := w.PauseSource(t.Context(), "192.0.2.3", false); err != nil {
		t.Fatal(err)
	}
	reread(t, w.Ways)
	if got := choose(t, w.Ways, 1, Question{AccountID: w.dedicated}); got[0] != "192.0.2.3" {
		t.Errorf("resumed, and mail leaves from %s", got[0])
	}
}

func TestAddressesOfOneHostnameAreOneWay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(t, SourceInput{Address: "2001:db8::1", Hostname: "Out1.example.com", Pool: "shared", WarmUp: true},
		SourceInput{Address: "192.0.2.1", Hostname: "out1.example.com", Pool: "shared"},
		SourceInput{Address: "192.0.2.9", Hostname: "out1.example.com", Pool: "pool"}) // of another pool
	ways, err := w.Choose(t.Context(), []Question{{AccountID: w.free, Destination: "example.net"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(ways[0].Label, ways[0].LocalAddrs,
		ways[0].Hostname); got != "192.0.2.1[192.0.2.1 2001:db8::1]out1.example.com" {
		t.Errorf("leaves by %s", got)
	}
	count(t, w, w.Ways, labels(ways))
	if four, six := w.counted(t, "192.0.2.1"), w.counted(t, "2001:db8::1"); four != 0 || six != 1 {
		t.Errorf("counted %d and %d: only the one that warms up is", four, six)
	}
	if got := tally(choose(t, w.Ways, 60, Question{AccountID: w.free})); got["192.0.2.1"] != 49 || got[""] != 11 {
		t.Errorf("the pair has the smaller allowance of the two: %v", got)
	}
}

// outlets for tests of the decision alone.
func outlets(limits ...int64) []*outlet {
	s := &snapshot{}
	for i, limit := range limits {
		addr := netip.AddrFrom4([4]byte{192, 0, 2, byte(i)})
		s.sources = append(s.sources, source{id: addr.String(), addr: addr, hostname: addr.String(),
			pool: entsource.PoolShared, warm: limit < 0, limit: limit})
	}
	s.arrangeSources()
	return s.shared[here]
}

func TestTheSameMailHasTheSameAddress(t *testing.T) {
	t.Parallel()
	four, five := outlets(-1, -1, -1, -1), outlets(-1, -1, -1, -1, -1)
	used := map[string]int{}
	moved := 0
	const n = 2000
	for i := range n {
		destination := fmt.Sprintf("example%d.net", i)
		first := pickOutlet(four, "acc_a", destination)
		if again := pickOutlet(outlets(-1, -1, -1, -1), "acc_a", destination); again.way.Label != first.way.Label {
			t.Fatalf("%s: %s, then %s", destination, first.way.Label, again.way.Label)
		}
		used[first.way.Label]++
		if now := pickOutlet(five, "acc_a", destination).way.Label; now != first.way.Label {
			moved++
			if now != "192.0.2.4" {
				t.Errorf("%s moved from one old address to another", destination)
			}
		}
	}
	for address, times := range used {
		if times < n/4*8/10 || times > n/4*12/10 {
			t.Errorf("%s is used %d times of %d", address, times, n)
		}
	}
	if len(used) != 4 || moved < n/5*8/10 || moved > n/5*12/10 {
		t.Errorf("%d addresses are used; a fifth one takes %d of %d", len(used), moved, n)
	}
}

func TestAllowanceLeftWeighs(t *testing.T) {
	t.Parallel()
	pool := outlets(1000, 3000, 0)
	used := map[string]int{}
	for i := range 1000 {
		used[pickOutlet(pool, "acc_a", fmt.Sprint(i)).way.Label]++
	}
	if part := used["192.0.2.1"]; part < 680 || part > 820 || used["192.0.2.2"] != 0 {
		t.Errorf("three times the allowance, and used %v", used)
	}
	// A warm one next to it: the one that warms up gets mail as long as it may.
	pool, used = outlets(50, -1), map[string]int{}
	for i := range 1000 {
		o := pickOutlet(pool, "acc_a", fmt.Sprint(i))
		o.pending++
		used[o.way.Label]++
	}
	if used["192.0.2.0"] != 50 || used["192.0.2.1"] != 950 {
		t.Errorf("used %v", used)
	}
	if pickOutlet(outlets(0), "acc_a", "example.net") != nil || pickOutlet(nil, "acc_a", "example.net") != nil {
		t.Error("an address was chosen where none is usable")
	}
}

func TestNothingLeavesWhereMailIsCaught(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(t, SourceInput{Address: "192.0.2.1", Pool: "shared"})
	w.smarthost(t, SmarthostInput{Account: w.free, URL: plain("smtp://relay.example.com")})
	w.smarthost(t, SmarthostInput{Account: w.pool, URL: plain("smtp://relay.example.com"), Use: "fallback"})
	fallback := &smtpclient.Smarthost{Host: "all.example.com", Port: 25}
	caught := w.process(t, Config{Captured: true, Fallback: fallback})
	for _, q := range []Question{{AccountID: w.free}, {AccountID: w.pool, Via: ViaFallback}, {AccountID: w.dedicated}} {
		if got := choose(t, caught, 1, q); got[0] != "" || caught.HasFallback(q.AccountID, "") {
			t.Errorf("%+v leaves by %s", q, got[0])
		}
	}
	// With a smarthost for all only another smarthost takes its place.
	relayed := w.process(t, Config{Relayed: true, Fallback: fallback})
	got := slices.Concat(choose(t, relayed, 1, Question{AccountID: w.free}),
		choose(t, relayed, 1, Question{AccountID: w.pool, Via: ViaFallback}),
		choose(t, relayed, 1, Question{AccountID: w.dedicated}))
	if diff := cmp.Diff([]string{"smarthost:relay.example.com:587", "", ""}, got); diff != "" ||
		relayed.HasFallback(w.pool, "") {
		t.Error(diff)
	}
}

func TestSmarthostsOfDomainAndAccount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(t, SourceInput{Address: "192.0.2.1", Pool: "shared"})
	w.Ways = w.process(t, Config{Fallback: &smtpclient.Smarthost{Host: "all.example.com", Port: 25}})
	direct := "192.0.2.1"
	ask := func(what string, want map[string]string) {
		t.Helper()
		got := map[string]string{}
		for name, q := range map[string]Question{
			"account": {AccountID: w.dedicated}, "one": {AccountID: w.dedicated, DomainID: w.dedicatedDomain},
			"two":       {AccountID: w.dedicated, DomainID: w.dedicatedDomain2},
			"one again": {AccountID: w.dedicated, DomainID: w.dedicatedDomain, Via: ViaFallback},
			"two again": {AccountID: w.dedicated, DomainID: w.dedicatedDomain2, Via: ViaFallback},
			"other":     {AccountID: w.free, DomainID: w.dedicatedDomain}, "other again": {AccountID: w.free, Via: ViaFallback},
		} {
			got[name] = choose(t, w.Ways, 1, q)[0]
			if q.Via == ViaFallback != (w.HasFallback(q.AccountID, q.DomainID) && q.Via == ViaFallback) &&
				got[name] != "smarthost:account.example.com:587" {
				t.Errorf("%s, %s: fallback %v", what, name, w.HasFallback(q.AccountID, q.DomainID))
			}
		}
		for name, way := range map[string]string{"account": direct, "one": direct, "two": direct,
			"one again": "smarthost:all.example.com:25",
			"two again": "smarthost:all.example.com:25", "other": direct, "other again": "smarthost:all.example.com:25"} {
			if _, set := want[name]; !set {
				want[name] = way
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	ask("without any", map[string]string{})
	w.smarthost(t, SmarthostInput{Account: w.dedicated, URL: plain("smtp://back.example.com:25"), Use: "fallback"})
	ask("fallback of the account", map[string]string{"one again": "smarthost:back.example.com:25",
		"two again": "smarthost:back.example.com:25"})
	w.smarthost(t, SmarthostInput{Account: w.dedicated, Domain: "one.example", URL: plain("smtp://[2001:db8::25]:25"),
		Use: "fallback"})
	ask("fallback of a domain", map[string]string{"one again": "smarthost:[2001:db8::25]:25",
		"two again": "smarthost:back.example.com:25"})
	w.smarthost(t, SmarthostInput{Account: w.dedicated, URL: plain("smtp://account.example.com")})
	ask("always of the account",
		maps.Collect(maps.All(map[string]string{"account": "smarthost:account.example.com:587",
			"one": "smarthost:account.example.com:587",
			"two": "smarthost:account.example.com:587", "one again": "smarthost:account.example.com:587", "two again": "smarthost:account.example.com:587"})))
	if w.HasFallback(w.dedicated, "") || !w.HasFallback(w.free, "") {
		t.Error("a fallback is for direct attempts, and the installation's for all others")
	}
	w.smarthost(t, SmarthostInput{Account: w.dedicated, Domain: w.dedicatedDomain2,
		URL: plain("smtps://two.example.com")})
	if got := choose(t, w.Ways, 1,
		Question{AccountID: w.dedicated, DomainID: w.dedicatedDomain2}); got[0] != "smarthost:two.example.com:465" {
		t.Errorf("the domain's own does not win: %s", got[0])
	}
}
