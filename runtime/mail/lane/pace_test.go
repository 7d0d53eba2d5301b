package lane_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postrider/postrider/runtime/mail/lane"
)

const domain = "example.test"

var hosts = lane.NewSet("mx2.example.test", "mx1.example.test")

func registry(t *testing.T, connections int, rows string) *lane.Registry {
	t.Helper()
	profiles, err := lane.BuiltIn().Extend(strings.NewReader(rows))
	if err != nil {
		t.Fatal(err)
	}
	return lane.New(lane.Config{Connections: connections, Profiles: profiles})
}

func enter(t *testing.T, r *lane.Registry) *lane.Pass {
	t.Helper()
	pass, err := r.Enter(t.Context(), "", domain, hosts)
	if err != nil {
		t.Fatal(err)
	}
	return pass
}

func pass(t *testing.T, r *lane.Registry, f lane.Feedback) {
	t.Helper()
	enter(t, r).Leave(f)
}

// state returns the lane of the mail hosts.
func state(t *testing.T, r *lane.Registry) lane.Snapshot {
	t.Helper()
	for _, s := range r.Snapshot() {
		if s.Name == hosts.Name && !s.Provisional {
			return s
		}
	}
	t.Fatal("no such lane")
	return lane.Snapshot{}
}

func TestTheWindowGrowsWithDeliveriesToTheProfilesLimit(t *testing.T) {
	t.Parallel()
	r := registry(t, 256, "default 2 5 100 10m -")
	pass(t, r, lane.Feedback{Refused: true})
	if w := state(t, r).Window; w != 2 {
		t.Errorf("begins with %d", w)
	}
	for range 20 {
		pass(t, r, lane.Feedback{Delivered: true})
	}
	if s := state(t, r); s.Window != 5 || s.Delivered != 20 || s.Refused != 1 {
		t.Errorf("after 20 deliveries the lane is %+v, want the window at its limit of 5, 20 delivered and 1 refused",
			s)
	}
}

func TestThrottlingHalvesTheWindowOncePerEventAndPausesShortly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := registry(t, 256, "default 8 8 100 10m -")
		at, other := enter(t, r), enter(t, r)
		time.Sleep(time.Second)
		at.Leave(lane.Feedback{Throttled: true, Reason: "421 too many"})
		other.Leave(lane.Feedback{Throttled: true, Reason: "421 too many"}) // the same event
		if s := state(t, r); s.Window != 4 || s.Reason != "421 too many" || s.Throttled != 2 {
			t.Errorf("after one throttling event the lane is %+v, want the window halved to 4 and its reason", s)
		}
		until, reason, paused := r.PausedUntil("", domain)
		if !paused || reason != "421 too many" || time.Until(until) != 5*time.Second || r.Capacity("", domain) != 0 {
			t.Errorf("paused %v until %v: %s", paused, until, reason)
		}
		time.Sleep(5 * time.Second)
		if _, _, paused := r.PausedUntil("", domain); paused || r.Capacity("", domain) != 6 {
			t.Errorf("paused %v, room %d", paused, r.Capacity("", domain))
		}
		pass(t, r, lane.Feedback{Throttled: true}) // again immediately: longer
		if s := state(t, r); s.Window != 2 || time.Until(s.PausedUntil) != 10*time.Second {
			t.Errorf("after being throttled again, the lane is %+v, want a window of 2 and a pause of 10s", s)
		}
		time.Sleep(10 * time.Second)
		for range 9 { // recovers slowly
			pass(t, r, lane.Feedback{Delivered: true})
		}
		if w := state(t, r).Window; w != 2 {
			t.Errorf("window %d after 9", w)
		}
		pass(t, r, lane.Feedback{Delivered: true})
		if w := state(t, r).Window; w != 3 {
			t.Errorf("window %d after 10", w)
		}
	})
}

func TestADeadDestinationIsBackedOffAndProbed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := registry(t, 256, "default 4 8 100 10m -")
		var calls atomic.Int64
		r.OnRoom(func() { calls.Add(1) })
		dead := lane.Feedback{Unreachable: true, Reason: "connection timed out"}
		late := enter(t, r)
		for range 3 {
			if _, _, paused := r.PausedUntil("", domain); paused {
				t.Fatal("paused before the third failure")
			}
			pass(t, r, dead)
		}
		for _, want := range []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute, 4 * time.Minute,
			8 * time.Minute, 10 * time.Minute, 10 * time.Minute} {
			late.Leave(dead) // connections from before the pause do not extend it
			until, reason, paused := r.PausedUntil("", domain)
			if got := time.Until(until); !paused || got != want || reason != dead.Reason {
				t.Fatalf("paused %v for %v, want %v: %s", paused, got, want, reason)
			}
			if _, err := r.Enter(t.Context(), "", domain, hosts); !errors.Is(err, lane.ErrNoRoom) ||
				!strings.Contains(err.Error(), dead.Reason) {
				t.Fatalf("error %v", err)
			}
			before := calls.Load()
			time.Sleep(want)
			synctest.Wait()
			if calls.Load() != before+1 {
				t.Fatalf("notified of room %d times", calls.Load()-before)
			}
			if n := r.Capacity("", domain); n != 1 {
				t.Fatalf("room %d for a probe", n)
			}
			probe := enter(t, r)
			if _, ok := r.Reserve("", domain); ok {
				t.Fatal("a second probe")
			}
			probe.Leave(dead)
		}
		time.Sleep(10 * time.Minute)
		pass(t, r, lane.Feedback{Refused: true}) // the server responds
		if n := r.Capacity("", domain); n < 2 {
			t.Errorf("room %d after an answer", n)
		}
		if got := state(t, r); got.Unreachable != 11 || !got.PausedUntil.IsZero() {
			t.Errorf("after an answer the lane is %+v, want 11 unreachable and no pause", got)
		}
	})
}

func TestRejectionsOfRecipientsNeverPause(t *testing.T) {
	t.Parallel()
	r := registry(t, 256, "default 4 8 100 10m -")
	for range 100 {
		pass(t, r, lane.Feedback{Refused: true})
		pass(t, r, lane.Feedback{Unreachable: true})
		pass(t, r, lane.Feedback{}) // abandoned on this side: no information
	}
	if s := state(t, r); !s.PausedUntil.IsZero() || s.Active != 0 || s.Unreachable != 100 {
		t.Errorf("after rejections of recipients, the lane is %+v, want no pause, nothing active and 100 unreachable", s)
	}
}

func TestTheRateBoundsMessagesAndAdapts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := registry(t, 256, "default 20 20 100 10m 60")
		for range 10 { // ten seconds' worth in one burst
			pass(t, r, lane.Feedback{Delivered: true})
		}
		began := time.Now()
		pass(t, r, lane.Feedback{Delivered: true})
		if waited := time.Since(began).Round(10 * time.Millisecond); waited != time.Second {
			t.Errorf("waited %v for the next", waited)
		}
		pass(t, r, lane.Feedback{Throttled: true})
		if s := state(t, r); s.Rate != 30 {
			t.Errorf("rate %v", s.Rate)
		}
		for range 10 {
			time.Sleep(2 * time.Minute)
			pass(t, r, lane.Feedback{Throttled: true})
		}
		if s := state(t, r); s.Rate != 3.75 {
			t.Errorf("rate %v, want the floor", s.Rate)
		}
		time.Sleep(2 * time.Minute)
		for range 20 {
			time.Sleep(time.Minute)
			pass(t, r, lane.Feedback{Delivered: true})
		}
		if s := state(t, r); s.Rate != 9.75 {
			t.Errorf("rate %v after 20 deliveries", s.Rate)
		}
	})
}

// An empty bucket has no room for Capacity, and rejects Enter after two seconds.
func TestWithoutRateThereIsNoRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := registry(t, 256, "default 20 20 100 10m 6")
		pass(t, r, lane.Feedback{Delivered: true})
		called := make(chan time.Time, 1)
		r.OnRoom(func() { called <- time.Now() })
		if n := r.Capacity("", domain); n != 0 {
			t.Errorf("room %d", n)
		}
		began := time.Now()
		if _, err := r.Enter(t.Context(), "", domain, hosts); !errors.Is(err, lane.ErrNoRoom) ||
			time.Since(began) != 2*time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		if at := <-called; at.Sub(began).Round(time.Second) != 9*time.Second || r.Capacity("", domain) != 1 {
			t.Errorf("notified after %v, room %d", at.Sub(began), r.Capacity("", domain))
		}
	})
}
