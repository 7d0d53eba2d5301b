package worker

import (
	"context"
	"time"

	"github.com/postrider/postrider/runtime/base/fault"
)

// Queue defines a kind of work: J is a claimed job with its fencing number, R is its result. See the
// package comment for the requirements on the SQL.
type Queue[J, R any] struct {
	// Name identifies the queue in logs and metrics.
	Name string

	// Claim takes up to limit due jobs for the length of a lease.
	Claim func(ctx context.Context, limit int, lease time.Duration) ([]J, error)

	// Run does the work. It is called from many goroutines and always returns a result, even if ctx was
	// cancelled. It must check lease.IsValid right before each irreversible step.
	Run func(ctx context.Context, job J, lease *Lease) R

	// Settle stores results in one transaction, each conditional on the fencing
	// number of its job. An error means that nothing of the batch was stored.
	Settle func(ctx context.Context, results []Result[J, R]) error

	// Extend extends the leases of jobs that are still running; held[i] reports whether this process still
	// owned jobs[i]. Optional.
	Extend func(ctx context.Context, jobs []J, lease time.Duration) (held []bool, err error)

	// Release makes claimed jobs due again that were not started. Optional: without it they are due when
	// their lease ends.
	Release func(ctx context.Context, jobs []J) error
}

// Result is the result of one job.
type Result[J, R any] struct {
	Job   J
	Value R
}

// Config configures a worker. Zero fields use the default.
type Config struct {
	Concurrency int           // maximum number of concurrent jobs; default 16
	Batch       int           // maximum number of jobs in one claim or settlement; default 100
	Lease       time.Duration // duration of a claim; default 60 s
	Margin      time.Duration // how long before the end Lease.IsValid turns false; default a tenth of the lease
	Poll        time.Duration // interval of claims; up to five times longer while none finds a job; default 1 s
	Stall       time.Duration // no new run while a settlement takes longer than this; default 1 s
	Retry       Backoff       // pauses after database errors; default 100 ms to RetryMax
	Process     Process       // the process that the worker runs in; default Standalone
}

// RetryMax is the longest pause between two attempts to store a result.
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
		c.Process = Standalone{}
	}
	return c
}

// Validate returns an error that lists every invalid field.
func (c Config) Validate() error {
	c = c.withDefaults()
	wrong := fault.Fields{}
	if c.Concurrency < 1 {
		wrong.Add("concurrency", "must be at least 1")
	}
	if c.Batch < 1 {
		wrong.Add("batch", "must be at least 1")
	}
	for name, value := range map[string]time.Duration{"lease": c.Lease, "margin": c.Margin, "poll": c.Poll,
		"stall": c.Stall, "retry.min": c.Retry.Min} {
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

// prefetchLimit returns how many claimed jobs may wait in this process, so that a free runner finds the next job
// immediately: half the number of runners. Their leases run meanwhile, and if the process dies they are
// blocked until the leases end.
func (c Config) prefetchLimit() int { return min(c.Batch, max(1, c.Concurrency/2)) }

// startWithin returns how long a claimed job may wait in this process.
func (c Config) startWithin() time.Duration { return c.Lease / 2 }
