package intake

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"
)

// guests are the connections of a test.
type guests struct {
	*Gate

	t     *testing.T
	ended []string
}

func (g *guests) enter(from string) (*Slot, error) {
	var p *Slot
	p, err := g.Enter(netip.MustParseAddr(from), func() {
		g.ended = append(g.ended, from)
	})
	return p, err
}

func (g *guests) mustEnter(from string) *Slot {
	g.t.Helper()
	p, err := g.enter(from)
	if err != nil {
		g.t.Fatalf("the guest from %s was not admitted: %v", from, err)
	}
	return p
}

func TestPlacesOfAClientAreLimited(t *testing.T) {
	t.Parallel()
	g := &guests{Gate: NewGate(100, 2), t: t}
	first := g.mustEnter("2001:db8::1")
	g.mustEnter("2001:db8::2")
	if _, err := g.enter("2001:db8::3"); !errors.Is(err, ErrClientLimit) {
		t.Errorf("a third connection of a /64: %v, want ErrClientLimit", err)
	}
	first.Leave()
	first.Leave()
	g.mustEnter("2001:db8::3")
}

// A network with silent connections leaves places to other networks, and a new one is always admitted.
func TestSilentConnectionsOfOneNetworkLeaveRoom(t *testing.T) {
	t.Parallel()
	for name, from := range map[string]func(int) string{
		"50 /64 of one /48":       func(i int) string { return fmt.Sprintf("2001:db8:1:%x::1", i%50) },
		"50 addresses of one /24": func(i int) string { return fmt.Sprintf("203.0.113.%d", 1+i%50) },
		"50 /24 of one /16":       func(i int) string { return fmt.Sprintf("203.0.%d.1", i%50) },
	} {
		g := &guests{Gate: NewGate(1000, 20), t: t}
		for i := range 1000 {
			g.enter(from(i))
		}
		if all := g.countPlaces(); all > 500 {
			t.Errorf("%s: %d of 1000 places are taken, want half at most", name, all)
		}
		for i := range 990 { // each from a network of its own
			g.mustEnter(fmt.Sprintf("%d.%d.7.1", 1+i%100, 50+i/100)).MarkBusy()
		}
		if g.countPlaces() > 1000 {
			t.Errorf("%s: %d connections are open", name, g.countPlaces())
		}
	}
}

// When all places are taken, the connection of the largest share that has been silent for longest is ended.
func TestOldestSilentConnectionOfTheLargestShareIsEnded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := &guests{Gate: NewGate(8, 0), t: t}
		var crowd []*Slot
		for i := range 4 {
			crowd = append(crowd, g.mustEnter(fmt.Sprintf("203.0.%d.1", i)))
			time.Sleep(time.Millisecond)
		}
		crowd[0].MarkBusy() // not ended, because it is busy
		crowd[1].MarkWaiting(true)
		for i := range 4 {
			g.mustEnter(fmt.Sprintf("198.%d.0.1", i))
			time.Sleep(time.Millisecond)
		}
		g.mustEnter("192.0.2.1")
		g.mustEnter("192.1.2.1")
		if got := fmt.Sprint(g.ended); got != "[203.0.2.1 203.0.3.1]" {
			t.Errorf("%s were ended, want the silent ones of the largest share, the oldest first", got)
		}
		g.mustEnter("192.2.2.1")
		if got := g.ended[len(g.ended)-1]; got != "203.0.1.1" {
			t.Errorf("then %s were ended, want the waiting one of that share", got)
		}
		if _, err := g.enter("192.3.2.1"); !errors.Is(err, ErrOverloaded) {
			t.Errorf("among equal shares: %v, want ErrOverloaded", err)
		}
		time.Sleep(silentFor + time.Second)
		g.mustEnter("192.3.2.1")
		if got := g.ended[len(g.ended)-1]; got != "198.0.0.1" {
			t.Errorf("after %s of silence, %s were ended, want the oldest", silentFor, got)
		}
	})
}

// A network above its share gets a new place in exchange for one of its own.
func TestNetworkAboveItsShareReplacesItsOwnConnection(t *testing.T) {
	t.Parallel()
	g := &guests{Gate: NewGate(80, 0), t: t}
	for i := range 30 {
		g.mustEnter(fmt.Sprintf("198.%d.0.1", i)).MarkBusy()
	}
	for range 10 {
		g.mustEnter("203.0.113.1")
	}
	g.mustEnter("203.0.113.2")
	if len(g.ended) != 1 || g.ended[0] != "203.0.113.1" {
		t.Errorf("%v were ended, want one of the same network", g.ended)
	}
	for p := range g.places {
		p.busy = true
	}
	if _, err := g.enter("203.0.113.3"); !errors.Is(err, ErrClientLimit) {
		t.Errorf("with all connections of the network busy: %v, want ErrClientLimit", err)
	}
}

// Addresses of the operator's own network have no share, because they may be proxies.
func TestPrivateAddressesHaveNoShare(t *testing.T) {
	t.Parallel()
	g := &guests{Gate: NewGate(80, 0), t: t}
	for range 80 {
		g.mustEnter("10.1.2.3")
	}
	if len(g.ended) != 0 {
		t.Errorf("%d connections were ended", len(g.ended))
	}
	if _, err := g.enter("10.1.2.3"); !errors.Is(err, ErrOverloaded) {
		t.Errorf("with all places taken: %v, want ErrOverloaded", err)
	}
}

// Behind a proxy, the address is known later.
func TestOriginMayBeSetLater(t *testing.T) {
	t.Parallel()
	g := NewGate(10, 1)
	for i := range 2 {
		p, err := g.Enter(netip.Addr{}, func() {})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.SetOrigin(netip.MustParseAddr("203.0.113.1")); (err == nil) != (i == 0) {
			t.Errorf("connection %d of an address that has one place: %v", i+1, err)
		}
		defer p.Leave()
	}
	for range 10 + proxiedRoom - 2 {
		if _, err := g.Enter(netip.Addr{}, func() {}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := g.Enter(netip.Addr{}, func() {}); !errors.Is(err, ErrOverloaded) {
		t.Errorf("one more: %v, want ErrOverloaded", err)
	}
}

// The counts always match the open connections.
func TestGateCountsOpenConnections(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		random := rand.New(rand.NewPCG(seed, 1))
		g := NewGate(60, 5)
		var open []*Slot
		var requests []func()
		for range 5000 {
			switch random.IntN(7) {
			case 0, 1, 2:
				var from netip.Addr
				if random.IntN(5) > 0 {
					from = netip.AddrFrom4([4]byte{203, byte(random.IntN(3)), byte(random.IntN(4)),
						byte(random.IntN(5))})
				}
				p, err := g.Enter(from, func() {})
				if from.IsValid() && random.IntN(2) == 0 {
					if err == nil {
						p.Leave()
					}
					p, err = g.EnterPeer(from, random.IntN(2) == 0, func() {})
				}
				if err != nil {
					continue
				}
				if !from.IsValid() && random.IntN(2) == 0 &&
					p.SetOrigin(netip.AddrFrom4([4]byte{204, byte(random.IntN(3)), 1, 1})) != nil {
					p.Leave()
					continue
				}
				open = append(open, p)
			case 3:
				if len(open) > 0 {
					open[random.IntN(len(open))].setState(random.IntN(2) == 0, random.IntN(2) == 0)
				}
			case 4:
				if len(open) > 0 {
					i := random.IntN(len(open))
					open[i].Leave()
					open = append(open[:i], open[i+1:]...)
				}
			case 5:
				if len(open) > 0 {
					end, err := open[random.IntN(len(open))].BeginRequest(netip.AddrFrom4([4]byte{203,
						byte(random.IntN(3)), 9, 1}))
					if err == nil {
						requests = append(requests, end)
					}
				}
			case 6:
				if len(requests) > 0 {
					requests[0]()
					requests = requests[1:]
				}
			}
			if g.countPlaces() > 60+proxiedRoom || g.countPlaces() < 0 || g.leaving < 0 {
				t.Fatalf("seed %d: %d are open and %d leaving", seed, g.countPlaces(), g.leaving)
			}
		}
		for _, p := range open {
			p.Leave()
		}
		for _, end := range requests {
			end()
		}
		if len(g.places) != 0 || len(g.count) != 0 || g.leaving != 0 || g.more != 0 {
			t.Errorf("seed %d: after all have left, %d places, %v, %d leaving and %d additional requests are counted",
				seed, len(g.places), g.count, g.leaving, g.more)
		}
	}
}
