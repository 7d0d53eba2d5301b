package delivery

import (
	"context"
	"errors"
	"time"

	"github.com/postrider/postrider/runtime/base/fault"
)

// suspendedRetryDelay is how long mail of a suspended account waits before it is claimed again.
const suspendedRetryDelay = time.Minute

// isSuspended reports whether the account's mail has to wait. A deleted account is not suspended: its mail
// fails for a different reason.
func (c *claimer) isSuspended(ctx context.Context, accountID string) (bool, error) {
	account, err := c.accounts.Account(ctx, accountID)
	if err != nil && fault.KindOf(err) != fault.NotFound {
		return false, err
	}
	return err == nil && account.Suspended, nil
}

// holdSuspended releases the deliveries of suspended accounts, to be claimed again later, and returns the
// others. No attempt is recorded for them. It runs after the transaction of the claim, because it may use
// another connection pool.
func (c *claimer) holdSuspended(ctx context.Context, jobs []Job) ([]Job, error) {
	byAccount := map[string]bool{}
	kept, off := make([]Job, 0, len(jobs)), []Job(nil)
	for _, j := range jobs {
		suspended, known := byAccount[j.accountID]
		if !known {
			var err error
			if suspended, err = c.isSuspended(ctx, j.accountID); err != nil {
				return nil, errors.Join(err, undoClaims(ctx, c.db.Hot, jobs, 0, nil))
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
	if err := undoClaims(ctx, c.db.Hot, off, suspendedRetryDelay, nil); err != nil {
		return nil, errors.Join(err, undoClaims(ctx, c.db.Hot, kept, 0, nil))
	}
	return kept, nil
}
