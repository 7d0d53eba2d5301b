package ingest

import "sync"

// dearFor is for how many of its events an account is remembered for conditions that take long.
const dearFor = 100

// dearAccounts are those whose conditions took long a few events ago. Their events share no transaction
// with those of others, who would wait for them. Safe for concurrent use.
type dearAccounts struct {
	mutex sync.Mutex
	left  map[string]int // events
}

func (d *dearAccounts) note(accountID string) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.left == nil {
		d.left = map[string]int{}
	}
	d.left[accountID] = dearFor
}

// next tells whether the next event of an account is to go apart.
func (d *dearAccounts) next(accountID string) bool {
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
