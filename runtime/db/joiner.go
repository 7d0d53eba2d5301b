package db

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/postrider/postrider/runtime/fault"
)

// Joiner makes concurrent writes share commits. What waits when a writer is
// free goes into one flush; nobody waits for a timer. A durable commit costs
// about the same for one row as for a hundred, so under load this is where the
// rate comes from.
type Joiner[T any] struct {
	config JoinerConfig[T]
	flush  func(ctx context.Context, items []T) []error

	mutex   sync.Mutex
	queue   []*waiting[T]
	writers sync.WaitGroup
	running int
	closed  bool
}

// JoinerConfig bounds a Joiner. Zero values mean the defaults.
type JoinerConfig[T any] struct {
	Writers    int           // flushes at a time, 2: one writes while the next batch fills
	MaxItems   int           // of one flush, 128
	MaxBytes   int           // of one flush by Size, 16 MiB; a larger item goes alone
	MaxWaiting int           // items waiting, 4096; more are refused
	Timeout    time.Duration // of one flush, 5 s (DB.FlushTime), and a second more for each slowest octets
	Size       func(T) int   // octets of an item; nil: not counted
	// Final tells an error that its item gets as it is, without a flush of its own; nil:
	// there is none.
	Final func(error) bool
}

// slowest is how many octets a second a database takes that is not to be called
// away: a large item must not run out of time on an ordinary disk.
const slowest = 4 << 20

// waiting is an item and the way back to who brought it.
type waiting[T any] struct {
	item  T
	size  int
	since time.Time
	taken bool // by a writer: only its flush can say what became of the item
	done  chan error
}

// errJoinerClosed is the cause when a process that shuts down refuses an item.
var errJoinerClosed = errors.New("shutting down")

// NewJoiner makes a Joiner. flush stores the items in one transaction and
// returns one error per item, or nil when all are stored. When it has an error
// for every item of several, nothing may be stored: each item is then flushed
// alone, so that a bad one does not take the others with it, unless the
// database is away. An error goes to the items of its flush and to nobody else;
// those who were in none are told that the database is away in words of the Joiner.
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

// Do stores an item and returns its error. While the item waits, the end of ctx
// withdraws it; once it is in a flush, Do waits for the result, which the
// flush's own timeout bounds. Too many waiting items are fault.Unavailable.
func (j *Joiner[T]) Do(ctx context.Context, item T) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w := &waiting[T]{item: item, size: j.config.Size(item), since: time.Now(), done: make(chan error, 1)}
	if err := j.enqueue(w); err != nil {
		return err
	}
	select {
	case err := <-w.done:
		return err
	case <-ctx.Done():
		if j.withdraw(w) {
			return ctx.Err()
		}
		return <-w.done
	}
}

func (j *Joiner[T]) enqueue(w *waiting[T]) error {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	if j.closed {
		return fault.Unavailable(errJoinerClosed)
	}
	if len(j.queue) >= j.config.MaxWaiting {
		return fault.Unavailable(fmt.Errorf("%d writes wait already", len(j.queue)))
	}
	j.queue = append(j.queue, w)
	if j.running < j.config.Writers {
		j.running++
		j.writers.Go(j.write)
	}
	return nil
}

// withdraw takes an item back that no writer has taken yet.
func (j *Joiner[T]) withdraw(w *waiting[T]) bool {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	if w.taken {
		return false
	}
	w.taken = true
	j.queue = slices.DeleteFunc(j.queue, func(other *waiting[T]) bool { return other == w })
	return true
}

// Close refuses new items and returns once those that wait are stored.
func (j *Joiner[T]) Close() {
	j.mutex.Lock()
	j.closed = true
	j.mutex.Unlock()
	j.writers.Wait()
}

// write is a writer: it lives as long as anything waits.
func (j *Joiner[T]) write() {
	for {
		batch := j.take()
		if len(batch) == 0 {
			return
		}
		j.settle(batch)
	}
}

// take removes the next batch from the queue. A writer that finds none has
// ended.
func (j *Joiner[T]) take() []*waiting[T] {
	j.mutex.Lock()
	defer j.mutex.Unlock()
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

// settle flushes a batch and tells everybody in it.
func (j *Joiner[T]) settle(batch []*waiting[T]) {
	errs := j.try(batch)
	stored := slices.Contains(errs, nil)
	if away := !stored && fault.IsDatabaseAway(errs[0]); away || stored || len(batch) == 1 {
		tell(batch, errs)
		if away {
			j.refuseLate(errs[0])
		}
		return
	}
	for i, w := range batch {
		err := errs[i]
		if !j.config.Final(err) {
			err = j.try(batch[i : i+1])[0]
		}
		w.done <- err
		if fault.IsDatabaseAway(err) {
			rest := batch[i+1:]
			tell(rest, slices.Repeat([]error{notTried(err)}, len(rest)))
			j.refuseLate(err)
			return
		}
	}
}

// notTried is the error of an item that was in no flush while the database was
// found away. It has the words of the error that was met and nothing that a caller
// could take for its own.
func notTried(met error) error {
	return fault.Unavailable(fmt.Errorf("not tried, the database was just found away: %s", met.Error()))
}

// refuseLate passes the bad news on to those who have waited for long while
// the database was found away: a flush of their own would take as long again.
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

// try flushes once. A panic becomes the batch's error: it must not take the
// process down from a goroutine that no request recovers.
func (j *Joiner[T]) try(batch []*waiting[T]) (errs []error) {
	bytes := 0
	for _, w := range batch {
		bytes += w.size
	}
	ctx, cancel := context.WithTimeout(context.Background(), j.config.Timeout+time.Duration(bytes/slowest)*time.Second)
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
	return slices.Repeat([]error{fmt.Errorf("joined write of %d items gave %d results", len(batch), len(errs))}, len(batch))
}

func tell[T any](batch []*waiting[T], errs []error) {
	for i, w := range batch {
		w.done <- errs[i]
	}
}
