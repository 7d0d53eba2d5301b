package sending

import (
	"context"
	"database/sql"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

// An idempotency key that another transaction holds makes whoever stores it wait, and
// a batch is as slow as its slowest key. So a batch waits shortly and is then taken
// apart: what has no key is stored together, what has one is stored by itself. The one
// submission whose key is held waits in a transaction that holds nothing else.

const (
	// batchPatience is how long a batch waits: longer than an equal request usually takes
	// to commit, and little for those who share the batch.
	batchPatience = 50 * time.Millisecond
	// alonePatience is how long a submission by itself waits before it takes one of the
	// places for waiting: it holds the counters of its account meanwhile.
	alonePatience = 10 * time.Millisecond
	// keyWaits is how many held keys this process waits for, each on a connection of the
	// database. Requests with further ones are refused at once.
	keyWaits = 4
)

// keyPatience is how long a transaction of n submissions waits for a key.
func keyPatience(n int) time.Duration {
	if n == 1 {
		return alonePatience
	}
	return batchPatience
}

func keyIsBusy(err error) bool { return errors.Is(err, idempotency.ErrBusy) }

// submit stores a submission together with others that wait, or apart from them while
// another request holds its key.
func (w *writer) submit(ctx context.Context, sub *submission) error {
	if sub.claim == nil {
		return w.joiner(sub).Do(ctx, sub)
	}
	err := w.submitWithKey(ctx, sub)
	if !keyIsBusy(err) {
		return err
	}
	if err := w.awaitKey(ctx, sub.claim); err != nil {
		return err
	}
	if err = w.lines.apart.Do(ctx, sub); keyIsBusy(err) {
		return idempotency.InProgress().Because(err)
	}
	return err
}

// submitWithKey is a first try. ErrBusy: another request holds the key.
func (w *writer) submitWithKey(ctx context.Context, sub *submission) error {
	key := sub.claim.Key()
	if equal := w.busyKeys.find(key); equal != nil {
		if err := equal.wait(ctx); err != nil {
			return err
		}
		return w.lines.apart.Do(ctx, sub)
	}
	joiner := w.joiner(sub)
	if joiner != w.lines.single { // the only transactions that are slow by themselves
		defer w.busyKeys.begin(key)(nil)
	}
	err := joiner.Do(ctx, sub)
	if keyIsBusy(err) { // its own key, or that of one that shared its batch
		return w.lines.apart.Do(ctx, sub)
	}
	return err
}

// errKeyFree rolls back what was stored to find that the key is free.
var errKeyFree = errors.New("the idempotency key is free")

// awaitKey returns once no other transaction holds the key of the claim. The error is
// InProgress when that takes longer than the database lets a statement wait, or when
// this process waits for too many keys already. Equal requests wait together.
func (w *writer) awaitKey(ctx context.Context, claim *idempotency.Claim) (err error) {
	key := claim.Key()
	if equal := w.busyKeys.find(key); equal != nil {
		return equal.wait(ctx)
	}
	if !w.busyKeys.enter() {
		return idempotency.InProgress()
	}
	defer w.busyKeys.leave()
	end := w.busyKeys.begin(key)
	defer func() {
		var refusal *fault.Error
		if errors.As(err, &refusal) {
			end(err)
			return
		}
		end(nil) // that this caller has left, say, is nothing to tell the others
	}()
	err = w.db.InHotTx(ctx, func(tx *sql.Tx) error {
		if err := claim.Store(ctx, tx, idempotency.Answer{Status: http.StatusOK}); err != nil {
			return err
		}
		return errKeyFree
	})
	if errors.Is(err, errKeyFree) || errors.Is(err, idempotency.ErrTaken) {
		return nil
	}
	return err
}

// flushWithoutKeys stores those submissions of a batch that have no key. The others
// get the given error.
func (w *writer) flushWithoutKeys(ctx context.Context, batch []*submission, busy error) []error {
	errs := repeat(make([]error, len(batch)), busy)
	var free []*submission
	var places []int
	for i, sub := range batch {
		if sub.claim == nil {
			free, places = append(free, sub), append(places, i)
		}
	}
	if len(free) == 0 {
		return errs
	}
	for i, err := range w.flushAccepts(ctx, free) {
		errs[places[i]] = err
	}
	return errs
}

// busyKeys are keys that a request of this process stores slowly, or waits for: a
// submission with one of them goes into no batch. The zero value is empty.
type busyKeys struct {
	mutex   sync.Mutex
	keys    map[idempotency.Key]*busyKey
	waiting int
}

// busyKey is one of them.
type busyKey struct {
	over chan struct{} // closed at the end
	err  error         // why the key could not be waited for; set before the end
}

// wait returns at the end, with its error, or with that of ctx.
func (k *busyKey) wait(ctx context.Context) error {
	select {
	case <-k.over:
		return k.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (b *busyKeys) find(key idempotency.Key) *busyKey {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.keys[key]
}

// begin notes a key until the returned function is called. Of two at the same moment
// the later is the one that others wait for.
func (b *busyKeys) begin(key idempotency.Key) (end func(error)) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.keys == nil {
		b.keys = map[idempotency.Key]*busyKey{}
	}
	k := &busyKey{over: make(chan struct{})}
	b.keys[key] = k
	return func(err error) {
		b.mutex.Lock()
		defer b.mutex.Unlock()
		if b.keys[key] == k {
			delete(b.keys, key)
		}
		k.err = err
		close(k.over)
	}
}

// enter takes one of the places for those who wait, false when none is free.
func (b *busyKeys) enter() bool {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.waiting == keyWaits {
		return false
	}
	b.waiting++
	return true
}

func (b *busyKeys) leave() {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.waiting--
}
