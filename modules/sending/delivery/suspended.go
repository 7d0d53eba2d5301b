package delivery

import (
	"context"
	"errors"
	"time"

	"github.com/postrider/postrider/runtime/base/fault"
)

// suspendedFor is how soon mail of a suspended account is looked at again.
const suspendedFor = time.Minute

// suspended tells whether the account's mail has to wait. One that is gone is not
// suspended: its mail fails for a reason of its own.
func (c *claimer) suspended(ctx context.Context, accountID string) (bool, error) {
	account, err := c.accounts.Account(ctx, accountID)
	if err != nil && fault.KindOf(err) != fault.NotFound {
		return false, err
	}
	return err == nil && account.Suspended, nil
}

// holdSuspended hands back the deliveries of suspended accounts, to be looked at
// again later, and gives the others. Nothing is an attempt that was not made. It
// runs after the transaction of the claim, because it may ask another pool.
func (c *claimer) holdSuspended(ctx context.Context, jobs []Job) ([]Job, error) {
	byAccount := map[string]bool{}
	kept, off := make([]Job, 0, len(jobs)), []Job(nil)
	for _, j := range jobs {
		suspended, known := byAccount[j.accountID]
		if !known {
			var err error
			if suspended, err = c.suspended(ctx, j.accountID); err != nil {
				return nil, errors.Join(err, undo(ctx, c.db.Hot, jobs, 0, nil))
			}
			byAccount[j.accountID] = suspended
		}
		if suspended {
			off = append(off, j)
		} else {
			kept = append(kept, j)
		}
	}
	if len(off) == 0 {
		return jobs, nil
	}
	if err := undo(ctx, c.db.Hot, off, suspendedFor, nil); err != nil {
		return nil, errors.Join(err, undo(ctx, c.db.Hot, kept, 0, nil))
	}
	return kept, nil
}
