package limit_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/postrider/postrider/runtime/base/limit"
)

func TestSemaphoreBoundsHoldersAndWaiters(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const size, waiting, callers = 2, 3, 10
		slots := limit.NewSemaphore(size, waiting)
		var now, most, full atomic.Int64
		release := make(chan struct{})
		var all sync.WaitGroup
		for range callers {
			all.Go(func() {
				err := slots.Do(t.Context(), func() error {
					if n := now.Add(1); n > most.Load() {
						most.Store(n)
					}
					defer now.Add(-1)
					<-release
					return nil
				})
				if errors.Is(err, limit.ErrFull) {
					full.Add(1)
				} else if err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		if held := slots.InUse(); held != size {
			t.Errorf("%d slots are held, want %d", held, size)
		}
		close(release)
		all.Wait()
		if most.Load() != size || full.Load() != callers-size-waiting || slots.InUse() != 0 {
			t.Errorf("of %d callers %d held a slot at a time, %d were refused and %d slots are still held, want %d, %d and 0", callers, most.Load(), full.Load(), slots.InUse(), size, callers-size-waiting)
		}
	})
}

func TestCanceledWaiterLeavesItsPlace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slots := limit.NewSemaphore(1, 1)
		release := make(chan struct{})
		var all sync.WaitGroup
		all.Go(func() { _ = slots.Do(t.Context(), func() error { <-release; return nil }) })
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		canceled := make(chan error, 1)
		all.Go(func() { canceled <- slots.Acquire(ctx) })
		synctest.Wait()
		cancel()
		if err := <-canceled; !errors.Is(err, context.Canceled) {
			t.Errorf("the canceled waiter got %v, want %v", err, context.Canceled)
		}
		next := make(chan error, 1)
		all.Go(func() { next <- slots.Do(t.Context(), func() error { return nil }) })
		synctest.Wait()
		close(release)
		if err := <-next; err != nil {
			t.Errorf("the next waiter got %v, want a slot", err)
		}
		all.Wait()
	})
}

func TestSemaphoreServesWaitersInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slots := limit.NewSemaphore(1, limit.Unbounded)
		if !slots.TryAcquire() || slots.TryAcquire() {
			t.Fatal("a Semaphore of one slot does not grant exactly one")
		}
		order := make(chan int, 3)
		for i := range cap(order) {
			go func() {
				if err := slots.Do(t.Context(), func() error { order <- i; return nil }); err != nil {
					t.Error(err)
				}
			}()
			synctest.Wait()
		}
		slots.Release()
		for want := range cap(order) {
			if got := <-order; got != want {
				t.Errorf("waiter %d was served instead of %d", got, want)
			}
		}
	})
}

func TestReleaseWithoutAcquirePanics(t *testing.T) {
	t.Parallel()
	for name, release := range map[string]func(){
		"semaphore": limit.NewSemaphore(1, 0).Release,
		"keyed":     func() { limit.NewKeyed[string](limit.Bounds{PerKey: 1}).Release("a") },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: Release without Acquire does not panic", name)
				}
			}()
			release()
		}()
	}
}
