package ratelimit

import (
	"context"
	"sync"
	"time"

	"github.com/throttled/throttled/v2"
)

// sweepEvery is the number of new accounts after which spent entries are dropped.
const sweepEvery = 1024

// store keeps when each account's next request would be due. An entry that is
// past says nothing, so it can go.
type store struct {
	mu      sync.Mutex
	entries map[string]entry
	added   int
}

type entry struct {
	value   int64
	expires time.Time
}

var _ throttled.GCRAStoreCtx = (*store)(nil)

// GetWithTime gives the value of a key, -1 when there is none.
func (s *store) GetWithTime(_ context.Context, key string) (int64, time.Time, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if e, found := s.entries[key]; found {
		return e.value, now, nil
	}
	return -1, now, nil
}

// SetIfNotExistsWithTTL adds a key.
func (s *store) SetIfNotExistsWithTTL(_ context.Context, key string, value int64, ttl time.Duration) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, found := s.entries[key]; found {
		return false, nil
	}
	now := time.Now()
	if s.added++; s.added%sweepEvery == 0 {
		for k, e := range s.entries {
			if e.expires.Before(now) {
				delete(s.entries, k)
			}
		}
	}
	s.entries[key] = entry{value: value, expires: now.Add(ttl)}
	return true, nil
}

// CompareAndSwapWithTTL changes a key unless another request has.
func (s *store) CompareAndSwapWithTTL(_ context.Context, key string, old, value int64, ttl time.Duration) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, found := s.entries[key]; !found || e.value != old {
		return false, nil
	}
	s.entries[key] = entry{value: value, expires: time.Now().Add(ttl)}
	return true, nil
}
