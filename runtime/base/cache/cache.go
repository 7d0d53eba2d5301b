// Package cache keeps recent values in memory: one bounded LRU with a lifetime per entry.
//
// The bound and the lifetimes are strict. A store that would exceed the bound first evicts the least
// recently used entries, and an expired entry is never returned. An expired entry is also removed from
// memory if the cache is not used, within a second of reaching the end of the LRU order.
//
// Get and BulkGet load missing values, once for all concurrent callers. A load outlives the caller that
// started it, because other callers may be waiting for it. Invalidating a key while it is being loaded
// discards the loaded value: callers that already wait receive it, and the next caller loads again. Errors
// are not cached.
//
// Cache is a thin generic layer over a table that is compiled once for all types. Each package that sees a
// generic type compiles its methods again, so keep them short.
package cache

import (
	"context"
	"time"
)

// Config bounds a cache.
type Config[K comparable, V any] struct {
	// maximum number of entries, or their total weight if Weigh is set; required
	Max         int
	Weigh       func(key K, value V) int    // weight of an entry; 1 if nil
	TTL         time.Duration               // lifetime of an entry; 0: until evicted
	TTLOf       func(value V) time.Duration // lifetime of this entry, instead of TTL; 0 or less: not cached
	Sliding     bool                        // each read renews the lifetime
	LoadTimeout time.Duration               // timeout of a load; 0: none
}

// Cache keeps values by key. It is safe for concurrent use and needs no cleanup.
type Cache[K comparable, V any] struct{ entries *table }

// New returns an empty cache. It panics if Max is not positive.
func New[K comparable, V any](c Config[K, V]) *Cache[K, V] {
	t := newTable(c.Max, c.TTL, c.Sliding, c.LoadTimeout)
	if c.Weigh != nil {
		t.weigh = func(key, value any) int { return c.Weigh(key.(K), *value.(*V)) }
	}
	if c.TTLOf != nil {
		t.ttlOf = func(value any) time.Duration { return c.TTLOf(*value.(*V)) }
	}
	return &Cache[K, V]{t}
}

// GetIfPresent returns the value of a key, if the cache has it.
func (c *Cache[K, V]) GetIfPresent(key K) (value V, ok bool) {
	if found, ok := c.entries.lookup(key); ok {
		return *found.(*V), true
	}
	return value, false
}

// Get returns the value of a key, and loads it if the cache does not have it. The lifetime of
// a loaded value begins with the load. While another caller loads the value, Get waits for the
// result or the end of ctx.
func (c *Cache[K, V]) Get(ctx context.Context, key K, load func(context.Context, K) (V, error)) (value V, err error) {
	if value, ok := c.GetIfPresent(key); ok {
		return value, nil
	}
	found, err := c.entries.load(ctx, []any{key}, func(ctx context.Context, _ []any) (map[any]any, error) {
		loaded, err := load(ctx, key)
		return map[any]any{key: &loaded}, err
	})
	if err != nil {
		return value, err
	}
	return *found[key].(*V), nil
}

// BulkGet is Get for several keys, whose missing values are loaded by one call. A key for which
// load returns no value is not in the result.
func (c *Cache[K, V]) BulkGet(ctx context.Context, keys []K,
	load func(context.Context, []K) (map[K]V, error)) (map[K]V, error) {
	wanted := make([]any, len(keys))
	for i, key := range keys {
		wanted[i] = key
	}
	found, err := c.entries.load(ctx, wanted, func(ctx context.Context, missing []any) (map[any]any, error) {
		asked := make([]K, len(missing))
		for i, key := range missing {
			asked[i] = key.(K)
		}
		loaded, err := load(ctx, asked)
		boxed := make(map[any]any, len(loaded))
		for key, value := range loaded {
			boxed[key] = &value
		}
		return boxed, err
	})
	if err != nil {
		return nil, err
	}
	out := make(map[K]V, len(found))
	for key, value := range found {
		out[key.(K)] = *value.(*V)
	}
	return out, nil
}

// Set stores a value. A load of the key in progress is discarded.
func (c *Cache[K, V]) Set(key K, value V) { c.entries.set(key, &value) }

// Invalidate removes a value. A load of the key in progress is discarded.
func (c *Cache[K, V]) Invalidate(key K) { c.entries.remove(key) }

// InvalidateAll removes all values. Loads in progress are discarded.
func (c *Cache[K, V]) InvalidateAll() { c.entries.clear() }
