package limit_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/base/limit"
)

// Password guessers from many networks retry immediately after each response. Users who sign in once are
// admitted soon.
func TestRepeatingCallersDoNotStarveSingleOnes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const work, guessers, honest = 25 * time.Millisecond, 20, 30
		queue := limit.NewQueue(limit.Limits{Inside: 1, Waiting: 64, PerOwner: 4, Patience: 5 * time.Second})
		ctx, end := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for i := range guessers {
			for range 4 {
				all.Go(func() {
					for ctx.Err() == nil {
						if err := queue.Do(ctx, limit.Owner{Name: fmt.Sprint("guesser ", i)},
							func() error { time.Sleep(work); return nil }); err != nil {
							time.Sleep(work)
						}
					}
				})
			}
		}
		time.Sleep(10 * time.Second)
		var refused atomic.Int64
		var slowest atomic.Int64
		for i := range honest {
			begun := time.Now()
			if err := queue.Do(ctx, limit.Owner{Name: fmt.Sprint("honest ", i)},
				func() error { time.Sleep(work); return nil }); err != nil {
				refused.Add(1)
			}
			slowest.Store(max(slowest.Load(), int64(time.Since(begun))))
			time.Sleep(100 * time.Millisecond)
		}
		end()
		all.Wait()
		if took := time.Duration(slowest.Load()); refused.Load() != 0 || took > 4*work {
			t.Errorf("of %d single callers along with %d repeating ones, %d were rejected and the slowest took %s, want none and at most %s", honest, guessers, refused.Load(), took, 4*work)
		}
	})
}

// Known callers go first, and get a place even if the queue is full of others.
func TestKnownCallersGoFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		queue := limit.NewQueue(limit.Limits{Inside: 1, Waiting: 3, PerOwner: 2})
		release := make(chan struct{})
		var mu sync.Mutex
		var order []string
		var all sync.WaitGroup
		come := func(of limit.Owner, want error) {
			all.Go(func() {
				err := queue.Do(t.Context(), of, func() error {
					mu.Lock()
					order = append(order, of.Name)
					mu.Unlock()
					<-release
					return nil
				})
				if !errors.Is(err, want) {
					t.Errorf("%s got %v, want %v", of.Name, err, want)
				}
			})
			synctest.Wait()
		}
		come(limit.Owner{Name: "a"}, nil)
		come(limit.Owner{Name: "b"}, nil)
		come(limit.Owner{Name: "a"}, limit.ErrFull) // displaced by d, because a already runs
		come(limit.Owner{Name: "c"}, nil)
		come(limit.Owner{Name: "d"}, limit.ErrFull) // displaced by k
		come(limit.Owner{Name: "k", Known: true}, nil)
		close(release)
		all.Wait()
		if diff := cmp.Diff([]string{"a", "k", "b", "c"}, order); diff != "" {
			t.Errorf("order of admission (-want +got):\n%s", diff)
		}
	})
}

// A wait ends with its context or after the maximum wait, and frees its place for the next caller.
func TestQueueWaitEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		queue := limit.NewQueue(limit.Limits{Inside: 1, Waiting: 8, PerOwner: 1, Patience: 5 * time.Second})
		release := make(chan struct{})
		var all sync.WaitGroup
		wait := func(ctx context.Context, name string) <-chan error {
			done := make(chan error, 1)
			all.Go(func() {
				done <- queue.Do(ctx, limit.Owner{Name: name}, func() error { <-release; return nil })
			})
			synctest.Wait()
			return done
		}
		first := wait(t.Context(), "a")
		impatient, leave := context.WithCancel(t.Context())
		left, late := wait(impatient, "b"), wait(t.Context(), "c")
		if err := <-wait(t.Context(), "c"); !errors.Is(err, limit.ErrFull) {
			t.Errorf("a second ticket of an owner limited to one got %v, want %v", err, limit.ErrFull)
		}
		leave()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("a caller with a canceled context got %v, want its error", err)
		}
		if err := <-late; !errors.Is(err, limit.ErrFull) {
			t.Errorf("a caller that waited five seconds got %v, want %v", err, limit.ErrFull)
		}
		next := wait(t.Context(), "d")
		close(release)
		all.Wait()
		if err := errors.Join(<-first, <-next); err != nil {
			t.Errorf("the running caller and the next got %v, want no error", err)
		}
	})
}
