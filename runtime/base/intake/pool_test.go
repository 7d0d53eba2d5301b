package intake

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func account(name string) Tenant { return Tenant{Account: name} }

// checkEmpty requires that a pool holds no units and remembers no owner.
func checkEmpty(t *testing.T, p *Pool) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.used != 0 || len(p.shares) != 0 || len(p.queue) != 0 {
		t.Errorf("after all owners have left, the pool holds %d, %d shares and %d waiters; want none", p.used,
			len(p.shares), len(p.queue))
	}
}

func TestShareIsLimitedToAQuarter(t *testing.T) {
	t.Parallel()
	p := NewPool(400)
	var releases []func()
	for range 10 {
		release, ok := p.TryTake(account("a"), 10)
		if !ok {
			t.Fatalf("an account got %d pieces of 10 from a pool of 400, want 10", len(releases))
		}
		releases = append(releases, release)
	}
	if _, ok := p.TryTake(account("a"), 1); ok {
		t.Error("an account that has a quarter got more")
	}
	release, ok := p.TryTake(account("b"), 100)
	if !ok {
		t.Fatal("another account did not get its quarter")
	}
	release()
	for _, r := range releases {
		r()
	}
	checkEmpty(t, p)
}

// Unauthenticated clients are counted by their network and by the wider one around it.
func TestUnauthenticatedClientsShareByNetwork(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		one, other string
		together   bool
	}{
		{"203.0.113.1", "203.0.113.200", true}, {"203.0.113.1", "203.0.5.1", true}, {"203.0.113.1", "203.1.113.1", false},
		{"2001:db8:1:1::1", "2001:db8:1:1::2", true}, {"2001:db8:1:1::1", "2001:db8:1:ffff::1", true}, {"2001:db8:1::1", "2001:db8:2::1", false},
		{"::ffff:203.0.113.1", "203.0.113.9", true}, {"10.0.0.1", "10.0.0.2", false}, {"127.0.0.1", "127.0.0.1", true},
	} {
		p := NewPool(400)
		if _, ok := p.TryTake(Tenant{Remote: netip.MustParseAddr(c.one)}, 100); !ok {
			t.Fatalf("%s got no quarter of an empty pool", c.one)
		}
		if _, ok := p.TryTake(Tenant{Remote: netip.MustParseAddr(c.other)}, 100); ok == c.together {
			t.Errorf("next to %s, which has a quarter, %s got one: %v, want %v", c.one, c.other, ok, !c.together)
		}
	}
	p := NewPool(4)
	if _, ok := p.TryTake(Tenant{}, 1); !ok {
		t.Error("an owner without account and address got nothing of an empty pool")
	}
}

// A full share with waiters does not block other shares.
func TestWaitingShareDelaysNoOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := NewPool(400)
		release, _ := p.TryTake(account("a"), 100)
		got := make(chan error, 20)
		for range 20 {
			go func() {
				release, err := p.Take(t.Context(), account("a"), 5, time.Minute)
				if err == nil {
					release()
				}
				got <- err
			}()
		}
		synctest.Wait()
		other, ok := p.TryTake(account("b"), 100)
		if !ok {
			t.Fatal("with 20 waiters of another share, an account did not get its quarter immediately")
		}
		release()
		for range 20 {
			if err := <-got; err != nil {
				t.Errorf("a caller that waited for its share got %v when there was room", err)
			}
		}
		other()
		checkEmpty(t, p)
	})
}

// In a full pool, the share that holds least is next, however many waiters of other shares came first.
func TestSmallestShareIsServedNext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := NewPool(400)
		var releases []func()
		for _, name := range []string{"a", "b", "c", "d"} {
			for range 10 {
				release, _ := p.TryTake(account(name), 10)
				releases = append(releases, release)
			}
		}
		order := make(chan string, 20)
		wait := func(name string, n int64) {
			go func() {
				_, err := p.Take(t.Context(), account(name), n, time.Hour)
				if err != nil {
					name = err.Error()
				}
				order <- name
			}()
			synctest.Wait()
		}
		for range 5 {
			wait("a", 10)
		}
		wait("new", 10)
		for _, release := range releases[:3] { // of a
			release()
			synctest.Wait()
		}
		if first := <-order; first != "new" {
			t.Errorf("room of a full pool went to %s first, want the account that holds nothing", first)
		}
		for range 2 {
			if next := <-order; next != "a" {
				t.Errorf("then it went to %s, want the waiters in order of arrival", next)
			}
		}
	})
}

func TestTakeEndsWithItsTimeoutOrContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := NewPool(4)
		release, _ := p.TryTake(account("a"), 1)
		if _, err := p.Take(t.Context(), account("a"), 1, 5*time.Second); !errors.Is(err, ErrFull) {
			t.Errorf("after its timeout, Take returned %v, want ErrFull", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := p.Take(ctx, account("a"), 1, time.Minute); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("after its context ended, Take returned %v, want context.DeadlineExceeded", err)
		}
		release()
		checkEmpty(t, p)
	})
}

// Twenty owners of one share that take units in steps finish one after the other; otherwise each could hold a
// part and wait for the others forever.
func TestHoldersInStepsDoNotDeadlock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := NewPool(400)
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				var h hold
				p.addHold(&h, account("a"), 40)
				defer h.leave()
				for range 40 {
					if err := h.takeUnits(t.Context(), 1, time.Hour); err != nil {
						t.Errorf("holder %d, which has %d of 40: %v", i, h.held, err)
						return
					}
					time.Sleep(time.Duration(1+rand.N(20)) * time.Millisecond) // the fake clock
				}
			})
		}
		all.Wait()
		checkEmpty(t, p)
	})
}

// When the pool is full, a share that has less than others gets room from the slowest
// client of the largest share.
func TestSlowestClientOfTheLargestShareIsEnded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := NewPool(400)
		cut := make(chan string, 10)
		holder := func(name string, n int64, moved int) *hold {
			h := new(hold)
			p.addHold(h, account(name), n)
			if !h.tryTake(n) {
				t.Fatalf("%s got no %d", name, n)
			}
			h.startTransfer(func() {
				go func() { cut <- fmt.Sprint(name, moved); h.leave() }()
			})
			h.countTransfer(moved)
			return h
		}
		for _, name := range []string{"a", "b", "c"} {
			holder(name, 50, 5000)
			holder(name, 40, 6000)
		}
		holder("d", 40, 7000)
		slow := holder("d", 40, 10)
		holder("d", 20, 8000)
		holder("e", 30, 1)
		began := time.Now()
		release, err := p.Take(t.Context(), account("honest"), 30, time.Minute)
		if err != nil || <-cut != "d10" || time.Since(began) > 5*time.Second {
			t.Fatalf("the newcomer waited %s and got %v", time.Since(began), err)
		}
		if !slow.ended || len(cut) != 0 {
			t.Errorf("more than one client was ended, although the first freed enough room")
		}
		// An owner that holds as much as the others does not evict one.
		if _, err := p.Take(t.Context(), account("honest"), 65, 10*time.Second); !errors.Is(err, ErrFull) ||
			len(cut) != 0 {
			t.Errorf("with as much as the largest share: %v, %d ended", err, len(cut))
		}
		release()
	})
}

// Random holders end at random times. No share and no pool ever exceeds its size, and nothing remains held.
func TestRandomHoldersLeaveNothing(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			p := NewPool(1000)
			p.grace = time.Millisecond
			var all sync.WaitGroup
			for i := range 64 {
				all.Go(func() { holdAtRandom(t, p, rand.New(rand.NewPCG(seed, uint64(i)))) })
			}
			all.Wait()
			checkEmpty(t, p)
		})
	}
}

func holdAtRandom(t *testing.T, p *Pool, random *rand.Rand) {
	for range 60 {
		o := account(fmt.Sprint(random.IntN(7)))
		if random.IntN(3) == 0 {
			o = Tenant{Remote: netip.AddrFrom4([4]byte{203, byte(random.IntN(3)), byte(random.IntN(3)),
				byte(random.IntN(250))})}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+random.IntN(20))*time.Millisecond)
		var h hold
		p.addHold(&h, o, random.Int64N(250))
		if random.IntN(2) == 0 {
			h.startTransfer(func() {})
		}
		for range random.IntN(6) {
			n := random.Int64N(60)
			if h.held+n > h.most {
				continue
			}
			if err := h.takeUnits(ctx, n, time.Duration(random.IntN(10))*time.Millisecond); err != nil {
				break
			}
			if random.IntN(4) == 0 && h.held > 0 {
				h.releaseUnits(random.Int64N(h.held))
			}
			p.check(t)
		}
		if random.IntN(2) == 0 {
			h.endTransfer()
			h.stopGrowing()
		}
		cancel()
		h.leave()
		h.leave()
	}
}

func (p *Pool) check(t *testing.T) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.used < 0 || p.used > p.size {
		t.Errorf("the pool of %d holds %d", p.size, p.used)
	}
	for l, s := range p.shares {
		var sum int64
		for _, h := range s.holds {
			sum += h.held
		}
		if s.held > p.each || s.held != sum {
			t.Errorf("the share %v holds %d, its holders hold %d, and the limit is %d", l, s.held, sum, p.each)
		}
	}
}

func BenchmarkTakeAndRelease(b *testing.B) {
	p := NewPool(4096)
	o := account("acc_01kf0m4w7he6x8q2v5b3n9c1ta")
	b.ReportAllocs()
	for b.Loop() {
		release, err := p.Take(b.Context(), o, 1, time.Second)
		if err != nil {
			b.Fatal(err)
		}
		release()
	}
}
