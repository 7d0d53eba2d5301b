package worker

import (
	"math/rand/v2"
	"time"
)

// Backoff spaces the tries of something that should work again soon.
type Backoff struct {
	Min, Max time.Duration
}

// Delay is the wait after the given number of failed tries in a row (1 for the
// first). It doubles from Min up to Max and is drawn from its upper half, so
// that many clients of one broken thing do not come back together.
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

// spread moves a period by up to a tenth either way: replicas that were started
// together do not poll together.
func spread(period time.Duration) time.Duration {
	return period - period/10 + rand.N(period/5+1)
}
