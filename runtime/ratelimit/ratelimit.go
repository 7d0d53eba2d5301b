// Package ratelimit bounds the requests per second of an account, by the generic
// cell rate algorithm: an account may use two seconds' worth of its rate at once,
// and gets it back evenly.
//
// All edges of a process share one Limiter, so an account that asks REST and
// GraphQL is counted once. It counts in this process only: behind n processes an
// account gets up to n times its rate.
//
// Every counted request gets the headers ratelimit-limit (what may be asked at
// once), ratelimit-remaining (what is left of it) and ratelimit-reset (whole
// seconds until all of it is there again). A refusal is a fault of kind Limit with
// the time after which a request is admitted again.
package ratelimit

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/throttled/throttled/v2"

	"github.com/postrider/postrider/runtime/fault"
)

// burst is how much of its rate an account may use at once.
const burst = 2 // seconds

// Account is who asks, and how often it may.
type Account struct {
	ID        string
	PerSecond int  // less than one counts as one
	Unmetered bool // shown its rate, untouched, and never refused
}

// Limiter counts the requests of all accounts.
type Limiter struct {
	store *store
	mu    sync.Mutex
	// by requests per second: plans share a limiter, accounts are keys in the store
	limiters map[int]*throttled.GCRARateLimiterCtx
}

// New makes a limiter that has seen nobody.
func New() *Limiter {
	return &Limiter{store: &store{entries: map[string]entry{}}, limiters: map[int]*throttled.GCRARateLimiterCtx{}}
}

// Admit counts one request and sets the ratelimit headers, also of a refusal.
func (l *Limiter) Admit(ctx context.Context, account Account, header http.Header) error {
	perSecond := max(account.PerSecond, 1)
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
	header.Set("Ratelimit-Limit", strconv.Itoa(result.Limit))
	header.Set("Ratelimit-Remaining", strconv.Itoa(max(result.Remaining, 0)))
	header.Set("Ratelimit-Reset", fault.WholeSeconds(result.ResetAfter))
	if limited {
		return &fault.Error{Kind: fault.Limit, Code: fault.CodeRateLimit, RetryAfter: max(result.RetryAfter, time.Millisecond),
			Message: fmt.Sprintf("More than %d requests per second; slow down", perSecond)}
	}
	return nil
}

func (l *Limiter) limiter(perSecond int) (*throttled.GCRARateLimiterCtx, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if found := l.limiters[perSecond]; found != nil {
		return found, nil
	}
	made, err := throttled.NewGCRARateLimiterCtx(l.store, throttled.RateQuota{
		MaxRate: throttled.PerSec(perSecond), MaxBurst: burst*perSecond - 1})
	if err != nil {
		return nil, fmt.Errorf("rate limit: %w", err)
	}
	// A swap is lost only to another request of the same account that won.
	made.SetMaxCASAttemptsLimit(1000)
	l.limiters[perSecond] = made
	return made, nil
}
