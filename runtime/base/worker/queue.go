package worker

import (
	"context"
	"time"

	"github.com/postrider/postrider/runtime/base/fault"
)

// Queue says what a kind of work is: J is a claimed job with its fencing number,
// R is what came of it. See the package comment for what the SQL has to keep.
type Queue[J, R any] struct {
	// Name is a word for logs and metrics.
	Name string

	// Claim takes up to limit due jobs for the length of a lease.
	Claim func(ctx context.Context, limit int, lease time.Duration) ([]J, error)

	// Run does the work. It is called from many goroutines and always returns a
	// result, also when ctx was cancelled. It asks lease.Valid right before each
	// step that cannot be taken back.
	Run func(ctx context.Context, job J, lease *Lease) R

	// Settle stores results in one transaction, each conditional on the fencing
	// number of its job. An error means that nothing of the batch was stored.
	Settle func(ctx context.Context, results []Result[J, R]) error

	// Extend prolongs the leases of jobs that are still running; held[i] tells
	// whether jobs[i] was still ours. Optional.
	Extend func(ctx context.Context, jobs []J, lease time.Duration) (held []bool, err error)

	// Release makes claimed jobs due again that were not started. Optional:
	// without it they are due when their lease is over.
	Release func(ctx context.Context, jobs []J) error
}

// Result is what came of one job.
type Result[J, R any] struct {
	Job   J
	Value R
}

// Config bounds a worker. Zero fields take the default.
type Config struct {
	Concurrency int           // jobs that run at the same time; default 16
	Batch       int           // most jobs in one claim or settlement; default 100
	Lease       time.Duration // length of a claim; default 60 s
	Margin      time.Duration // Lease.Valid turns false so long before the end; default a tenth of the lease
	Poll        time.Duration // look for due jobs so often, and five times more seldom after looks that found none; default 1 s
	Stall       time.Duration // no new run while a settlement waits for longer than this; default 1 s
	Retry       Backoff       // waits after errors of the database; default 100 ms to RetryMax
	Process     Process       // the process that the worker runs in; default one that knows of no others
}

// RetryMax is the longest wait between two tries to store a result.
const RetryMax = 5 * time.Second

func (c Config) withDefaults() Config {
	orElse := func(field *time.Duration, value time.Duration) {
		if *field == 0 {
			*field = value
		}
	}
	if c.Concurrency == 0 {
		c.Concurrency = 16
	}
	if c.Batch == 0 {
		c.Batch = 100
	}
	orElse(&c.Lease, time.Minute)
	orElse(&c.Margin, c.Lease/10)
	orElse(&c.Poll, time.Second)
	orElse(&c.Stall, time.Second)
	orElse(&c.Retry.Min, 100*time.Millisecond)
	orElse(&c.Retry.Max, max(c.Retry.Min, RetryMax))
	if c.Process == nil {
		c.Process = Alone{}
	}
	return c
}

// Validate names every field that cannot be worked with.
func (c Config) Validate() error {
	c = c.withDefaults()
	wrong := fault.Fields{}
	if c.Concurrency < 1 {
		wrong.Add("concurrency", "must be at least 1")
	}
	if c.Batch < 1 {
		wrong.Add("batch", "must be at least 1")
	}
	for name, value := range map[string]time.Duration{"lease": c.Lease, "margin": c.Margin, "poll": c.Poll, "stall": c.Stall, "retry.min": c.Retry.Min} {
		if value < 0 {
			wrong.Add(name, "must be positive")
		}
	}
	if c.Margin > c.Lease/2 {
		wrong.Add("margin", "must be at most half the lease")
	}
	if c.Retry.Max < c.Retry.Min {
		wrong.Add("retry.max", "must be at least retry.min")
	}
	return wrong.Err()
}

// prefetch is how many claimed jobs may wait in this process, so that a runner
// that gets free finds the next one at once: half of those that run. They hold their
// leases meanwhile, and are lost until then if the process dies.
func (c Config) prefetch() int { return min(c.Batch, max(1, c.Concurrency/2)) }

// startWithin is how long a claimed job may wait in this process.
func (c Config) startWithin() time.Duration { return c.Lease / 2 }
