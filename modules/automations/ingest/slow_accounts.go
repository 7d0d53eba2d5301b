package ingest

import "sync"

// slowFor is how many events an account stays in slowAccounts.
const slowFor = 100

// slowAccounts are the accounts whose conditions recently took long. Their events share no transaction
// with those of others, which would have to wait for them. Safe for concurrent use.
type slowAccounts struct {
	mutex sync.Mutex
	left  map[string]int // events
}

func (d *slowAccounts) note(accountID string) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.left == nil {
		d.left = map[string]int{}
	}
	d.left[accountID] = slowFor
}

// next reports whether the next event of an account needs a transaction of its own.
func (d *slowAccounts) next(accountID string) bool {
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
