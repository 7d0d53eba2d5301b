// Package ratelimit bounds the requests per second of an account, by the generic
// cell rate algorithm: an account may use two seconds' worth of its rate at once,
// and gets it back evenly.
//
// The count is one row per account in the database, by the database clock, so it
// is exact over all edges of all processes. Requests that come at the same time
// are counted in one statement: each is still counted for itself, in the order in
// which it came, and a refused one takes nothing. Unmetered accounts cost nothing.
// A database that is away is fault.Away, as for everything else.
//
// The table is unlogged: after a crash of the database every account may use its
// two seconds' worth once more.
//
// Every counted request gets the headers ratelimit-limit (what may be asked at
// once), ratelimit-remaining (what is left of it) and ratelimit-reset (whole
// seconds until all of it is there again). A refusal is a fault of kind Limit with
// the time after which a request is admitted again.
package ratelimit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/storage/db"
)

// burst is how much of its rate an account may use at once.
const burst = 2 // seconds

// Account is who asks, and how often it may.
type Account struct {
	ID        string
	PerSecond int  // less than one counts as one
	Unmetered bool // shown its rate, untouched, and never refused
}

// Limiter counts the requests of all accounts. Safe for concurrent use.
type Limiter struct {
	db     *db.DB
	every  time.Duration
	counts *db.Joiner[*request]
	tasks  *worker.Tasks
}

// Params is what New needs.
type Params struct {
	DB         *db.DB
	Logger     *slog.Logger
	Workers    *worker.Metrics // nil: of no interest
	SweepEvery time.Duration   // 0: 10 minutes
}

// New makes a Limiter. It sweeps rows that say nothing any more between Start
// and Stop.
func New(p Params) (*Limiter, error) {
	if p.DB == nil || p.Logger == nil {
		return nil, errors.New("ratelimit: DB and Logger are needed")
	}
	l := &Limiter{db: p.DB, every: p.SweepEvery, tasks: worker.NewTasks(p.Logger, p.Workers)}
	if l.every <= 0 {
		l.every = 10 * time.Minute
	}
	l.counts = db.NewJoiner(db.JoinerConfig[*request]{MaxItems: 512, Timeout: l.db.FlushTime()}, l.count)
	return l, nil
}

// Admit counts one request and sets the ratelimit headers, also of a refusal.
func (l *Limiter) Admit(ctx context.Context, account Account, header http.Header) error {
	r := &request{accountID: account.ID, rate: rateOf(account.PerSecond)}
	if account.Unmetered {
		r.result = result{admitted: true, remaining: r.rate.burst}
	} else if err := l.counts.Do(ctx, r); err != nil {
		return fmt.Errorf("rate limit: %w", err)
	}
	header.Set("Ratelimit-Limit", strconv.FormatInt(r.rate.burst, 10))
	header.Set("Ratelimit-Remaining", strconv.FormatInt(r.result.remaining, 10))
	header.Set("Ratelimit-Reset", fault.WholeSeconds(r.result.reset))
	if r.result.admitted {
		return nil
	}
	return &fault.Error{Kind: fault.Limit, Code: fault.CodeRateLimit, RetryAfter: max(r.result.retryAfter, time.Millisecond),
		Message: fmt.Sprintf("More than %d requests per second; slow down", max(account.PerSecond, 1))}
}

// Start sweeps in the background until Stop.
func (l *Limiter) Start(context.Context) error {
	l.tasks.Start(worker.Every("sweep of rate limits", l.every, l.sweep))
	return nil
}

// Stop ends the sweeping and counts nothing more.
func (l *Limiter) Stop(ctx context.Context) error {
	l.counts.Close()
	l.tasks.Stop(ctx)
	return nil
}
