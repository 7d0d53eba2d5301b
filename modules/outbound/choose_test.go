package outbound

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	entsource "github.com/postrider/postrider/ent/source"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
)

func TestWithoutSourcesMailFollowsSettings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ways, err := w.Choose(t.Context(), []Question{{AccountID: w.free, Destination: "example.net"},
		{AccountID: w.dedicated, DomainID: w.dedicatedDomain, Via: ViaFallback}})
	if diff := cmp.Diff(make([]smtpclient.Way, 2), ways,
		cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); err != nil || diff != "" {
		t.Errorf("Choose without sources returned the error %v, want two empty ways; the difference is %s", err, diff)
	}
	if w.HasFallback(w.free, "") {
		t.Error("HasFallback returned true without a fallback")
	}
}

func TestPlansSelectPools(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(t, SourceInput{Address: "192.0.2.1", Pool: "shared"}, SourceInput{Address: "192.0.2.2", Pool: "pool"},
		SourceInput{Address: "192.0.2.3", Pool: "dedicated", Account: w.dedicated},
		SourceInput{Address: "192.0.2.4", Pool: "dedicated", Account: "pool@example.com"})
	for account, want := range map[string]string{
		// the plan pool does not include the account's own source
		w.free: "192.0.2.1", w.pool: "192.0.2.2", w.dedicated: "192.0.2.3",
		"acc_01kf0m4w7he6x8q2v5b3n9c1ta": "192.0.2.1", // since deleted
	} {
		if got := choose(t, w.Ways, 1, Question{AccountID: account}); got[0] != want {
			t.Errorf("mail of %s is sent from %s, want %s", account, got[0], want)
		}
	}
	for _, address := range []string{"192.0.2.3", "192.0.2.2", "192.0.2.1", ""} {
		if got := choose(t, w.Ways, 1, Question{AccountID: w.dedicated}); got[0] != address {
			t.Errorf("mail is sent from %q, want %q", got[0], address)
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
		t.Errorf("after resuming the source, mail is sent from %s", got[0])
	}
}

func TestAddressPairIsOneWay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(t, SourceInput{Address: "2001:db8::1", Hostname: "Out1.example.com", Pool: "shared", WarmUp: true},
		SourceInput{Address: "192.0.2.1", Hostname: "out1.example.com", Pool: "shared"},
		SourceInput{Address: "192.0.2.9", Hostname: "out1.example.com", Pool: "pool"}) // in another pool
	ways, err := w.Choose(t.Context(), []Question{{AccountID: w.free, Destination: "example.net"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(ways[0].Label, ways[0].LocalAddrs,
		ways[0].Hostname); got != "192.0.2.1[192.0.2.1 2001:db8::1]out1.example.com" {
		t.Errorf("mail is sent by %s", got)
	}
	count(t, w, w.Ways, labels(ways))
	if four, six := w.counted(t, "192.0.2.1"), w.counted(t, "2001:db8::1"); four != 0 || six != 1 {
		t.Errorf("counted %d and %d, want only the source that warms up counted", four, six)
	}
	if got := tally(choose(t, w.Ways, 60, Question{AccountID: w.free})); got["192.0.2.1"] != 49 || got[""] != 11 {
		t.Errorf("the allowance of the pair is %v, want the smaller of the two", got)
	}
}

// outlets returns outlets for tests of the choice alone.
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

func TestAccountKeepsItsAddress(t *testing.T) {
	t.Parallel()
	four, five := outlets(-1, -1, -1, -1), outlets(-1, -1, -1, -1, -1)
	used := map[string]int{}
	moved := 0
	const n = 2000
	for i := range n {
		destination := fmt.Sprintf("example%d.net", i)
		first := pickOutlet(four, "acc_a", destination)
		if again := pickOutlet(outlets(-1, -1, -1, -1), "acc_a", destination); again.way.Label != first.way.Label {
			t.Fatalf("mail of %s left by %s, then by %s", destination, first.way.Label, again.way.Label)
		}
		used[first.way.Label]++
		if now := pickOutlet(five, "acc_a", destination).way.Label; now != first.way.Label {
			moved++
			if now != "192.0.2.4" {
				t.Errorf("the account %s moved from one existing address to another", destination)
			}
		}
	}
	for address, times := range used {
		if times < n/4*8/10 || times > n/4*12/10 {
			t.Errorf("the address %s is used %d of %d times", address, times, n)
		}
	}
	if len(used) != 4 || moved < n/5*8/10 || moved > n/5*12/10 {
		t.Errorf("%d addresses are used, and the fifth one gets %d of %d", len(used), moved, n)
	}
}

func TestAllowanceWeightsAddresses(t *testing.T) {
	t.Parallel()
	pool := outlets(1000, 3000, 0)
	used := map[string]int{}
	for i := range 1000 {
		used[pickOutlet(pool, "acc_a", fmt.Sprint(i)).way.Label]++
	}
	if part := used["192.0.2.1"]; part < 680 || part > 820 || used["192.0.2.2"] != 0 {
		t.Errorf("with three times the allowance, the addresses are used %v times", used)
	}
	// With a warm address next to it, an address that warms up still gets mail within its allowance.
	pool, used = outlets(50, -1), map[string]int{}
	for i := range 1000 {
		o := pickOutlet(pool, "acc_a", fmt.Sprint(i))
		o.pending++
		used[o.way.Label]++
	}
	if used["192.0.2.0"] != 50 || used["192.0.2.1"] != 950 {
		t.Errorf("the addresses are used %v times", used)
	}
	if pickOutlet(outlets(0), "acc_a", "example.net") != nil || pickOutlet(nil, "acc_a", "example.net") != nil {
		t.Error("an address was chosen although none is usable")
	}
}

func TestCapturedMailNeverLeaves(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(t, SourceInput{Address: "192.0.2.1", Pool: "shared"})
	w.smarthost(t, SmarthostInput{Account: w.free, URL: plain("smtp://relay.example.com")})
	w.smarthost(t, SmarthostInput{Account: w.pool, URL: plain("smtp://relay.example.com"), Use: "fallback"})
	fallback := &smtpclient.Smarthost{Host: "all.example.com", Port: 25}
	caught := w.process(t, Config{Captured: true, Fallback: fallback})
	for _, q := range []Question{{AccountID: w.free}, {AccountID: w.pool, Via: ViaFallback}, {AccountID: w.dedicated}} {
		if got := choose(t, caught, 1, q); got[0] != "" || caught.HasFallback(q.AccountID, "") {
			t.Errorf("mail of %+v leaves by %s", q, got[0])
		}
	}
	// With a smarthost for all mail, only another smarthost replaces it.
	relayed := w.process(t, Config{Relayed: true, Fallback: fallback})
	got := slices.Concat(choose(t, relayed, 1, Question{AccountID: w.free}),
		choose(t, relayed, 1, Question{AccountID: w.pool, Via: ViaFallback}),
		choose(t, relayed, 1, Question{AccountID: w.dedicated}))
	if diff := cmp.Diff([]string{"smarthost:relay.example.com:587", "", ""}, got); diff != "" ||
		relayed.HasFallback(w.pool, "") {
		t.Error(diff)
	}
}

func TestSmarthostPrecedence(t *testing.T) {
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
				t.Errorf("HasFallback for %s, %s is %v", what, name, w.HasFallback(q.AccountID, q.DomainID))
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
			t.Errorf("%s: the ways differ (-want +got):\n%s", what, diff)
		}
	}
	ask("without smarthosts", map[string]string{})
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
		t.Error("the fallback of the account was offered to others, or to mail that is not delivered directly")
	}
	w.smarthost(t, SmarthostInput{Account: w.dedicated, Domain: w.dedicatedDomain2,
		URL: plain("smtps://two.example.com")})
	if got := choose(t, w.Ways, 1,
		Question{AccountID: w.dedicated, DomainID: w.dedicatedDomain2}); got[0] != "smarthost:two.example.com:465" {
		t.Errorf("the domain's own smarthost was not preferred: %s", got[0])
	}
}

// testSink is the server that captures mail of test mode.
type testSink struct{}

func (testSink) TestWay(tenant string) smtpclient.Way {
	return smtpclient.Way{Label: "smarthost:" + tenant, Smarthost: &smtpclient.Smarthost{Host: "127.0.0.1", InProcess: true}}
}

// No configuration makes mail of test mode leave by another way than the sink.
func TestMailOfTestModeGoesToTheSink(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Ways.config.testMail = testSink{}
	w.add(t, SourceInput{Address: "192.0.2.1", Hostname: "out1.example.com", Pool: "shared"})
	w.smarthost(t, SmarthostInput{Account: w.free, URL: plain("smtps://relay.example.com")})
	w.config.Fallback = &smtpclient.Smarthost{Host: "fallback.example.com", Port: 587}
	tenant := id.TestTenantOf(w.free)
	for _, via := range []string{"", ViaFallback} {
		for _, captured := range []bool{false, true} {
			w.Ways.config.Captured = captured
			ways, err := w.Choose(t.Context(), []Question{{AccountID: w.free}, {AccountID: tenant, Via: via,
				Destination: "example.net"}})
			if err != nil || ways[1].Smarthost == nil || !ways[1].Smarthost.InProcess ||
				ways[1].Label != "smarthost:"+tenant {
				t.Errorf("via %q, captured %t: the way of test mode is %+v, %v, want the sink", via, captured, ways[1], err)
			}
		}
	}
	w.Ways.config.Captured = false
	if w.HasFallback(tenant, "") {
		t.Error("mail of test mode has a fallback")
	}
	w.Ways.config.testMail = nil
	ways, err := w.Choose(t.Context(), []Question{{AccountID: tenant, Destination: "example.net"}})
	if err != nil || ways[0].Smarthost != nil || ways[0].Label != "" {
		t.Errorf("without the sink, the way is %+v, %v, want the zero way, which deliveries refuse", ways[0], err)
	}
}
