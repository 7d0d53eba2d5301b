package limit

import (
	"context"
	"sync"
)

// Keyed bounds concurrent work for each key, and for all keys together. A key that is full does not
// delay other keys. A key is remembered only while work of it runs or waits. It is safe for concurrent use.
type Keyed[K comparable] struct {
	bounds Bounds
	total  *Semaphore // nil: unbounded

	mu   sync.Mutex
	keys map[K]*keySlots
}

// Bounds are the limits of a Keyed.
type Bounds struct {
	PerKey  int   // slots of one key, at least one
	Total   int   // slots of all keys together; 0: unbounded
	Waiting int64 // callers that may wait for one key
}

// keySlots are the slots of one key.
type keySlots struct {
	*Semaphore

	users int // callers that hold a slot or wait for one
}

// NewKeyed returns a Keyed with these bounds.
func NewKeyed[K comparable](b Bounds) *Keyed[K] {
	k := &Keyed[K]{bounds: b, keys: map[K]*keySlots{}}
	if b.Total > 0 {
		k.total = NewSemaphore(b.Total, Unbounded)
	}
	return k
}

// Acquire waits for a slot of the key; call Release to return it. It returns ErrFull if too many callers
// wait for the key, or the cause of ctx if ctx ends first.
func (k *Keyed[K]) Acquire(ctx context.Context, key K) error {
	slots := k.joinKey(key)
	if err := slots.Acquire(ctx); err != nil {
		k.leaveKey(key, slots)
		return err
	}
	if k.total == nil {
		return nil
	}
	if err := k.total.Acquire(ctx); err != nil {
		slots.Release()
		k.leaveKey(key, slots)
		return err
	}
	return nil
}

// TryAcquire takes a slot of the key if one is free, and reports whether it did.
func (k *Keyed[K]) TryAcquire(key K) bool {
	slots := k.joinKey(key)
	if slots.TryAcquire() {
		if k.total == nil || k.total.TryAcquire() {
			return true
		}
		slots.Release()
	}
	k.leaveKey(key, slots)
	return false
}

// Release returns a slot of the key. It panics if none is held.
func (k *Keyed[K]) Release(key K) {
	k.mu.Lock()
	slots := k.keys[key]
	k.mu.Unlock()
	if slots == nil {
		panic("limit: released a key that was not acquired")
	}
	if k.total != nil {
		k.total.Release()
	}
	slots.Release()
	k.leaveKey(key, slots)
}

// InUse returns how many slots each key holds. Keys without one are absent.
func (k *Keyed[K]) InUse() map[K]int {
	k.mu.Lock()
	defer k.mu.Unlock()
	held := make(map[K]int, len(k.keys))
	for key, slots := range k.keys {
		if n := slots.InUse(); n > 0 {
			held[key] = n
		}
	}
	return held
}

func (k *Keyed[K]) joinKey(key K) *keySlots {
	k.mu.Lock()
	defer k.mu.Unlock()
	slots := k.keys[key]
	if slots == nil {
		slots = &keySlots{Semaphore: NewSemaphore(k.bounds.PerKey, k.bounds.Waiting)}
		k.keys[key] = slots
	}
	slots.users++
	return slots
}

func (k *Keyed[K]) leaveKey(key K, slots *keySlots) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if slots.users--; slots.users == 0 {
		delete(k.keys, key)
	}
}

type boundKey struct{}

// boundWork acquires a slot of one key, and returns its release.
type boundWork func(ctx context.Context) (release func(), err error)

// Bind returns a context under which AcquireBound acquires a slot of the key.
func (k *Keyed[K]) Bind(ctx context.Context, key K) context.Context {
	return context.WithValue(ctx, boundKey{}, boundWork(func(ctx context.Context) (func(), error) {
		if err := k.Acquire(ctx, key); err != nil {
			return nil, err
		}
		return func() { k.Release(key) }, nil
	}))
}

// AcquireBound acquires a slot of the key that ctx is bound to. The caller must call release once. Its
// errors are those of Keyed.Acquire. If ctx is not bound, nothing limits the work.
func AcquireBound(ctx context.Context) (release func(), err error) {
	acquire, is := ctx.Value(boundKey{}).(boundWork)
	if !is {
		return func() {}, nil
	}
	return acquire(ctx)
}
