package delivery

import (
	"time"

	"github.com/postrider/postrider/runtime/fault"
)

// Config sets how messages leave.
type Config struct {
	// Concurrency is connections to mail servers at a time, each with a delivery in
	// use and one that waits for its turn; 0 only accepts and leaves delivery to other
	// processes.
	Concurrency int
	ClaimBatch  int           // recipients taken at a time, at least 1
	Lease       time.Duration // how long a claim holds without a sign of life
	Poll        time.Duration // how long due work may go unseen when no wake-up arrives
}

// DefaultConfig suits one small machine. The lease is how long a message of a
// process that was killed waits for another at most; it is prolonged while a delivery
// runs.
func DefaultConfig() Config {
	return Config{Concurrency: 32, ClaimBatch: 100, Lease: 12 * time.Second, Poll: time.Second}
}

// Validate reports every setting that cannot work.
func (c Config) Validate() error {
	wrong := fault.Fields{}
	if c.Concurrency < 0 {
		wrong.Add("delivery_concurrency", "must not be negative")
	}
	if c.ClaimBatch < 1 {
		wrong.Add("claim_batch", "must be at least 1")
	}
	if c.Lease < 10*time.Second {
		wrong.Add("lease", "must be at least 10s")
	}
	if c.Poll <= 0 {
		wrong.Add("poll", "must be positive")
	}
	return wrong.Err()
}
