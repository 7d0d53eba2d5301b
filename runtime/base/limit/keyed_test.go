package limit_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/base/limit"
)

func TestFullKeyDelaysNoOtherKey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		keyed, ctx := limit.NewKeyed[string](limit.Bounds{PerKey: 1, Total: 2, Waiting: 1}), t.Context()
		if err := keyed.Acquire(ctx, "a"); err != nil {
			t.Fatalf("the first caller got %v, want a slot", err)
		}
		impatient, cancel := context.WithCancel(ctx)
		canceled := make(chan error, 1)
		go func() { canceled <- keyed.Acquire(impatient, "a") }()
		synctest.Wait()
		if err := keyed.Acquire(ctx, "a"); !errors.Is(err, limit.ErrFull) {
			t.Errorf("the third caller for a key, of which one waits, got %v, want %v", err, limit.ErrFull)
		}
		if keyed.TryAcquire("a") || !keyed.TryAcquire("b") {
			t.Error("a free slot was refused, or a held one was acquired")
		}
		if diff := cmp.Diff(map[string]int{"a": 1, "b": 1}, keyed.InUse()); diff != "" {
			t.Errorf("held slots (-want +got):\n%s", diff)
		}
		cancel()
		if err := <-canceled; !errors.Is(err, context.Canceled) {
			t.Errorf("the canceled waiter got %v, want %v", err, context.Canceled)
		}
		keyed.Release("a")
		keyed.Release("b")
	})
}

func TestTotalBoundsAllKeys(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		keyed, ctx := limit.NewKeyed[string](limit.Bounds{PerKey: 1, Total: 1}), t.Context()
		if !keyed.TryAcquire("a") || keyed.TryAcquire("b") {
			t.Fatal("the total is one slot, but another number was acquired")
		}
		impatient, cancel := context.WithCancel(ctx)
		canceled := make(chan error, 1)
		go func() { canceled <- keyed.Acquire(impatient, "b") }()
		synctest.Wait()
		cancel()
		if err := <-canceled; !errors.Is(err, context.Canceled) {
			t.Errorf("the waiter for the total got %v, want %v", err, context.Canceled)
		}
		served := make(chan error, 1)
		go func() { served <- keyed.Acquire(ctx, "b") }()
		synctest.Wait()
		keyed.Release("a")
		if err := <-served; err != nil {
			t.Errorf("the waiter got %v once the total had room, want a slot", err)
		}
		keyed.Release("b")
		if n := keyed.Entries(); n != 0 {
			t.Errorf("%d idle keys are remembered, want none", n)
		}
	})
}

func TestBoundContextAcquiresItsKey(t *testing.T) {
	t.Parallel()
	keyed := limit.NewKeyed[string](limit.Bounds{PerKey: 1})
	release, err := limit.AcquireBound(keyed.Bind(t.Context(), "a"))
	if err != nil || keyed.InUse()["a"] != 1 {
		t.Fatalf("a bound context got %v and holds %v, want one slot of its key", err, keyed.InUse())
	}
	if _, err := limit.AcquireBound(keyed.Bind(t.Context(), "a")); !errors.Is(err, limit.ErrFull) {
		t.Errorf("a second slot of the key got %v, want %v", err, limit.ErrFull)
	}
	release()
	if len(keyed.InUse()) != 0 {
		t.Errorf("after the release %v is held, want nothing", keyed.InUse())
	}
	release, err = limit.AcquireBound(t.Context())
	if err != nil {
		t.Fatalf("a context that is not bound got %v, want no limit", err)
	}
	release()
}

// Callers of many keys arrive, wait, are canceled and leave. No bound is exceeded, and idle keys are not
// remembered.
func TestIdleKeysLeaveNothing(t *testing.T) {
	t.Parallel()
	const perKey, total, keys, callers, rounds = 2, 5, 7, 40, 50
	keyed := limit.NewKeyed[int](limit.Bounds{PerKey: perKey, Total: total, Waiting: 3})
	var byKey [keys]atomic.Int64
	var held atomic.Int64
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			for range rounds {
				key := rand.IntN(keys)
				ctx, cancel := context.WithCancel(t.Context())
				if rand.IntN(4) == 0 {
					go cancel()
				}
				if err := keyed.Acquire(ctx, key); err == nil {
					if n, of := held.Add(1), byKey[key].Add(1); n > total || of > perKey {
						t.Errorf("%d slots are held, %d of one key, want at most %d and %d", n, of, total, perKey)
					}
					byKey[key].Add(-1)
					held.Add(-1)
					keyed.Release(key)
				}
				cancel()
			}
		})
	}
	all.Wait()
	if n := keyed.Entries(); n != 0 || len(keyed.InUse()) != 0 {
		t.Errorf("%d idle keys are remembered and %v is held, want nothing", n, keyed.InUse())
	}
}
