package cache

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// table is the untyped implementation of Cache.
type table struct {
	max         int
	ttl         time.Duration
	sliding     bool
	loadTimeout time.Duration
	weigh       func(key, value any) int // nil: 1
	ttlOf       func(value any) time.Duration

	mu      sync.Mutex
	lru     *simplelru.LRU[any, *entry]
	weight  int // of all entries
	loads   map[any]*load
	sweeper *time.Timer // removes expired entries of a cache that is not used
	armed   bool        // the sweeper is scheduled
}

type entry struct {
	value   any
	weight  int
	expires time.Time // zero: never
}

// load is a call of a loader. Its result is set before done is closed.
type load struct {
	done   chan struct{}
	values map[any]any
	err    error
}

// errAborted is the result of a load whose loader panicked. The panic continues in the goroutine of its
// caller.
var errAborted = errors.New("cache: the load was aborted")

// sweepPause is the minimum time between two sweeps.
const sweepPause = time.Second

func newTable(maxWeight int, ttl time.Duration, sliding bool, loadTimeout time.Duration) *table {
	if maxWeight <= 0 {
		panic("cache: Max must be positive")
	}
	t := &table{max: maxWeight, ttl: ttl, sliding: sliding, loadTimeout: loadTimeout, loads: map[any]*load{}}
	// The table counts weights, so the LRU has no bound of its own.
	t.lru, _ = simplelru.NewLRU(math.MaxInt, func(_ any, e *entry) { t.weight -= e.weight })
	return t
}

func (t *table) lookup(key any) (any, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lookupLocked(key, time.Now())
}

// lookupLocked returns a value that has not expired. The caller holds the lock.
func (t *table) lookupLocked(key any, now time.Time) (any, bool) {
	e, ok := t.lru.Get(key)
	switch {
	case !ok:
		return nil, false
	case e.isExpired(now):
		t.lru.Remove(key)
		return nil, false
	case t.sliding:
		e.expires = now.Add(t.ttl)
	}
	return e.value, true
}

// load returns the values of keys. It calls the loader for those that are neither cached nor being loaded
// by another caller.
func (t *table) load(ctx context.Context, keys []any,
	loader func(context.Context, []any) (map[any]any, error)) (map[any]any, error) {
	found := make(map[any]any, len(keys))
	var missing []any
	var own *load
	others := map[any]*load{}
	now := time.Now()

	t.mu.Lock()
	for _, key := range keys {
		if value, ok := t.lookupLocked(key, now); ok {
			found[key] = value
			continue
		}
		under := t.loads[key]
		switch {
		case under == nil:
			if own == nil {
				own = &load{done: make(chan struct{}), err: errAborted}
			}
			t.loads[key] = own
			missing = append(missing, key)
		case under != own: // the caller may name a key twice
			others[key] = under
		}
	}
	t.mu.Unlock()

	// The caller's own load comes first, so that two callers waiting for each other's keys both make
	// progress.
	if own != nil {
		t.runLoader(ctx, own, missing, loader, now)
		if own.err != nil {
			return nil, own.err
		}
		for _, key := range missing {
			if value, ok := own.values[key]; ok {
				found[key] = value
			}
		}
	}
	for key, other := range others {
		select {
		case <-other.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if other.err != nil {
			return nil, other.err
		}
		if value, ok := other.values[key]; ok {
			found[key] = value
		}
	}
	return found, nil
}

// runLoader calls the loader and stores the values of keys that were not changed in the meantime.
func (t *table) runLoader(ctx context.Context, own *load, keys []any,
	loader func(context.Context, []any) (map[any]any, error), began time.Time) {
	ctx = context.WithoutCancel(ctx)
	if t.loadTimeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, t.loadTimeout)
		defer cancel()
	}
	defer func() {
		t.mu.Lock()
		for _, key := range keys {
			if t.loads[key] != own {
				continue
			}
			delete(t.loads, key)
			if value, ok := own.values[key]; ok && own.err == nil {
				t.storeLocked(key, value, began)
			}
		}
		t.mu.Unlock()
		close(own.done)
	}()
	own.values, own.err = loader(ctx, keys)
}

func (t *table) set(key, value any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.loads, key)
	t.storeLocked(key, value, time.Now())
}

func (t *table) remove(key any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.loads, key)
	t.lru.Remove(key)
}

func (t *table) clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.loads)
	t.lru.Purge()
}

// storeLocked stores a value whose lifetime started at began. The caller holds the lock. An entry that exceeds
// the bound on its own is not stored.
func (t *table) storeLocked(key, value any, began time.Time) {
	t.lru.Remove(key)
	e := &entry{value: value, weight: 1}
	if t.weigh != nil {
		e.weight = t.weigh(key, value)
	}
	ttl := t.ttl
	if t.ttlOf != nil {
		ttl = t.ttlOf(value)
	}
	if t.ttl > 0 || t.ttlOf != nil {
		e.expires = began.Add(ttl)
	}
	now := time.Now()
	if e.weight > t.max || e.isExpired(now) {
		return
	}
	t.evictExpired(now)
	for t.weight+e.weight > t.max {
		t.lru.RemoveOldest()
	}
	t.lru.Add(key, e)
	t.weight += e.weight
	t.scheduleSweep(now)
}

func (e *entry) isExpired(now time.Time) bool { return !e.expires.IsZero() && !now.Before(e.expires) }

// evictExpired removes expired entries from the end of the LRU order.
func (t *table) evictExpired(now time.Time) {
	for _, oldest, ok := t.lru.GetOldest(); ok && oldest.isExpired(now); _, oldest, ok = t.lru.GetOldest() {
		t.lru.RemoveOldest()
	}
}

// scheduleSweep schedules the removal of the least recently used entry for when it expires.
func (t *table) scheduleSweep(now time.Time) {
	_, oldest, ok := t.lru.GetOldest()
	if t.armed || !ok || oldest.expires.IsZero() {
		return
	}
	t.armed = true
	wait := max(oldest.expires.Sub(now), sweepPause)
	if t.sweeper == nil {
		t.sweeper = time.AfterFunc(wait, t.removeExpired)
		return
	}
	t.sweeper.Reset(wait)
}

func (t *table) removeExpired() {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	t.armed = false
	t.evictExpired(now)
	t.scheduleSweep(now)
}
