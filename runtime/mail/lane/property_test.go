package lane_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postrider/postrider/runtime/mail/lane"
)

const (
	connections  = 12
	destinations = 6
)

// world drives a registry with random events and checks its invariants after each.
type world struct {
	t       *testing.T
	rand    *rand.Rand
	r       *lane.Registry
	told    atomic.Bool // of room, since a destination was refused
	refused map[string]bool
	tickets []*lane.Reservation
	passes  []*lane.Pass
	entered chan *lane.Pass
	calls   int // of Enter, not answered yet
	before  map[string]lane.Snapshot
}

func newRandomWorld(t *testing.T, seed uint64) *world {
	w := &world{t: t, rand: rand.New(rand.NewPCG(seed, 7)), refused: map[string]bool{},
		entered: make(chan *lane.Pass, 1000)}
	w.r = registry(t, connections,
		"default 2 6 100 10m -\nslow 2 4 100 10m 30 slow.test\nsingle 1 1 100 10m - single.test")
	w.r.OnRoom(func() { w.told.Store(true) })
	return w
}

// set: the first two destinations share a lane, others have a rate or one connection.
func (w *world) set(n int) lane.Set {
	return lane.NewSet([]string{"mx.shared.test", "mx.shared.test", "mx.slow.test", "mx.single.test", "mx.d.test",
		"mx.e.test"}[n])
}

func (w *world) step() {
	n := w.rand.IntN(destinations)
	name := fmt.Sprintf("%d.test", n)
	switch w.rand.IntN(8) {
	case 0, 1:
		if ticket, ok := w.r.Reserve("", name); ok {
			w.tickets = append(w.tickets, ticket)
		} else {
			w.refused[name] = true
		}
	case 2:
		if w.r.Capacity("", name) == 0 {
			w.refused[name] = true
		}
	case 3, 4:
		w.calls++
		go func() {
			pass, err := w.r.Enter(w.t.Context(), "", name, w.set(n))
			if err != nil && !errors.Is(err, lane.ErrNoRoom) && w.t.Context().Err() == nil {
				w.t.Error(err)
			}
			w.entered <- pass
		}()
	case 5:
		w.leave()
	case 6:
		w.end()
	case 7:
		time.Sleep([]time.Duration{time.Millisecond, time.Second, 10 * time.Second, time.Minute}[w.rand.IntN(4)])
	}
	w.settle()
}

// settle waits for the effects of the step, and for a timer that is due only by rounding.
func (w *world) settle() {
	time.Sleep(10 * time.Microsecond)
	synctest.Wait()
	for len(w.entered) > 0 {
		w.calls--
		if pass := <-w.entered; pass != nil {
			w.passes = append(w.passes, pass)
		}
	}
}

func (w *world) leave() {
	if len(w.passes) == 0 {
		return
	}
	i := w.rand.IntN(len(w.passes))
	w.passes[i].Leave([]lane.Feedback{{Delivered: true}, {Delivered: true}, {Delivered: true}, {Refused: true},
		{Throttled: true}, {Unreachable: true}, {}}[w.rand.IntN(7)])
	w.passes = append(w.passes[:i], w.passes[i+1:]...)
}

func (w *world) end() {
	if len(w.tickets) == 0 {
		return
	}
	i := w.rand.IntN(len(w.tickets))
	w.tickets[i].End()
	w.tickets = append(w.tickets[:i], w.tickets[i+1:]...)
}

func (w *world) check() {
	active, reserved := 0, 0
	now := map[string]lane.Snapshot{}
	for _, s := range w.r.Snapshot() {
		id := fmt.Sprint(s.Name, s.Provisional)
		now[id] = s
		active, reserved = active+s.Active, reserved+s.Reserved
		before := w.before[id]
		if s.Active > s.Window && s.Active > before.Active {
			w.t.Errorf("%s: %d connections in a window of %d", id, s.Active, s.Window)
		}
		if s.Reserved > s.Window+(s.Window+1)/2 && s.Reserved > before.Reserved {
			w.t.Errorf("%s: %d reservations for a window of %d", id, s.Reserved, s.Window)
		}
		if s.Active < 0 || s.Reserved < 0 || s.Window < 1 {
			w.t.Errorf("the lane is %+v, want no negative count and a window of at least 1", s)
		}
	}
	w.before = now
	if active != len(w.passes) || active > connections {
		w.t.Errorf("%d connections, %d passes", active, len(w.passes))
	}
	if reserved != len(w.tickets) || reserved > connections+(connections+1)/2 {
		w.t.Errorf("%d reservations, %d tickets", reserved, len(w.tickets))
	}
	// A delivery that was refused and has room now has been notified.
	if w.told.Swap(false) {
		clear(w.refused)
	}
	for name := range w.refused {
		if n := w.r.Capacity("", name); n > 0 {
			w.t.Errorf("%s has room for %d, but no waiter was notified", name, n)
		}
	}
}

// After random events, a lane never exceeds its window, and no delivery waits while there is room.
func TestLimitsHoldAndNoWaiterIsForgotten(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		synctest.Test(t, func(t *testing.T) {
			w := newRandomWorld(t, seed)
			for range 400 {
				w.step()
				w.check()
				if t.Failed() {
					t.Fatalf("seed %d", seed)
				}
			}
			for w.calls > 0 || len(w.passes) > 0 {
				time.Sleep(3 * time.Second)
				w.settle()
				w.leave()
				w.check()
			}
			for len(w.tickets) > 0 {
				w.end()
				w.check()
			}
			w.check()
			time.Sleep(20 * time.Minute) // the longest pause is over
			w.settle()
			w.check()
			for n := range destinations {
				if w.r.Capacity("", fmt.Sprintf("%d.test", n)) == 0 {
					t.Errorf("seed %d: no room at the end: %+v", seed, w.r.Snapshot())
				}
			}
		})
	}
}
