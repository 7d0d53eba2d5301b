package cache_test

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/base/cache"
)

func TestLeastRecentlyUsedEntryIsEvicted(t *testing.T) {
	t.Parallel()
	c := cache.New(cache.Config[int, int]{Max: 3})
	for i := range 3 {
		c.Set(i, i)
	}
	c.GetIfPresent(0)
	c.Set(1, 10) // a store counts as a use
	c.Set(3, 3)  // evicts 2
	wantKeys(t, c, 4, 0, 1, 3)
	if got, _ := c.GetIfPresent(1); got != 10 {
		t.Errorf("key 1 has the value %d, want the newer one, 10", got)
	}
}

// The bound holds at every moment, whatever runs concurrently.
func TestBoundIsStrict(t *testing.T) {
	t.Parallel()
	const bound = 10
	c := cache.New(cache.Config[int, int]{Max: bound})
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			for i := range 2_000 {
				key := worker*2_000 + i
				if i%2 == 0 {
					c.Set(key, key)
				} else if _, err := c.Get(t.Context(), key, doubleKey); err != nil {
					t.Error(err)
				}
				if i%100 == 0 {
					if n := cache.Len(c); n > bound {
						t.Errorf("the cache has %d entries, want at most %d", n, bound)
					}
				}
			}
		})
	}
	all.Wait()
	if n := cache.Len(c); n != bound {
		t.Errorf("the cache has %d entries at the end, want %d", n, bound)
	}
}

func TestWeightsAreBounded(t *testing.T) {
	t.Parallel()
	c := cache.New(cache.Config[string, string]{Max: 10,
		Weigh: func(key, value string) int { return len(key) + len(value) }})
	c.Set("a", "1234")
	c.Set("b", "1234") // total weight 10
	for key, want := range map[string]bool{"a": true, "b": true} {
		if _, ok := c.GetIfPresent(key); ok != want {
			t.Errorf("key %s is kept: %t, want %t", key, ok, want)
		}
	}
	c.Set("c", "1") // total weight 12: one of the older two is evicted
	if cache.Len(c) != 2 || cache.Weight(c) != 7 {
		t.Errorf("the cache has %d entries that weigh %d, want 2 that weigh 7", cache.Len(c), cache.Weight(c))
	}
	c.Set("c", "a value that alone exceeds the bound")
	if _, ok := c.GetIfPresent("c"); ok {
		t.Error("a value heavier than the cache, or its predecessor, is kept")
	}
	c.InvalidateAll()
	if cache.Len(c) != 0 || cache.Weight(c) != 0 {
		t.Errorf("an empty cache has %d entries that weigh %d", cache.Len(c), cache.Weight(c))
	}
}

func TestEntriesExpire(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fixed := cache.New(cache.Config[int, int]{Max: 9, TTL: time.Minute})
		sliding := cache.New(cache.Config[int, int]{Max: 9, TTL: time.Minute, Sliding: true})
		own := cache.New(cache.Config[int, int]{Max: 9,
			TTLOf: func(v int) time.Duration { return time.Duration(v) * time.Second }})
		for _, c := range []*cache.Cache[int, int]{fixed, sliding, own} {
			c.Set(40, 40)
			c.Set(0, 0)
		}
		wantKeys(t, own, 41, 40) // a lifetime of 0 means expired
		time.Sleep(40 * time.Second)
		wantKeys(t, fixed, 41, 0, 40)
		wantKeys(t, sliding, 41, 0, 40)
		wantKeys(t, own, 41)
		time.Sleep(40 * time.Second)
		wantKeys(t, fixed, 41)
		wantKeys(t, sliding, 41, 0, 40)
	})
}

// Secrets are cached too: SECURITY.md promises when a signing key leaves the memory.
func TestExpiredEntriesLeaveAnIdleCache(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := cache.New(cache.Config[int, int]{Max: 9, TTL: time.Minute, Sliding: true})
		c.Set(1, 1)
		c.Set(2, 2)
		time.Sleep(30 * time.Second)
		c.GetIfPresent(1)
		for _, step := range []struct {
			wait time.Duration
			want int
		}{{29 * time.Second, 2}, {2 * time.Second, 1}, {28 * time.Second, 1}, {3 * time.Second, 0}} {
			time.Sleep(step.wait)
			synctest.Wait()
			if n := cache.Len(c); n != step.want {
				t.Errorf("the idle cache has %d entries, want %d", n, step.want)
			}
		}
	})
}

func TestAValueIsLoadedOnceForAllCallers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := cache.New(cache.Config[int, int]{Max: 9, TTL: time.Minute})
		loads := 0
		load := func(ctx context.Context, key int) (int, error) {
			loads++
			time.Sleep(time.Second)
			return 2 * key, ctx.Err()
		}
		first, leave := context.WithCancel(t.Context())
		time.AfterFunc(time.Second/2, leave) // the load continues for the others
		for i := range 50 {
			ctx := t.Context()
			if i == 0 {
				ctx = first
			}
			go func() {
				if got, err := c.Get(ctx, 21, load); err != nil || got != 42 {
					t.Errorf("Get returned %d, %v, want 42", got, err)
				}
			}()
			synctest.Wait()
		}
		time.Sleep(2 * time.Second)
		if loads != 1 {
			t.Errorf("the value was loaded %d times, want once", loads)
		}
		// The lifetime began with the load, not with its end.
		time.Sleep(57 * time.Second)
		wantKeys(t, c, 22, 21)
		time.Sleep(time.Second)
		wantKeys(t, c, 22)
	})
}

func TestWaitingCallerReturnsWhenItsContextEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := cache.New(cache.Config[int, int]{Max: 9})
		go func() {
			_, _ = c.Get(t.Context(), 1, func(context.Context,
				int) (int, error) {
				time.Sleep(time.Minute)
				return 1, nil
			})
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		if _, err := c.Get(ctx, 1, doubleKey); !errors.Is(err, context.DeadlineExceeded) ||
			time.Since(began) != time.Second {
			t.Errorf("Get returned %v after %s, want the end of its context after 1 s", err, time.Since(began))
		}
		time.Sleep(time.Minute)
	})
}

func TestLoadHasATimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := cache.New(cache.Config[int, int]{Max: 9, LoadTimeout: 5 * time.Second})
		_, err := c.Get(t.Context(), 1,
			func(ctx context.Context, _ int) (int, error) { <-ctx.Done(); return 0, ctx.Err() })
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Get returned %v, want the timeout of the load", err)
		}
	})
}

// A revoked credential must not return through a load that began before the revocation.
func TestValueInvalidatedDuringItsLoadIsDiscarded(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*cache.Cache[int, int]){
		"Invalidate":    func(c *cache.Cache[int, int]) { c.Invalidate(1) },
		"InvalidateAll": func(c *cache.Cache[int, int]) { c.InvalidateAll() },
	} {
		c := cache.New(cache.Config[int, int]{Max: 9})
		got, err := c.Get(t.Context(), 1, func(ctx context.Context, key int) (int, error) {
			change(c)
			// A later caller does not wait for the older load.
			if newer, err := c.Get(ctx, key, func(context.Context, int) (int, error) { return 7, nil }); newer != 7 ||
				err != nil {
				t.Errorf("%s: a later Get returned %d, %v, want 7", name, newer, err)
			}
			return 1, nil
		})
		if got != 1 || err != nil {
			t.Errorf("%s: Get returned %d, %v, want the loaded value", name, got, err)
		}
		if kept, ok := c.GetIfPresent(1); kept != 7 || !ok {
			t.Errorf("%s: the cache has %d (%t), want 7, which was loaded after the change", name, kept, ok)
		}
	}
}

func TestSetDuringALoadWins(t *testing.T) {
	t.Parallel()
	c := cache.New(cache.Config[int, int]{Max: 9})
	if _, err := c.Get(t.Context(), 1,
		func(context.Context, int) (int, error) { c.Set(1, 7); return 1, nil }); err != nil {
		t.Fatal(err)
	}
	if kept, _ := c.GetIfPresent(1); kept != 7 {
		t.Errorf("the cache has %d, want 7, which was stored during the load", kept)
	}
}

func TestErrorsAreNotCached(t *testing.T) {
	t.Parallel()
	c := cache.New(cache.Config[int, int]{Max: 9})
	if _, err := c.Get(t.Context(), 1, func(context.Context, int) (int, error) { return 5, io.EOF }); !errors.Is(err,
		io.EOF) {
		t.Errorf("Get returned %v, want the loader's error", err)
	}
	if got, err := c.Get(t.Context(), 1, doubleKey); got != 2 || err != nil {
		t.Errorf("Get returned %d, %v after an error, want 2", got, err)
	}
}

func TestLoaderPanicReleasesWaitingCallers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := cache.New(cache.Config[int, int]{Max: 9})
		go func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic did not reach the caller of Get")
				}
			}()
			_, _ = c.Get(t.Context(), 1, func(context.Context,
				int) (int, error) {
				time.Sleep(time.Second)
				panic("broken")
			})
		}()
		synctest.Wait()
		if _, err := c.Get(t.Context(), 1, doubleKey); err == nil {
			t.Error("a caller that waited for a load that panicked got no error")
		}
		if got, err := c.Get(t.Context(), 1, doubleKey); got != 2 || err != nil {
			t.Errorf("Get returned %d, %v after the panic, want 2", got, err)
		}
	})
}

func TestMissingKeysAreLoadedTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := cache.New(cache.Config[int, int]{Max: 9})
		c.Set(1, 2)
		var asked [][]int
		load := func(_ context.Context, keys []int) (map[int]int, error) {
			asked = append(asked, keys)
			time.Sleep(time.Second)
			out := map[int]int{}
			for _, key := range keys {
				if key < 9 { // there is no 9
					out[key] = 2 * key
				}
			}
			return out, nil
		}
		go func() {
			got, err := c.BulkGet(t.Context(), []int{1, 2, 3, 2}, load)
			if diff := cmp.Diff(map[int]int{1: 2, 2: 4, 3: 6}, got); diff != "" || err != nil {
				t.Errorf("the first BulkGet (-want +got), %v:\n%s", err, diff)
			}
		}()
		synctest.Wait()
		got, err := c.BulkGet(t.Context(), []int{3, 4, 9}, load) // 3 is being loaded
		if diff := cmp.Diff(map[int]int{3: 6, 4: 8}, got); diff != "" || err != nil {
			t.Errorf("the second BulkGet (-want +got), %v:\n%s", err, diff)
		}
		if diff := cmp.Diff([][]int{{2, 3}, {4, 9}}, asked); diff != "" {
			t.Errorf("the loads (-want +got):\n%s", diff)
		}
		wantKeys(t, c, 10, 1, 2, 3, 4)
	})
}

// A value may be a nil interface.
func TestNilValueIsCached(t *testing.T) {
	t.Parallel()
	c := cache.New(cache.Config[string, error]{Max: 9})
	if _, err := c.Get(t.Context(), "a", func(context.Context, string) (error, error) { return nil, nil }); err != nil {
		t.Fatal(err)
	}
	if got, ok := c.GetIfPresent("a"); got != nil || !ok {
		t.Errorf("the cache has %v (%t), want the nil that was loaded", got, ok)
	}
}

// A hit is on the path of every request.
func TestAHitAllocatesNothing(t *testing.T) {
	type pair struct{ account, name string }
	type value [3]string
	c := cache.New(cache.Config[pair, value]{Max: 9, TTL: time.Hour})
	key := pair{"account", "name"}
	c.Set(key, value{})
	load := func(context.Context, pair) (value, error) { return value{}, nil }
	if n := testing.AllocsPerRun(100, func() {
		if _, err := c.Get(t.Context(), key, load); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("a hit allocates %.0f times, want 0", n)
	}
}

func doubleKey(_ context.Context, key int) (int, error) { return 2 * key, nil }

// wantKeys compares which of the keys below a number are kept.
func wantKeys(t *testing.T, c *cache.Cache[int, int], below int, want ...int) {
	t.Helper()
	var got []int
	for key := range below {
		if _, ok := c.GetIfPresent(key); ok {
			got = append(got, key)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the keys that are kept (-want +got):\n%s", diff)
	}
}
