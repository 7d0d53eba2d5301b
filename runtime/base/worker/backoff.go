package worker

import (
	"math/rand/v2"
	"time"
)

// Backoff computes the pauses between retries.
type Backoff struct {
	Min, Max time.Duration
}

// SoonRetry is the back-off of tasks with a long period, such as an hour. A step that failed because a lock was held
// runs again within seconds.
var SoonRetry = Backoff{Min: time.Second, Max: 5 * time.Minute}

// Delay returns the wait after the given number of consecutive failures (1 for the first). It doubles from
// Min up to Max and is drawn from the upper half, so that the clients of a broken dependency do not all
// retry together.
func (b Backoff) Delay(failures int) time.Duration {
	full := b.Min
	for range failures - 1 {
		if full >= b.Max/2 {
			full = b.Max
			break
		}
		full *= 2
	}
	full = min(full, b.Max)
	return full/2 + rand.N(full/2+1)
}

// varyPeriod varies a period by up to a tenth either way, so that replicas started together do not poll
// together.
func varyPeriod(period time.Duration) time.Duration {
	return period - period/10 + rand.N(period/5+1)
}
