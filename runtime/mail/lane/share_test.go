package lane

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// Processes that send from one address divide the connections and the rate of a provider; each keeps at least
// one. An operator's own server is not divided.
func TestProviderLimitsAreDivided(t *testing.T) {
	t.Parallel()
	profiles, err := BuiltIn().
		Extend(strings.NewReader("default 2 20 10 1m -\nbig 10 20 10 1m 600 big.test\nsmall 1 2 10 1m 2 small.test\n"))
	if err != nil {
		t.Fatal(err)
	}
	var among atomic.Int64
	among.Store(1)
	r := New(Config{Connections: 100, Profiles: profiles, Among: func(way string) int {
		if way == "198.51.100.7" {
			return 1
		}
		return int(among.Load())
	}})
	for i, c := range []struct {
		among                             int
		big, small, alone, own            int     // windows
		bigRate, smallRate, bigAlonesRate float64 // messages a minute
	}{
		{1, 10, 1, 10, 100, 600, 2, 600},
		{3, 6, 1, 10, 100, 200, 1, 600},
		{50, 1, 1, 10, 100, 12, 1, 600},
		{2, 1, 1, 10, 100, 300, 1, 600}, // the window grows again with deliveries
	} {
		among.Store(int64(c.among))
		now := time.Now().Add(time.Duration(i) * 2 * askAmong)
		state := func(way string, set Set) *lane {
			r.mu.Lock()
			defer r.mu.Unlock()
			return r.laneOf(key{way: way, name: set.Name}, &set, now)
		}
		big, small, alone := state("", NewSet("mx.big.test")), state("", NewSet("mx.small.test")), state("198.51.100.7",
			NewSet("mx.big.test"))
		own := state("smarthost:relay:25", Set{Name: "relay:25", Hosts: []string{"relay:25"}, Own: true})
		if got := []int{big.pace.window, small.pace.window, alone.pace.window, own.pace.window}; got[0] != c.big ||
			got[1] != c.small || got[2] != c.alone || got[3] != c.own {
			t.Errorf("among %d the windows are %v, want %d, %d, %d and %d", c.among, got, c.big, c.small,
				c.alone, c.own)
		}
		if got := []float64{big.pace.rate.rate, small.pace.rate.rate, alone.pace.rate.rate}; got[0] != c.bigRate ||
			got[1] != c.smallRate || got[2] != c.bigAlonesRate {
			t.Errorf("among %d the rates are %v, want %v, %v and %v", c.among, got, c.bigRate, c.smallRate,
				c.bigAlonesRate)
		}
		if want := max(1, 20/c.among); big.pace.most != want {
			t.Errorf("among %d the widest window is %d, want %d", c.among, big.pace.most, want)
		}
	}
	// A rate that a server had halved stays halved.
	b := newBucket(600, time.Now())
	b.halveRate(time.Now())
	if b.setShare(200, time.Now()); b.rate != 100 || b.most != 200 || b.tokens > b.maxTokens() {
		t.Errorf("a third of a halved rate is %+v, want 100 of 200", b)
	}
}
