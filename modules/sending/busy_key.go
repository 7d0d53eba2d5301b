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

// A transaction that stores an idempotency key waits while another transaction holds that key, and a batch is
// as slow as its slowest key. Therefore a batch waits briefly and is then split: submissions without keys are
// stored together, those with keys one by one. A submission whose key is held waits in a transaction that holds
// no other locks.

const (
	// batchPatience is how long a batch waits for a key. It exceeds the time that an identical request usually
	// takes to commit, but is short for the other requests in the batch.
	batchPatience = 50 * time.Millisecond
	// alonePatience is how long a single submission waits before it takes one of the waiting slots. It holds
	// the counters of its account in the meantime.
	alonePatience = 10 * time.Millisecond
	// keyWaits is how many held keys this process waits for, each on a database connection. Requests with
	// further held keys are rejected immediately.
	keyWaits = 4
)

// keyPatience returns how long a transaction of n submissions waits for a key.
func keyPatience(n int) time.Duration {
	if n == 1 {
		return alonePatience
	}
	return batchPatience
}

func keyIsBusy(err error) bool { return errors.Is(err, idempotency.ErrBusy) }

// submit stores a submission along with others that are waiting, or alone if another request holds its key.
func (w *writer) submit(ctx context.Context, sub *submission) error {
	if sub.claim == nil {
		return w.joinerFor(sub).Do(ctx, sub)
	}
	err := w.submitWithKey(ctx, sub)
	if !keyIsBusy(err) {
		return err
	}
	if err := w.awaitKey(ctx, sub.claim); err != nil {
		return err
	}
	if err = w.lines.apart.Do(ctx, sub); keyIsBusy(err) {
		return idempotency.InProgress().WithCause(err)
	}
	return err
}

// submitWithKey makes the first try. It returns ErrBusy if another request holds the key.
func (w *writer) submitWithKey(ctx context.Context, sub *submission) error {
	key := sub.claim.Key()
	if equal := w.busyKeys.find(key); equal != nil {
		if err := equal.wait(ctx); err != nil {
			return err
		}
		return w.lines.apart.Do(ctx, sub)
	}
	joiner := w.joinerFor(sub)
	if joiner != w.lines.single { // the other submissions have slow transactions
		defer w.busyKeys.begin(key)(nil)
	}
	err := joiner.Do(ctx, sub)
	if keyIsBusy(err) { // its own key, or the key of a submission in its batch
		return w.lines.apart.Do(ctx, sub)
	}
	return err
}

// errKeyFree rolls back the row that was stored to find out whether the key is free.
var errKeyFree = errors.New("the idempotency key is free")

// awaitKey returns once no other transaction holds the key of the claim. It returns InProgress if that takes
// longer than the database lets a statement wait, or if this process already waits for too many keys. Identical
// requests share one wait.
func (w *writer) awaitKey(ctx context.Context, claim *idempotency.Claim) (err error) {
	key := claim.Key()
	if equal := w.busyKeys.find(key); equal != nil {
		return equal.wait(ctx)
	}
	if !w.busyKeys.acquireWait() {
		return idempotency.InProgress()
	}
	defer w.busyKeys.releaseWait()
	end := w.busyKeys.begin(key)
	defer func() {
		var refusal *fault.Error
		if errors.As(err, &refusal) {
			end(err)
			return
		}
		end(nil) // other waiters must not see, for example, that this caller has disconnected
	}()
	err = w.db.InHotTx(ctx, func(tx *sql.Tx) error {
		if err := claim.Store(ctx, tx, idempotency.Response{Status: http.StatusOK}); err != nil {
			return err
		}
		return errKeyFree
	})
	if errors.Is(err, errKeyFree) || errors.Is(err, idempotency.ErrTaken) {
		return nil
	}
	return err
}

// flushWithoutKeys stores the submissions of a batch that have no key. The others fail with the error busy.
func (w *writer) flushWithoutKeys(ctx context.Context, batch []*submission, busy error) []error {
	errs := repeatError(make([]error, len(batch)), busy)
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

// busyKeys are keys that a request of this process is slow to store or waits for. A submission with one of them
// does not join a batch. The zero value is empty.
type busyKeys struct {
	mutex   sync.Mutex
	keys    map[idempotency.Key]*busyKey
	waiting int
}

// busyKey is a key that is in use until over is closed.
type busyKey struct {
	over chan struct{} // closed when the key is no longer busy
	err  error         // why waiting for the key failed; set before over is closed
}

// wait waits until the key is no longer busy and returns its error, or the error of ctx.
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

// begin registers a key until the returned function is called. If two requests register it at the same moment,
// others wait for the later one.
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

// acquireWait takes one of the waiting slots. It returns false if none is free.
func (b *busyKeys) acquireWait() bool {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.waiting == keyWaits {
		return false
	}
	b.waiting++
	return true
}

func (b *busyKeys) releaseWait() {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.waiting--
}
