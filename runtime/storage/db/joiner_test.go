package db_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
)

// gate is a flush that the test controls. It records its batches.
type gate struct {
	open    chan struct{}
	mutex   sync.Mutex
	batches [][]int
	errs    func(items []int) []error
}

func newGate(errs func([]int) []error) *gate { return &gate{open: make(chan struct{}), errs: errs} }

func (g *gate) flush(_ context.Context, items []int) []error {
	<-g.open
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.batches = append(g.batches, slices.Clone(items))
	if g.errs == nil {
		return nil
	}
	return g.errs(items)
}

// doAll calls Do concurrently once per item, in order, and returns a function for the results.
func doAll(ctx context.Context, j *db.Joiner[int], items ...int) func() []error {
	results := make([]error, len(items))
	var all sync.WaitGroup
	for i, item := range items {
		all.Go(func() { results[i] = j.Do(ctx, item) })
		synctest.Wait() // the item is in a flush or waiting
	}
	return func() []error { all.Wait(); return results }
}

func TestJoinerJoinsWaitingItems(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate(nil)
		j := db.NewJoiner(db.JoinerConfig[int]{Writers: 2, MaxItems: 3}, g.flush)
		results := doAll(t.Context(), j, 1, 2, 3, 4, 5, 6, 7, 8)
		close(g.open)
		for i, err := range results() {
			if err != nil {
				t.Errorf("item %d returned %v", i+1, err)
			}
		}
		var sizes []int
		var items []int
		for _, batch := range g.batches {
			sizes, items = append(sizes, len(batch)), append(items, batch...)
		}
		slices.Sort(sizes)
		slices.Sort(items)
		if fmt.Sprint(sizes) != "[1 1 3 3]" || fmt.Sprint(items) != "[1 2 3 4 5 6 7 8]" {
			t.Errorf("got the batches %v, want two of one (idle writers) and two of three", g.batches)
		}
	})
}

func TestJoinerBoundsBytes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate(nil)
		j := db.NewJoiner(db.JoinerConfig[int]{Writers: 1, MaxBytes: 10, Size: func(n int) int { return n }}, g.flush)
		results := doAll(t.Context(), j, 1, 4, 6, 5, 50, 2)
		close(g.open)
		results()
		if got := fmt.Sprint(g.batches); got != "[[1] [4 6] [5] [50] [2]]" {
			t.Errorf("got the batches %s", got)
		}
	})
}

func TestJoinerIsolatesTheBadItem(t *testing.T) {
	t.Parallel()
	for name, bad := range map[string]func(){"an error": func() {}, "a panic": func() { panic("bad item") }} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				g := newGate(func(items []int) []error {
					if !slices.Contains(items, 13) {
						return nil
					}
					bad()
					return slices.Repeat([]error{errors.New("bad item")}, len(items))
				})
				j := db.NewJoiner(db.JoinerConfig[int]{Writers: 1}, g.flush)
				results := doAll(t.Context(), j, 1, 2, 13, 4)
				close(g.open)
				for i, err := range results() {
					if wrong := i == 2; wrong != (err != nil) {
						t.Errorf("the result %d is %v", i, err)
					} else if wrong && !strings.Contains(err.Error(), "bad item") {
						t.Errorf("the result %d is %v", i, err)
					}
				}
			})
		})
	}
}

func TestJoinerReturnsErrorsPerItem(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		taken := errors.New("taken")
		g := newGate(func(items []int) []error {
			errs := make([]error, len(items))
			for i, item := range items {
				if item%2 == 0 {
					errs[i] = taken
				}
			}
			return errs
		})
		j := db.NewJoiner(db.JoinerConfig[int]{Writers: 1}, g.flush)
		results := doAll(t.Context(), j, 1, 2, 3, 4)
		close(g.open)
		if got := fmt.Sprint(results()); got != "[<nil> taken <nil> taken]" {
			t.Errorf("got the results %s", got)
		}
		if len(g.batches) != 2 {
			t.Errorf("got the batches %v: a batch with single errors was flushed again", g.batches)
		}
	})
}

func TestJoinerFlushesOnceIfDatabaseIsUnavailable(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		flushes := 0
		j := db.NewJoiner(db.JoinerConfig[int]{Writers: 1, MaxItems: 2}, func(_ context.Context, items []int) []error {
			flushes++
			<-time.After(4 * time.Second) // fake time: the deadline of a frozen server
			return slices.Repeat([]error{driver.ErrBadConn}, len(items))
		})
		started := time.Now()
		results := doAll(t.Context(), j, 1, 2, 3, 4, 5, 6)
		for i, err := range results() {
			if !fault.IsDatabaseUnavailable(err) {
				t.Errorf("the result %d is %v", i, err)
			}
		}
		if flushes != 1 || time.Since(started) > 5*time.Second {
			t.Errorf("got %d flushes in %s, want one: waiting items get the error too", flushes, time.Since(started))
		}
	})
}

// ownError is an error for one item, which no other item may get.
type ownError struct {
	item int
	err  error
}

func (e ownError) Error() string { return fmt.Sprintf("about item %d", e.item) }
func (e ownError) Unwrap() error { return e.err }

// An error goes to the items of its flush. An item in no flush, because the database was found to be
// unavailable first, gets an error of the Joiner.
func TestJoinerKeepsErrorsSeparate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		started := make(chan struct{})
		j := db.NewJoiner(db.JoinerConfig[int]{Writers: 1, MaxItems: 4}, func(_ context.Context, items []int) []error {
			if len(items) > 1 {
				return slices.Repeat([]error{errors.New("refused together")}, len(items))
			}
			if items[0] == 1 {
				<-started
				return nil
			}
			<-time.After(4 * time.Second) // fake time: the deadline of a frozen server
			return []error{ownError{items[0], driver.ErrBadConn}}
		})
		results := doAll(t.Context(), j, 1, 2, 3, 4, 5, 6) // 1 alone, then 2 to 5, and 6 waits
		close(started)
		for i, err := range results() {
			var own ownError
			switch {
			case i == 0 && err != nil:
				t.Errorf("item 1, which was stored, got %v", err)
			case i > 0 && !fault.IsDatabaseUnavailable(err):
				t.Errorf("item %d got %v, want an unavailable database", i+1, err)
			case errors.As(err, &own) && own.item != i+1:
				t.Errorf("item %d got the error of item %d", i+1, own.item)
			case i > 1 && errors.As(err, &own):
				t.Errorf("item %d was in no flush and got %v", i+1, err)
			}
		}
	})
}

// A final error is returned without another flush; the other items are tried alone.
func TestJoinerDoesNotRetryFinalErrors(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		final, open := errors.New("final"), errors.New("refused together")
		g := newGate(func(items []int) []error {
			errs := make([]error, len(items))
			for i, item := range items {
				if len(items) > 1 {
					errs[i] = open
					if item%2 == 0 {
						errs[i] = final
					}
				}
			}
			return errs
		})
		j := db.NewJoiner(db.JoinerConfig[int]{Writers: 1,
			Final: func(err error) bool { return errors.Is(err, final) }}, g.flush)
		results := doAll(t.Context(), j, 1, 2, 3, 4) // 1 alone, then the others
		close(g.open)
		if got := fmt.Sprint(results()); got != "[<nil> final <nil> final]" {
			t.Errorf("got the results %s", got)
		}
		if got := fmt.Sprint(g.batches); got != "[[1] [2 3 4] [3]]" {
			t.Errorf("got the batches %s, want only 3 flushed alone again", got)
		}
	})
}

func TestJoinerWithdrawsOnlyWaitingItems(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate(nil)
		j := db.NewJoiner(db.JoinerConfig[int]{Writers: 1}, g.flush)
		ctx, cancel := context.WithCancel(t.Context())
		cancelled := doAll(ctx, j, 1, 2) // 1 is in a flush, 2 waits
		others := doAll(t.Context(), j, 3)
		cancel()
		synctest.Wait()
		close(g.open)
		errs := cancelled()
		if errs[0] != nil || !errors.Is(errs[1], context.Canceled) || others()[0] != nil {
			t.Errorf("results = %v, %v; want the flushed item stored and the waiting one withdrawn", errs, others())
		}
		if got := fmt.Sprint(g.batches); got != "[[1] [3]]" {
			t.Errorf("got the batches %s", got)
		}
	})
}

func TestJoinerRejectsBeyondBoundAndAfterClose(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate(nil)
		j := db.NewJoiner(db.JoinerConfig[int]{Writers: 1, MaxWaiting: 2}, g.flush)
		results := doAll(t.Context(), j, 1, 2, 3)
		if err := j.Do(t.Context(), 4); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("an item beyond the bound returned %v", err)
		}
		closed := make(chan struct{})
		go func() { j.Close(); close(closed) }()
		synctest.Wait()
		if err := j.Do(t.Context(), 5); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("an item after Close returned %v", err)
		}
		close(g.open)
		<-closed
		if got := fmt.Sprint(results()); got != "[<nil> <nil> <nil>]" {
			t.Errorf("the results of items that were waiting at Close are %s", got)
		}
	})
}

func TestJoinerUnderManyCallers(t *testing.T) {
	t.Parallel()
	var stored, flushes atomic.Int64
	j := db.NewJoiner(db.JoinerConfig[int]{}, func(_ context.Context, items []int) []error {
		flushes.Add(1)
		stored.Add(int64(len(items)))
		return nil
	})
	var all sync.WaitGroup
	for i := range 2000 {
		all.Go(func() {
			if err := j.Do(t.Context(), i); err != nil {
				t.Errorf("item %d returned %v", i, err)
			}
		})
	}
	all.Wait()
	j.Close()
	if stored.Load() != 2000 {
		t.Errorf("%d items stored in %d flushes, want 2000", stored.Load(), flushes.Load())
	}
}

func TestJoinerGivesLargeItemsMoreTime(t *testing.T) {
	t.Parallel()
	var left time.Duration
	j := db.NewJoiner(db.JoinerConfig[int]{Timeout: time.Second, Size: func(n int) int { return n }},
		func(ctx context.Context, _ []int) []error {
			until, _ := ctx.Deadline()
			left = time.Until(until)
			return nil
		})
	for size, want := range map[int]time.Duration{1: time.Second, 16 << 20: time.Second, 116 << 20: 26 * time.Second} {
		if err := j.Do(t.Context(), size); err != nil {
			t.Fatal(err)
		}
		if left > want || left < want-time.Second/2 {
			t.Errorf("an item of %d bytes has %s, want %s", size, left, want)
		}
	}
}

// With an overloaded database, a write must not take twice its time: once in the queue and once in its flush.
func TestJoinerRespondsInTimeAfterSlowWrites(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const timeout = 5 * time.Second
		j := db.NewJoiner(db.JoinerConfig[int]{Writers: 1, MaxItems: 1, Timeout: timeout},
			func(ctx context.Context, _ []int) []error {
				select {
				case <-time.After(4 * time.Second): // slow, but stored
					return nil
				case <-ctx.Done():
					return []error{sql.ErrTxDone} // a commit after the deadline
				}
			})
		began := time.Now()
		took, errs := make([]time.Duration, 6), make([]error, 6)
		var all sync.WaitGroup
		for i := range errs {
			all.Go(func() {
				errs[i] = j.Do(t.Context(), i)
				took[i] = time.Since(began)
			})
			<-time.After(500 * time.Millisecond)
		}
		all.Wait()
		stored := 0
		for i, err := range errs {
			if since := took[i] - time.Duration(i)*500*time.Millisecond; since > timeout {
				t.Errorf("item %d had its result after %s, want at most %s", i, since, timeout)
			}
			switch {
			case err == nil:
				stored++
			case !fault.IsDatabaseUnavailable(err):
				t.Errorf("item %d was rejected with %v, want an unavailable database", i, err)
			}
		}
		if stored == 0 {
			t.Error("nothing was stored")
		}
	})
}

// A caller with little time left is rejected immediately: its flush would end early for all other items in
// it.
func TestJoinerRejectsItemWithoutTimeForFlush(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var left time.Duration
		j := db.NewJoiner(db.JoinerConfig[int]{}, func(ctx context.Context, _ []int) []error {
			until, _ := ctx.Deadline()
			left = time.Until(until)
			return nil
		})
		for budget, want := range map[time.Duration]bool{time.Second: false, 3 * time.Second: true} {
			ctx, cancel := context.WithTimeout(t.Context(), budget)
			err := j.Do(ctx, 1)
			cancel()
			if (err == nil) != want || err != nil && fault.KindOf(err) != fault.Unavailable {
				t.Errorf("an item with %s left: %v, want it stored: %t", budget, err, want)
			}
			if err == nil && left != budget {
				t.Errorf("the flush of an item with %s left ends after %s", budget, left)
			}
		}
	})
}
