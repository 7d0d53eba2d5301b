package apilog

import (
	"net/http"
	"sync"
	"time"
)

const (
	bufferRows  = 1024
	bufferBytes = 16 << 20 // limit for raw bodies
	wakeAt      = bufferRows / 2

	// One account uses at most a quarter of the buffer, so that a continuously failing program does not crowd
	// out others.
	accountRows = bufferRows / 4

	accountRate, accountBurst = 5, 200  // successes of one account, per second
	failureRate, failureBurst = 20, 500 // failures of one account
	successBurstSeconds       = 10      // for all accounts together
	accountsRemembered        = 10_000
	forgetAfter               = time.Minute
)

// bucket is a token bucket refilled per second.
type bucket struct {
	tokens float64
	at     time.Time
}

// fill adds the tokens accrued since the last call. A new bucket is full.
func (b *bucket) fill(now time.Time, rate, burst float64) {
	if b.at.IsZero() {
		b.tokens = burst
	} else if passed := now.Sub(b.at).Seconds(); passed > 0 {
		b.tokens = min(burst, b.tokens+passed*rate)
	}
	b.at = now
}

// share is one account's use of the log.
type share struct {
	successes, failures bucket
	round               uint64 // round of the buffer to which rows applies
	rows                int
}

// verdict is the sampler's decision on a request.
type verdict int

const (
	keep    verdict = iota
	sampled         // omitted because there are too many
	full            // the buffer is full
)

// sampler decides which requests to log and buffers them until they are stored. It never waits. It is safe
// for concurrent use.
type sampler struct {
	rate  float64 // successes of all accounts, per second
	now   func() time.Time
	woken chan struct{}

	mu        sync.Mutex
	successes bucket
	accounts  map[string]*share
	round     uint64
	rows      []*Seen
	octets    int
}

func newSampler(rate int, now func() time.Time) *sampler {
	return &sampler{rate: float64(rate), now: now, woken: make(chan struct{}, 1), accounts: map[string]*share{}}
}

// judge decides about a request when its response begins.
func (s *sampler) judge(accountID string, status int) verdict {
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.rows) >= bufferRows || s.octets >= bufferBytes {
		return full
	}
	failed := status >= http.StatusBadRequest
	if !failed {
		if s.successes.fill(now, s.rate, s.rate*successBurstSeconds); s.successes.tokens < 1 {
			return sampled
		}
	}
	of := s.accountShare(accountID)
	switch own := &of.successes; {
	case of.rows >= accountRows:
		return full
	case failed:
		if of.failures.fill(now, failureRate, failureBurst); of.failures.tokens < 1 {
			return sampled
		}
		of.failures.tokens--
	default:
		if own.fill(now, accountRate, accountBurst); own.tokens < 1 {
			return sampled
		}
		own.tokens--
		s.successes.tokens--
	}
	return keep
}

func (s *sampler) accountShare(accountID string) *share {
	of := s.accounts[accountID]
	if of == nil {
		of = &share{}
		s.accounts[accountID] = of
	}
	if of.round != s.round {
		of.round, of.rows = s.round, 0
	}
	return of
}

// add buffers a request and reports whether there was room.
func (s *sampler) add(r *Seen) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := s.accountShare(r.AccountID)
	if len(s.rows) >= bufferRows || s.octets+r.bodySizes() > bufferBytes || of.rows >= accountRows {
		return false
	}
	of.rows++
	s.rows = append(s.rows, r)
	s.octets += r.bodySizes()
	if len(s.rows) == wakeAt || s.octets > bufferBytes/2 {
		select {
		case s.woken <- struct{}{}:
		default:
		}
	}
	return true
}

// drain returns the requests added since the last call.
func (s *sampler) drain() []*Seen {
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	rows := s.rows
	s.rows, s.octets = nil, 0
	s.round++
	if len(s.accounts) > accountsRemembered {
		for id, of := range s.accounts {
			if now.Sub(of.successes.at) > forgetAfter && now.Sub(of.failures.at) > forgetAfter {
				delete(s.accounts, id)
			}
		}
	}
	return rows
}
