package bodies

import (
	"sync"
	"time"

	"github.com/postrider/postrider/runtime/base/worker"
)

// outage tracks failures of the store. During an outage, one move at a time probes the store after a delay.
type outage struct {
	mu       sync.Mutex
	failures int // consecutive failures
	until    time.Time
}

var outageWait = worker.Backoff{Min: 2 * time.Second, Max: 2 * time.Minute}

// limitClaim limits the number of moves to claim.
func (o *outage) limitClaim(limit int) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.failures == 0:
		return limit
	case time.Now().Before(o.until):
		return 0
	default:
		return min(limit, 1)
	}
}

// isOngoing reports whether the store should not be called for now.
func (o *outage) isOngoing() bool { return o.limitClaim(1) == 0 }

// record records the result of a call. began and ended report whether an outage did.
func (o *outage) record(err error) (began, ended bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err == nil {
		ended = o.failures > 0
		o.failures, o.until = 0, time.Time{}
		return false, ended
	}
	if time.Now().Before(o.until) {
		return false, false // the call began before the last failure
	}
	o.failures++
	o.until = time.Now().Add(outageWait.Delay(o.failures))
	return o.failures == 1, false
}
