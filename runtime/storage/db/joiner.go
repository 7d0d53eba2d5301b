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
	Writers    int // flushes at a time, 2: one writes while the next batch fills
	MaxItems   int // of one flush, 128
	MaxBytes   int // of one flush by Size, 16 MiB; a larger item goes alone
	MaxWaiting int // items waiting, 4096; more are refused
	// Timeout is how long an item takes from Do to its result, 5 s (DB.FlushTime). An item that has waited for half of
	// it is refused, because the rest may not be enough for its flush. An item that exceeds MaxBytes has one second more
	// for each slowest bytes above it.
	Timeout time.Duration
	Size    func(T) int // octets of an item; nil: not counted
	// Final tells an error that its item gets as it is, without a flush of its own; nil:
	// there is none.
	Final func(error) bool
}

// slowest is how many bytes a second a database stores that is not considered to be
// away: a large item must not run out of time on an ordinary disk. Timeout is enough
// for MaxBytes at that speed.
const slowest = 4 << 20

// waiting is an item and the way back to who brought it.
type waiting[T any] struct {
	item  T
	size  int
	since time.Time
	until time.Time // when its caller wants the result
	taken bool      // by a writer: only its flush can say what became of the item
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
// withdraws it. Once it is in a flush, Do waits for the result, because nothing else
// can tell whether the item was stored; the flush ends with Timeout, or with the
// deadline of ctx if that is earlier. Too many waiting items are fault.Unavailable.
func (j *Joiner[T]) Do(ctx context.Context, item T) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	now := time.Now()
	w := &waiting[T]{item: item, size: j.config.Size(item), since: now, until: now.Add(j.config.Timeout), done: make(chan error, 1)}
	if deadline, has := ctx.Deadline(); has && deadline.Before(w.until) {
		w.until = deadline
	}
	if w.until.Sub(now) < j.config.Timeout/4 { // its flush would end too early for everything else in it
		return fault.Unavailable(context.DeadlineExceeded)
	}
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

// refuseOverdue refuses items whose callers cannot get a result in time any more. The writes that are ahead of
// them were slow, and so would theirs be: a refusal now is worth more than one that comes late. The caller holds mutex.
func (j *Joiner[T]) refuseOverdue() {
	now := time.Now()
	j.queue = slices.DeleteFunc(j.queue, func(w *waiting[T]) bool {
		overdue := w.until.Sub(now) < w.until.Sub(w.since)/2
		if overdue {
			w.taken = true
			w.done <- fault.Unavailable(fmt.Errorf("waited %s for other writes to end", now.Sub(w.since).Round(time.Millisecond)))
		}
		return overdue
	})
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
	bytes, until := 0, batch[0].until
	for _, w := range batch {
		bytes += w.size
		if w.until.Before(until) {
			until = w.until
		}
	}
	excess := max(bytes-j.config.MaxBytes, 0)
	ctx, cancel := context.WithDeadline(context.Background(), until.Add(time.Duration(excess/slowest)*time.Second))
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
