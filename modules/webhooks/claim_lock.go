package webhooks

import "time"

// takingLimit is how long a fan-out waits for a running claim. It has a connection, and the claim may wait for one, so
// the wait must end. Without the lock, all deliveries of the batch are queued.
const takingLimit = 20 * time.Millisecond

// claimLock is a mutex that a goroutine can wait for with a limit.
type claimLock chan struct{}

func newClaimLock() claimLock { return make(claimLock, 1) }

func (l claimLock) lock() { l <- struct{}{} }

func (l claimLock) unlock() { <-l }

// lockWithin reports whether it has locked l within the limit.
func (l claimLock) lockWithin(limit time.Duration) bool {
	select {
	case l <- struct{}{}:
		return true
	default:
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case l <- struct{}{}:
		return true
	case <-timer.C:
		return false
	}
}
