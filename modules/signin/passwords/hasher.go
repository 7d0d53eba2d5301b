package passwords

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/alexedwards/argon2id"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/limit"
	"github.com/postrider/postrider/runtime/base/loglimit"
)

var cost = &argon2id.Params{Memory: 19 * 1024, Iterations: 2, Parallelism: 1, SaltLength: 16, KeyLength: 32}

const (
	mostAtOnce = 4
	mostWait   = 256
	mostOfOne  = 16
	patience   = 5 * time.Second
	retryAfter = 2 * time.Second
)

// Hasher hashes and checks passwords with bounded concurrency. It is safe for concurrent use.
type Hasher struct {
	queue     *limit.Queue
	done      atomic.Int64
	dummyHash func() string // returns the hash to check for users without a password
	log       *slog.Logger
}

// NewHasher returns a new Hasher.
func NewHasher(log *slog.Logger) *Hasher {
	limits := limit.Limits{Inside: min(runtime.GOMAXPROCS(0)/2, mostAtOnce), Waiting: mostWait, PerOwner: mostOfOne,
		Patience: patience}
	return &Hasher{queue: limit.NewQueue(limits), log: log, dummyHash: sync.OnceValue(newDummyHash)}
}

// newDummyHash returns a hash that matches no valid password.
func newDummyHash() string {
	made, err := argon2id.CreateHash(strings.Repeat("0", MaxLength+1), cost)
	if err != nil { // the system has no random source
		panic(err)
	}
	return made
}

// Count returns the number of hashes created or checked, which is the cost of guessing.
func (h *Hasher) Count() int64 { return h.done.Load() }

// Hash returns the hash of a password. Error: Unavailable if the queue is full.
func (h *Hasher) Hash(ctx context.Context, of limit.Owner, password string) (hash string, err error) {
	err = h.WithSlot(ctx, of, func(*Slot) (err error) {
		h.done.Add(1)
		hash, err = argon2id.CreateHash(password, cost)
		return err
	})
	return hash, err
}

// Slot is a slot for a hash.
type Slot struct{ h *Hasher }

// WithSlot calls run once a hashing slot is free, so that callers without a slot skip the work that precedes
// hashing. Errors: Unavailable if the queue is full; errors of run.
func (h *Hasher) WithSlot(ctx context.Context, of limit.Owner, run func(*Slot) error) error {
	err := h.queue.Do(ctx, of, func() error { return run(&Slot{h}) })
	if errors.Is(err, limit.ErrFull) {
		return fault.Overloaded(retryAfter)
	}
	return err
}

// Check reports whether a password matches a stored hash. Without a hash it returns false after the same
// time.
func (t *Slot) Check(ctx context.Context, password, hash string) bool {
	known := hash != ""
	if !known {
		hash = t.h.dummyHash()
	}
	t.h.done.Add(1)
	same, err := compareHash(password, hash)
	if err != nil {
		t.h.log.ErrorContext(loglimit.Collapse(ctx, "hash"), "invalid stored password hash", "error", err)
	}
	return err == nil && same && known
}

// compareHash returns an error for a malformed hash, on which the library panics.
func compareHash(password, hash string) (same bool, err error) {
	defer func() {
		if met := recover(); met != nil {
			same, err = false, fmt.Errorf("malformed hash: %v", met)
		}
	}()
	return argon2id.ComparePasswordAndHash(password, hash)
}
