package delivery

import (
	"context"
	"fmt"
	"sync"

	"github.com/postrider/postrider/modules/sending/handover"
	"github.com/postrider/postrider/runtime/storage/db"
)

// abandonedClaims are claims of recipients that may have been stored as claimed: the commit was not confirmed. No
// attempt was made. Unless they are undone, the recipients wait for the end of the lease, and the attempts count as
// unknown.
type abandonedClaims struct {
	mutex sync.Mutex
	list  []*handover.Claim
}

// maxAbandoned bounds the list. Other claims end with their leases.
const maxAbandoned = 10_000

// add adds the claims that are not nil.
func (a *abandonedClaims) add(claims []*handover.Claim) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	for _, c := range claims {
		if c != nil && len(a.list) < maxAbandoned {
			a.list = append(a.list, c)
		}
	}
}

// take removes all claims from the list.
func (a *abandonedClaims) take() []*handover.Claim {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	list := a.list
	a.list = nil
	return list
}

// undoAbandonedSQL undoes first claims as undoSQL does. Recipients that were not stored, or that have been claimed
// since, match nothing.
const undoAbandonedSQL = `
WITH back AS (
	UPDATE recipients r SET due_at = least(r.due_at, now()), attempts = 0, fence = r.fence + 1
	FROM unnest($1::text[], $2::text[]) AS v (email_id, address)
	WHERE r.email_id BETWEEN v.email_id AND v.email_id AND r.address = v.address AND r.fence = 1 AND r.attempts = 1 AND r.due_at IS NOT NULL
	RETURNING r.email_id, r.id
)
DELETE FROM attempts a USING back WHERE a.email_id BETWEEN back.email_id AND back.email_id AND a.recipient_id = back.id AND a.fence = 1`

// undoAbandoned undoes the abandoned claims.
func (c *claimer) undoAbandoned(ctx context.Context) error {
	claims := c.abandoned.take()
	if len(claims) == 0 {
		return nil
	}
	emails, addresses := make([]string, len(claims)), make([]string, len(claims))
	for i, claim := range claims {
		emails[i], addresses[i] = claim.EmailID, claim.Address
	}
	if _, err := c.db.Hot.ExecContext(ctx, undoAbandonedSQL, db.Array(emails), db.Array(addresses)); err != nil {
		c.abandoned.add(claims)
		return fmt.Errorf("undo abandoned claims: %w", err)
	}
	return nil
}
