// Package ratelimit limits the requests per second of an account, by the generic cell rate algorithm: an
// account may use two seconds' worth of its rate in a burst, and regains it evenly.
//
// The state is one row per account in the database, by the database clock, so it is exact across all APIs and
// processes. Concurrent requests are counted in one statement. Each still counts individually, in order of
// arrival, and a rejected one uses nothing. Unmetered accounts cost nothing. If the database is unavailable,
// the error is fault.Unavailable.
//
// The table is unlogged: after a crash of the database every account may use its two seconds' worth once
// more.
//
// Every counted request gets the headers ratelimit-limit (the size of a burst), ratelimit-remaining (what is
// left of it) and ratelimit-reset (whole seconds until all of it is available again). A rejection is a fault
// of kind Limit with the time after which a request is admitted again.
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

// burst is how many seconds' worth of its rate an account may use at once.
const burst = 2 // seconds

// AccountRate identifies the caller and its rate.
type AccountRate struct {
	ID        string
	PerSecond int  // at least one
	Unmetered bool // always admitted; the headers show the full rate
}

// Limiter counts the requests of all accounts. It is safe for concurrent use.
type Limiter struct {
	db     *db.DB
	every  time.Duration
	counts *db.Joiner[*request]
	tasks  *worker.Tasks
}

// Params contains the parameters of New.
type Params struct {
	DB         *db.DB
	Logger     *slog.Logger
	Workers    *worker.Metrics // may be nil
	SweepEvery time.Duration   // default: 10 minutes
}

// New returns a new Limiter, which deletes obsolete rows between Start and Stop.
func New(p Params) (*Limiter, error) {
	if p.DB == nil || p.Logger == nil {
		return nil, errors.New("ratelimit: DB and Logger are needed")
	}
	l := &Limiter{db: p.DB, every: p.SweepEvery, tasks: worker.NewTasks(p.Logger, p.Workers)}
	if l.every <= 0 {
		l.every = 10 * time.Minute
	}
	l.counts = db.NewJoiner(db.JoinerConfig[*request]{MaxItems: 512, Timeout: l.db.FlushTime()}, l.countGroup)
	return l, nil
}

// Admit counts one request and sets the ratelimit headers, even if it rejects the request.
func (l *Limiter) Admit(ctx context.Context, account AccountRate, header http.Header) error {
	r := &request{accountID: account.ID, rate: rateOf(account.PerSecond)}
	if account.Unmetered {
		r.result = result{admitted: true, remaining: r.rate.burst}
	} else if err := l.counts.Do(ctx, r); err != nil {
		return fmt.Errorf("rate limit: %w", err)
	}
	header.Set("Ratelimit-Limit", strconv.FormatInt(r.rate.burst, 10))
	header.Set("Ratelimit-Remaining", strconv.FormatInt(r.result.remaining, 10))
	header.Set("Ratelimit-Reset", fault.FormatSeconds(r.result.reset))
	if r.result.admitted {
		return nil
	}
	return &fault.Error{Kind: fault.Limit, Code: fault.CodeRateLimit,
		RetryAfter: max(r.result.retryAfter, time.Millisecond),
		Message:    fmt.Sprintf("More than %d requests per second; slow down", max(account.PerSecond, 1))}
}

// Start deletes obsolete rows in the background until Stop.
func (l *Limiter) Start(context.Context) error {
	l.tasks.Start(worker.Every("sweep of rate limits", l.every, l.deleteStale))
	return nil
}

// Stop stops the sweep and the counting.
func (l *Limiter) Stop(ctx context.Context) error {
	l.counts.Close()
	l.tasks.Stop(ctx)
	return nil
}
