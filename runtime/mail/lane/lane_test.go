package lane_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postrider/postrider/runtime/mail/lane"
)

func TestADestinationIsProvisionalUntilItsMailHostsAreKnown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := registry(t, 256, "google 5 7 100 5m - google.com")
		if n := r.Capacity("", "Example.TEST."); n != 5 {
			t.Errorf("room %d of an unknown destination", n)
		}
		ticket, _ := r.Reserve("", "example.test")
		google := lane.NewSet("aspmx.l.google.com")
		for i := range 2 {
			p, err := r.Enter(t.Context(), "", fmt.Sprintf("%d.example.test", i), google)
			if err != nil {
				t.Fatal(err)
			}
			p.Leave(lane.Feedback{})
		}
		if a, b := r.Capacity("", "0.example.test"), r.Capacity("", "1.example.test"); a != 8 || b != 8 {
			t.Errorf("room %d and %d, want the room of Google's profile", a, b)
		}
		if ticket, ok := r.Reserve("", "0.example.test"); !ok || r.Capacity("", "1.example.test") != 7 {
			t.Error("two destinations of one MX set do not share its lane")
		} else {
			ticket.End()
		}
		if n := r.Capacity("192.0.2.1", "0.example.test"); n != 5 {
			t.Errorf("room %d for another way", n)
		}
		ticket.End()
		ticket.End()
		for _, s := range r.Snapshot() {
			if s.Active != 0 || s.Reserved != 0 || s.Provisional == (s.Provider == "google") {
				t.Errorf("after all have left, a lane is %+v, want nothing active or reserved, and only the lane of Google not provisional", s)
			}
		}
		time.Sleep(time.Hour)
		if n := r.Capacity("", "0.example.test"); n != 5 {
			t.Errorf("room %d an hour later", n)
		}
	})
}

// One and a half times as many deliveries as connections can be reserved. The excess is marked as such.
func TestReservationsExceedTheWindowByHalfAndOnRoomReportsMore(t *testing.T) {
	t.Parallel()
	r := registry(t, 256, "default 4 4 100 10m -")
	calls, ahead := 0, 0
	r.OnRoom(func() { calls++ })
	var tickets []*lane.Reservation
	for ticket, ok := r.Reserve("", domain); ok; ticket, ok = r.Reserve("", domain) {
		if tickets = append(tickets, ticket); ticket.IsAhead() {
			ahead++
		}
	}
	if len(tickets) != 6 || ahead != 2 || tickets[3].IsAhead() || calls != 0 {
		t.Fatalf("%d reservations, %d of them ahead, %d calls; want 6, 2, none", len(tickets), ahead, calls)
	}
	tickets[0].End()
	tickets[0].End()
	tickets[1].End()
	if calls != 1 || r.Capacity("", domain) != 2 {
		t.Errorf("%d calls, room %d", calls, r.Capacity("", domain))
	}
}

func TestEnterWaitsTwoSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := registry(t, 256, "default 1 1 100 10m -")
		held := enter(t, r)
		turns := make(chan int, 2)
		for i := range 2 {
			go func() {
				enter(t, r).Leave(lane.Feedback{Refused: true})
				turns <- i
			}()
			synctest.Wait()
		}
		time.Sleep(time.Second)
		held.Leave(lane.Feedback{Refused: true})
		if a, b := <-turns, <-turns; a != 0 || b != 1 {
			t.Errorf("turns %d, %d", a, b)
		}
		held = enter(t, r)
		began := time.Now()
		_, err := r.Enter(t.Context(), "", domain, hosts)
		if !errors.Is(err, lane.ErrNoRoom) || time.Since(began) != 2*time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		// A delivery that has waited without success may not wait again.
		if n := r.Capacity("", domain); n != 0 {
			t.Errorf("room %d while the only connection hangs", n)
		}
		held.Leave(lane.Feedback{})
		if n := r.Capacity("", domain); n != 2 {
			t.Errorf("room %d afterwards", n)
		}
	})
}

func TestPauseRejectsWaitingCallers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := registry(t, 256, "default 1 1 100 10m -")
		held := enter(t, r)
		began := time.Now()
		time.AfterFunc(time.Second, func() { held.Leave(lane.Feedback{Throttled: true, Reason: "421 no"}) })
		_, err := r.Enter(t.Context(), "", domain, hosts)
		if !errors.Is(err, lane.ErrNoRoom) || time.Since(began) != time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

func TestEnterEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := registry(t, 256, "default 1 1 100 10m -")
		held := enter(t, r)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := r.Enter(ctx, "", domain, hosts); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("waiting: %v", err)
		}
		if _, err := r.Enter(ctx, "", "b.test", lane.NewSet("mx.b.test")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("before: %v", err)
		}
		held.Leave(lane.Feedback{})
		if s := state(t, r); s.Active != 0 {
			t.Errorf("after all have left, the lane is %+v, want nothing active", s)
		}
	})
}

func TestDeadDestinationsLeaveHalfToTheOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := registry(t, 10, "default 2 10 100 10m -")
		calls := 0
		r.OnRoom(func() { calls++ })
		pass(t, r, lane.Feedback{Delivered: true})
		var tickets []*lane.Reservation
		var passes []*lane.Pass
		for i := range 20 {
			destination := fmt.Sprintf("%d.test", i)
			if ticket, ok := r.Reserve("", destination); ok {
				tickets = append(tickets, ticket)
			}
			if p, err := r.Enter(t.Context(), "", destination, lane.NewSet("mx."+destination)); err == nil {
				passes = append(passes, p)
			}
		}
		if len(tickets) != 5 || len(passes) != 5 {
			t.Errorf("%d reservations, %d passes of unproven lanes", len(tickets), len(passes))
		}
		if n := r.Capacity("", domain); n != 3 {
			t.Errorf("room %d of a lane that is known to work", n)
		}
		enter(t, r)
		tickets[0].End()
		passes[0].Leave(lane.Feedback{})
		if calls != 1 || r.Capacity("", "99.test") != 1 {
			t.Errorf("%d calls, room %d", calls, r.Capacity("", "99.test"))
		}
	})
}

func TestSmarthostIsOneLaneForAllMail(t *testing.T) {
	t.Parallel()
	r := lane.New(lane.Config{Connections: 10,
		Smarthost: &lane.Set{Name: "relay.test:587", Hosts: []string{"relay.test"}, Own: true}})
	if n := r.Capacity("", "a.test"); n != 15 {
		t.Errorf("room %d", n)
	}
	way := lane.SmarthostWay("other.test:25")
	if ticket, ok := r.Reserve(way, "a.test"); !ok || r.Capacity(way, "b.test") != 14 {
		t.Errorf("room %d of another smarthost", r.Capacity(way, "b.test"))
	} else {
		ticket.End()
	}
	for i := range 10 {
		if _, err := r.Enter(t.Context(), "", fmt.Sprintf("%d.test", i),
			lane.Set{Name: "relay.test:587", Own: true}); err != nil {
			t.Error(err)
		}
	}
	if states := r.Snapshot(); len(states) != 2 {
		t.Errorf("the lanes of two smarthosts are %+v, want two", states)
	}
}

func TestUnusedLanesAreForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := registry(t, 256, "")
		for i := range 1000 {
			destination := fmt.Sprintf("%d.test", i)
			ticket, _ := r.Reserve("", destination)
			p, err := r.Enter(t.Context(), "", destination, lane.NewSet("mx."+destination))
			if err != nil {
				t.Fatal(err)
			}
			p.Leave(lane.Feedback{Delivered: true})
			if i > 0 {
				ticket.End()
			}
		}
		if n := len(r.Snapshot()); n != 2000 {
			t.Errorf("%d lanes", n)
		}
		time.Sleep(10 * time.Minute)
		if left := r.Snapshot(); len(left) != 1 || left[0].Reserved != 1 {
			t.Errorf("%d left: %+v", len(left), left)
		}
	})
}

func TestSetsHaveOneNameInAnyOrder(t *testing.T) {
	t.Parallel()
	if a, b := lane.NewSet("b.test", "A.test."), lane.NewSet("a.test", "B.TEST", "b.test"); a.Name != b.Name ||
		a.Name != "a.test,b.test" {
		t.Errorf("one set of hosts in two orders has the names %q and %q, want a.test,b.test", a.Name, b.Name)
	}
	var many []string
	for i := range 100 {
		many = append(many, fmt.Sprintf("mx%02d.example.test", i))
	}
	long, other := lane.NewSet(many...), lane.NewSet(many[:99]...)
	if len(long.Name) > 200 || long.Name == other.Name {
		t.Errorf("a set of 100 hosts has the name %q, want at most 200 bytes and not the name of 99 of them", long.Name)
	}
}
