package bodies

import (
	"sync"
	"time"

	"github.com/postrider/postrider/runtime/base/worker"
)

// outage remembers that the store does not do what it is asked. Then one move at a time finds
// out, after a wait, whether it does again.
type outage struct {
	mu       sync.Mutex
	failures int // in a row
	until    time.Time
}

var outageWait = worker.Backoff{Min: 2 * time.Second, Max: 2 * time.Minute}

// room bounds a claim.
func (o *outage) room(limit int) int {
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

// lasts tells whether the store should be left alone for now.
func (o *outage) lasts() bool { return o.room(1) == 0 }

// tell takes what came of asking the store. began and ended say what is new.
func (o *outage) tell(err error) (began, ended bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err == nil {
		ended = o.failures > 0
		o.failures, o.until = 0, time.Time{}
		return false, ended
	}
	if time.Now().Before(o.until) {
		return false, false // it was asked before the last failure was known
	}
	o.failures++
	o.until = time.Now().Add(outageWait.Delay(o.failures))
	return o.failures == 1, false
}
