package rest

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/throttled/throttled/v2"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/fault"
)

// burst is how much of its rate an account may use at once.
const burst = 2 // seconds

// sweepEvery is the number of new accounts after which spent entries are dropped.
const sweepEvery = 1024

// rateLimit bounds the requests per second of an account by the generic cell rate
// algorithm. It counts in this process only: behind n processes an account gets up
// to n times its rate.
type rateLimit struct {
	store *rateStore
	mu    sync.Mutex
	// by requests per second: plans share a limiter, accounts are keys in the store
	limiters map[int]*throttled.GCRARateLimiterCtx
}

func newRateLimit() *rateLimit {
	return &rateLimit{store: &rateStore{entries: map[string]rateEntry{}}, limiters: map[int]*throttled.GCRARateLimiterCtx{}}
}

// admit counts one request and sets the ratelimit headers. limit is what an
// account may ask at once (two seconds' worth), remaining what is left of it, reset
// the whole seconds until all of it is there again. An account without a limit is
// shown its plan's figure, untouched.
func (l *rateLimit) admit(ctx context.Context, account accounts.Account, header http.Header) error {
	perSecond := max(account.Plan.RequestsPerSecond, 1)
	result := throttled.RateLimitResult{Limit: burst * perSecond, Remaining: burst * perSecond}
	limited := false
	if !account.Unmetered {
		limiter, err := l.limiter(perSecond)
		if err != nil {
			return err
		}
		if limited, result, err = limiter.RateLimitCtx(ctx, account.ID, 1); err != nil {
			return fmt.Errorf("rate limit: %w", err)
		}
	}
	header.Set("ratelimit-limit", strconv.Itoa(result.Limit))
	header.Set("ratelimit-remaining", strconv.Itoa(max(result.Remaining, 0)))
	header.Set("ratelimit-reset", strconv.Itoa(wholeSeconds(result.ResetAfter)))
	if limited {
		return &fault.Error{Kind: fault.Limit, Code: fault.CodeRateLimit, RetryAfter: max(result.RetryAfter, time.Millisecond),
			Message: fmt.Sprintf("More than %d requests per second; slow down", perSecond)}
	}
	return nil
}

func (l *rateLimit) limiter(perSecond int) (*throttled.GCRARateLimiterCtx, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if found := l.limiters[perSecond]; found != nil {
		return found, nil
	}
	made, err := throttled.NewGCRARateLimiterCtx(l.store, throttled.RateQuota{
		MaxRate: throttled.PerSec(perSecond), MaxBurst: burst*perSecond - 1})
	if err != nil {
		return nil, err
	}
	// A swap is lost only to another request of the same account that won.
	made.SetMaxCASAttemptsLimit(1000)
	l.limiters[perSecond] = made
	return made, nil
}

// rateStore keeps when each account's next request would be due. An entry that is
// past says nothing, so it can go.
type rateStore struct {
	mu      sync.Mutex
	entries map[string]rateEntry
	added   int
}

type rateEntry struct {
	value   int64
	expires time.Time
}

var _ throttled.GCRAStoreCtx = (*rateStore)(nil)

// GetWithTime gives the value of a key, -1 when there is none.
func (s *rateStore) GetWithTime(_ context.Context, key string) (int64, time.Time, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if e, found := s.entries[key]; found {
		return e.value, now, nil
	}
	return -1, now, nil
}

// SetIfNotExistsWithTTL adds a key.
func (s *rateStore) SetIfNotExistsWithTTL(_ context.Context, key string, value int64, ttl time.Duration) (bool, error) {
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
	s.entries[key] = rateEntry{value: value, expires: now.Add(ttl)}
	return true, nil
}

// CompareAndSwapWithTTL changes a key unless another request has.
func (s *rateStore) CompareAndSwapWithTTL(_ context.Context, key string, old, value int64, ttl time.Duration) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, found := s.entries[key]; !found || e.value != old {
		return false, nil
	}
	s.entries[key] = rateEntry{value: value, expires: time.Now().Add(ttl)}
	return true, nil
}
