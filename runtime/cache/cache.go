// Package cache says what a service keeps of a cache, so that those who know the service
// need not know the cache.
//
// A generic type is compiled again in every package that can see it, with all its methods,
// through the fields of whatever it imports. The caches of the services (otter) were four
// fifths of the code that was compiled and linked, in more than a hundred packages. So a
// field names the interface, and only the package that makes the cache compiles it.
package cache

import (
	"context"

	"github.com/maypok86/otter/v2"
)

// Cache is an otter.Cache as its owner uses it.
type Cache[K comparable, V any] interface {
	// Get gives what is kept, or has it loaded, once for all who ask meanwhile.
	Get(ctx context.Context, key K, loader otter.Loader[K, V]) (V, error)
	BulkGet(ctx context.Context, keys []K, loader otter.BulkLoader[K, V]) (map[K]V, error)
	GetIfPresent(key K) (V, bool)
	Set(key K, value V) (V, bool)
	Invalidate(key K) (V, bool)
	InvalidateAll()
	StopAllGoroutines() bool
}
