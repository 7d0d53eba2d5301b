package ingest

import "sync"

// slowFor is the number of events for which an account stays in slowAccounts.
const slowFor = 100

// slowAccounts tracks the accounts whose conditions recently were slow. Their events do not share transactions
// with the events of other accounts, which would have to wait. It is safe for concurrent use.
type slowAccounts struct {
	mutex sync.Mutex
	left  map[string]int // remaining events
}

func (d *slowAccounts) addAccount(accountID string) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.left == nil {
		d.left = map[string]int{}
	}
	d.left[accountID] = slowFor
}

// takeSlow reports whether the next event of an account requires a separate transaction, and counts it.
func (d *slowAccounts) takeSlow(accountID string) bool {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	left := d.left[accountID]
	switch {
	case left > 1:
		d.left[accountID] = left - 1
	default:
		delete(d.left, accountID)
	}
	return left > 0
}
