package delivery

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/postrider/postrider/runtime/base/limit"
)

// heavyLoad bounds how many deliveries of heavy messages this process holds, so that those waiting for memory
// or for a slow network leave most runners to other mail. One account gets at most a quarter of the slots, so
// that its slow receivers do not block the heavy messages of other accounts.
type heavyLoad struct {
	slots *limit.Keyed[string] // by account
}

func newHeavyLoad(most int) heavyLoad {
	return heavyLoad{limit.NewKeyed[string](limit.Bounds{PerKey: max(1, most/4), Total: most})}
}

// admitJobs takes a slot for each heavy delivery while slots are free. It returns the deliveries that may run
// and those that have to wait.
func (l heavyLoad) admitJobs(jobs []Job) (kept, off []Job) {
	for _, j := range jobs {
		if j.isHeavy() && !l.slots.TryAcquire(j.accountID) {
			off = append(off, j)
		} else {
			kept = append(kept, j)
		}
	}
	return kept, off
}

// releaseSlots releases the slots of deliveries that ended or were handed back.
func (l heavyLoad) releaseSlots(jobs ...Job) {
	for _, j := range jobs {
		if j.isHeavy() {
			l.slots.Release(j.accountID)
		}
	}
}

func (d Job) isHeavy() bool { return d.message != nil && d.message.IsHeavy() }

// heavyRetryDelay is how long a heavy message without a slot waits before it is claimed again.
const heavyRetryDelay = time.Second

// postponeHeavy returns the heavy deliveries of a claim that found no slot, in the transaction of the claim, and
// returns the others.
func (c *claimer) postponeHeavy(ctx context.Context, tx *sql.Tx, jobs []Job) ([]Job, error) {
	kept, off := c.load.admitJobs(jobs)
	if err := undoClaims(ctx, tx, off, heavyRetryDelay, nil); err != nil {
		c.load.releaseSlots(kept...)
		return nil, err
	}
	return kept, nil
}

// errFault reports a message whose file could not be read while it was being sent.
var errFault = errors.New("the message could not be read from the disk")
