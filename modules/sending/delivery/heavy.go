package delivery

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/postrider/postrider/runtime/base/limit"
)

// heavyLoad bounds how many deliveries of heavy messages this process holds, so
// that those which wait for room or for a slow network leave most runners to
// everybody else's mail. An account has a quarter of them, so that its slow receivers do
// not keep the others' heavy messages from being sent.
type heavyLoad struct {
	slots *limit.Keyed[string] // by account
}

func newHeavyLoad(most int) heavyLoad {
	return heavyLoad{limit.NewKeyed[string](limit.Bounds{PerKey: max(1, most/4), Total: most})}
}

// choose takes a slot for each heavy delivery for which there is one. It returns the deliveries that may
// be made and those that have to wait.
func (l heavyLoad) choose(jobs []Job) (kept, off []Job) {
	for _, j := range jobs {
		if j.heavy() && !l.slots.TryAcquire(j.accountID) {
			off = append(off, j)
		} else {
			kept = append(kept, j)
		}
	}
	return kept, off
}

// finish gives back the slots of chosen deliveries that were made or handed back.
func (l heavyLoad) finish(jobs ...Job) {
	for _, j := range jobs {
		if j.heavy() {
			l.slots.Release(j.accountID)
		}
	}
}

func (d Job) heavy() bool { return d.message != nil && d.message.Heavy() }

// putOffFor is short: a heavy message that found no room is looked at again soon.
const putOffFor = time.Second

// putOff hands back the heavy deliveries of a claim for which there is no room,
// in the transaction of the claim, and gives the others.
func (c *claimer) putOff(ctx context.Context, tx *sql.Tx, jobs []Job) ([]Job, error) {
	kept, off := c.load.choose(jobs)
	if err := undo(ctx, tx, off, putOffFor, nil); err != nil {
		c.load.finish(kept...)
		return nil, err
	}
	return kept, nil
}

// errFault is of a message whose file could not be read while it was sent.
var errFault = errors.New("the message could not be read from the disk")
