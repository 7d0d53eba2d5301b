package db

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/postrider/postrider/runtime/base/fault"
)

// Joiner lets concurrent writes share commits. When a writer is free, it flushes everything that is queued;
// no timer is involved. A durable commit costs about the same for one row as for a hundred, so under load
// this determines the throughput.
type Joiner[T any] struct {
	config JoinerConfig[T]
	flush  func(ctx context.Context, items []T) []error

	mutex   sync.Mutex
	queue   []*waiting[T]
	writers sync.WaitGroup
	running int
	closed  bool
}

// JoinerConfig configures a Joiner. Zero values mean the defaults.
type JoinerConfig[T any] struct {
	Writers    int // concurrent flushes, default 2: one writes while the next batch fills
	MaxItems   int // in one flush, default 128
	MaxBytes   int // in one flush, by Size, default 16 MiB; a larger item is flushed alone
	MaxWaiting int // queued items, default 4096; more are rejected
	// Timeout is the maximum time from Do to its result, default 5 s (DB.FlushTime). An item that has been
	// queued for half of it is refused, because the rest may not be enough for its flush. An item that
	// exceeds MaxBytes gets an additional second per slowest bytes above it.
	Timeout time.Duration
	Size    func(T) int // size of an item in bytes; nil means not counted
	// Final reports whether an error is final for its item, which is then not flushed again on its own.
	// Optional.
	Final func(error) bool
}

// waiting is a queued item with the channel for its result.
type waiting[T any] struct {
	item  T
	size  int
	since time.Time
	until time.Time // deadline of its caller
	taken bool      // taken by a writer: the item's result is that of its flush
	done  chan error
}

// errJoinerClosed is the cause if an item is rejected because the process is shutting down.
var errJoinerClosed = errors.New("shutting down")

// NewJoiner returns a new Joiner. flush stores the items in one transaction and returns one error per item,
// or nil if all were stored. If it returns an error for every one of several items, nothing may be stored:
// each item is then flushed alone, so that a bad item does not affect the others, unless the database is
// unavailable. Only the items of a flush get its error. Items that were in no flush get an error of the Joiner, which
// reports that the database is unavailable.
func NewJoiner[T any](config JoinerConfig[T], flush func(ctx context.Context, items []T) []error) *Joiner[T] {
	set := func(value *int, standard int) {
		if *value <= 0 {
			*value = standard
		}
	}
	set(&config.Writers, 2)
	set(&config.MaxItems, 128)
	set(&config.MaxBytes, 16<<20)
	set(&config.MaxWaiting, 4096)
	if config.Timeout <= 0 {
		config.Timeout = 5 * time.Second
	}
	if config.Size == nil {
		config.Size = func(T) int { return 0 }
	}
	if config.Final == nil {
		config.Final = func(error) bool { return false }
	}
	return &Joiner[T]{config: config, flush: flush}
}

// Do stores an item and returns its error. While the item is queued, the end of ctx withdraws it. Once it
// is in a flush, Do waits for the result, because only the flush knows whether the item was stored; the
// flush ends with Timeout, or with the deadline of ctx if that is earlier. If too many items are queued, Do
// returns fault.DatabaseUnavailable.
func (j *Joiner[T]) Do(ctx context.Context, item T) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	now := time.Now()
	w := &waiting[T]{item: item, size: j.config.Size(item), since: now, until: now.Add(j.config.Timeout),
		done: make(chan error, 1)}
	if deadline, has := ctx.Deadline(); has && deadline.Before(w.until) {
		w.until = deadline
	}
	if w.until.Sub(now) < j.config.Timeout/4 { // its flush would end too early for the other items
		return fault.DatabaseUnavailable(context.DeadlineExceeded)
	}
	if err := j.enqueueItem(w); err != nil {
		return err
	}
	select {
	case err := <-w.done:
		return err
	case <-ctx.Done():
		if j.withdrawItem(w) {
			return ctx.Err()
		}
		return <-w.done
	}
}

func (j *Joiner[T]) enqueueItem(w *waiting[T]) error {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	if j.closed {
		return fault.DatabaseUnavailable(errJoinerClosed)
	}
	if len(j.queue) >= j.config.MaxWaiting {
		return fault.DatabaseUnavailable(fmt.Errorf("%d writes are already queued", len(j.queue)))
	}
	j.queue = append(j.queue, w)
	if j.running < j.config.Writers {
		j.running++
		j.writers.Go(j.writeBatches)
	}
	return nil
}

// withdrawItem removes an item that no writer has taken yet.
func (j *Joiner[T]) withdrawItem(w *waiting[T]) bool {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	if w.taken {
		return false
	}
	w.taken = true
	j.queue = slices.DeleteFunc(j.queue, func(other *waiting[T]) bool { return other == w })
	return true
}

// Close rejects new items and returns when the queued ones are stored.
func (j *Joiner[T]) Close() {
	j.mutex.Lock()
	j.closed = true
	j.mutex.Unlock()
	j.writers.Wait()
}

// writeBatches is the loop of a writer: it ends when the queue is empty.
func (j *Joiner[T]) writeBatches() {
	for {
		batch := j.takeBatch()
		if len(batch) == 0 {
			return
		}
		j.settleBatch(batch)
	}
}

// takeBatch removes the next batch from the queue. If the queue is empty, the writer ends.
func (j *Joiner[T]) takeBatch() []*waiting[T] {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	j.refuseOverdue()
	count, bytes := 0, 0
	for _, w := range j.queue {
		if count == j.config.MaxItems || count > 0 && bytes+w.size > j.config.MaxBytes {
			break
		}
		w.taken = true
		count++
		bytes += w.size
	}
	if count == 0 {
		j.running--
		return nil
	}
	batch := slices.Clone(j.queue[:count])
	j.queue = slices.Delete(j.queue, 0, count)
	return batch
}

// refuseOverdue rejects items that can no longer be stored in time. The writes before them were slow, and
// theirs would be too: an early error is better than a late one. The caller holds mutex.
func (j *Joiner[T]) refuseOverdue() {
	now := time.Now()
	j.queue = slices.DeleteFunc(j.queue, func(w *waiting[T]) bool {
		overdue := w.until.Sub(now) < w.until.Sub(w.since)/2
		if overdue {
			w.taken = true
			w.done <- fault.DatabaseUnavailable(fmt.Errorf("waited %s for other writes", now.Sub(w.since).
				Round(time.Millisecond)))
		}
		return overdue
	})
}

// settleBatch flushes a batch and delivers the results.
func (j *Joiner[T]) settleBatch(batch []*waiting[T]) {
	errs := j.tryFlush(batch)
	stored := slices.Contains(errs, nil)
	if away := !stored && fault.IsDatabaseUnavailable(errs[0]); away || stored || len(batch) == 1 {
		deliverResults(batch, errs)
		if away {
			j.refuseLate(errs[0])
		}
		return
	}
	for i, w := range batch {
		err := errs[i]
		if !j.config.Final(err) {
			err = j.tryFlush(batch[i : i+1])[0]
		}
		w.done <- err
		if fault.IsDatabaseUnavailable(err) {
			rest := batch[i+1:]
			deliverResults(rest, slices.Repeat([]error{notTried(err)}, len(rest)))
			j.refuseLate(err)
			return
		}
	}
}

// notTried returns the error for an item that was in no flush when the database was found to be unavailable. It
// has the text of the error that occurred, but does not wrap it, because it belongs to other items.
func notTried(met error) error {
	return fault.DatabaseUnavailable(fmt.Errorf("not attempted, the database is unavailable: %s", met.Error()))
}

// refuseLate rejects items that had been queued for long when the database was found to be unavailable,
// because their own flush would take as long again.
func (j *Joiner[T]) refuseLate(met error) {
	err := notTried(met)
	j.mutex.Lock()
	defer j.mutex.Unlock()
	j.queue = slices.DeleteFunc(j.queue, func(w *waiting[T]) bool {
		late := time.Since(w.since) > time.Second
		if late {
			w.taken = true
			w.done <- err
		}
		return late
	})
}

// tryFlush flushes once. A panic becomes the error of the batch: it must not crash the process from a goroutine
// outside any request.
func (j *Joiner[T]) tryFlush(batch []*waiting[T]) (errs []error) {
	bytes, until := 0, batch[0].until
	for _, w := range batch {
		bytes += w.size
		if w.until.Before(until) {
			until = w.until
		}
	}
	excess := max(bytes-j.config.MaxBytes, 0)
	ctx, cancel := context.WithDeadline(context.Background(), until.Add(extraTime(excess)))
	defer cancel()
	defer func() {
		if cause := recover(); cause != nil {
			errs = slices.Repeat([]error{fmt.Errorf("joined write panicked: %v\n%s", cause, debug.Stack())}, len(batch))
		}
	}()
	items := make([]T, len(batch))
	for i, w := range batch {
		items[i] = w.item
	}
	errs = j.flush(ctx, items)
	switch len(errs) {
	case len(batch):
		return errs
	case 0:
		return make([]error, len(batch))
	}
	return slices.Repeat([]error{fmt.Errorf("joined write of %d items returned %d results", len(batch), len(errs))},
		len(batch))
}

func deliverResults[T any](batch []*waiting[T], errs []error) {
	for i, w := range batch {
		w.done <- errs[i]
	}
}
