package ratelimit

import (
	"errors"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postrider/postrider/runtime/fault"
)

func TestTwoSecondsWorthAtOnceThenTheRate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := New()
		ada := Account{ID: "ada", PerSecond: 2}
		for _, remaining := range []string{"3", "2", "1", "0"} {
			if got, err := admit(t, l, ada); err != nil || got.Get("ratelimit-limit") != "4" || got.Get("ratelimit-remaining") != remaining {
				t.Errorf("with %s remaining: %v, %v", remaining, got, err)
			}
		}
		got, err := admit(t, l, ada)
		var refused *fault.Error
		if !errors.As(err, &refused) || refused.Kind != fault.Limit || refused.Code != fault.CodeRateLimit {
			t.Fatalf("the fifth at once: %v", err)
		}
		if refused.RetryAfter != 500*time.Millisecond || got.Get("ratelimit-remaining") != "0" || got.Get("ratelimit-reset") != "2" {
			t.Errorf("refusal: again after %s, %v", refused.RetryAfter, got)
		}
		time.Sleep(refused.RetryAfter) // of the bubble's clock
		if _, err := admit(t, l, ada); err != nil {
			t.Errorf("after the time that the refusal named: %v", err)
		}
		if _, err := admit(t, l, ada); err == nil {
			t.Error("half a second gave back more than one request")
		}
	})
}

func TestAccountsAreCountedApart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := New()
		for range 2 {
			if _, err := admit(t, l, Account{ID: "ada", PerSecond: 1}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := admit(t, l, Account{ID: "bob", PerSecond: 1}); err != nil {
			t.Errorf("bob pays for ada: %v", err)
		}
		if _, err := admit(t, l, Account{ID: "ada", PerSecond: 1}); err == nil {
			t.Error("ada is not limited")
		}
	})
}

func TestUnmeteredAccountsSeeTheirRateUntouched(t *testing.T) {
	t.Parallel()
	l := New()
	for range 5 {
		got, err := admit(t, l, Account{ID: "dev", PerSecond: 1, Unmetered: true})
		if err != nil || got.Get("ratelimit-limit") != "2" || got.Get("ratelimit-remaining") != "2" || got.Get("ratelimit-reset") != "0" {
			t.Fatalf("%v, %v", got, err)
		}
	}
}

// Requests of one account at the same time lose no count to each other.
func TestConcurrentRequestsAreAllCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := New()
		var admitted sync.Map
		var all sync.WaitGroup
		for i := range 50 {
			all.Go(func() {
				if _, err := admit(t, l, Account{ID: "ada", PerSecond: 5}); err == nil {
					admitted.Store(i, true)
				}
			})
		}
		all.Wait()
		n := 0
		admitted.Range(func(any, any) bool { n++; return true })
		if n != 10 {
			t.Errorf("%d of 50 were admitted, want 10", n)
		}
	})
}

func TestSpentEntriesAreDropped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := New()
		fill := func(name string, n int) {
			for i := range n {
				if _, err := admit(t, l, Account{ID: name + strconv.Itoa(i), PerSecond: 1}); err != nil {
					t.Fatal(err)
				}
			}
		}
		fill("early", sweepEvery-1)
		time.Sleep(time.Minute) // of the bubble's clock
		fill("late", 1)
		if n := len(l.store.entries); n != 1 {
			t.Errorf("%d entries are kept, want the late one", n)
		}
	})
}

func admit(t *testing.T, l *Limiter, a Account) (http.Header, error) {
	t.Helper()
	header := http.Header{}
	err := l.Admit(t.Context(), a, header)
	return header, err
}
