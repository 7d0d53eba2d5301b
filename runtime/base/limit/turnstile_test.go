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

func TestOnlySoManyAreInsideAndOnlySoManyWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const inside, waiting, asking = 2, 3, 10
		gate := limit.New(inside, waiting)
		var now, most, full atomic.Int64
		release := make(chan struct{})
		var all sync.WaitGroup
		for range asking {
			all.Go(func() {
				err := gate.Do(t.Context(), func() error {
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
		close(release)
		all.Wait()
		if most.Load() != inside || full.Load() != asking-inside-waiting {
			t.Errorf("of %d asking: %d inside at a time and %d turned away, want %d and %d", asking, most.Load(), full.Load(), inside, asking-inside-waiting)
		}
	})
}

func TestWhoGivesUpLeavesTheirPlace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gate := limit.New(1, 1)
		release := make(chan struct{})
		var all sync.WaitGroup
		all.Go(func() { _ = gate.Do(t.Context(), func() error { <-release; return nil }) })
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		left := make(chan error, 1)
		all.Go(func() { left <- gate.Do(ctx, func() error { return nil }) })
		synctest.Wait()
		cancel()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("who gave up got %v, want the context's error", err)
		}
		next := make(chan error, 1)
		all.Go(func() { next <- gate.Do(t.Context(), func() error { return nil }) })
		synctest.Wait()
		close(release)
		if err := <-next; err != nil {
			t.Errorf("who came after got %v, want a turn", err)
		}
		all.Wait()
	})
}
