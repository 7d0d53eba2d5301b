package api

import (
	"context"

	"github.com/postrider/postrider/modules/accounts/storage"
)

// chargeBody charges the body of a request to the byte quota, if the operation stores it.
func (c *Call) chargeBody(ctx context.Context, op Operation) error {
	if !op.chargesBody() {
		return nil
	}
	return c.Charge(ctx, len(c.body)+storage.RowBytes)
}

// Charge counts bytes against the quota of the account before they are stored. If the request fails,
// they are taken back.
func (c *Call) Charge(ctx context.Context, bytes int) error {
	if c.api.storage == nil {
		return nil
	}
	err := c.api.storage.Charge(ctx, c.AccountID, storage.Other, int64(bytes))
	if err == nil {
		c.charged += int64(bytes)
	}
	return err
}

// Debit charges bytes that the request has caused to be stored, even beyond the quota.
func (c *Call) Debit(ctx context.Context, bytes int) {
	if c.api.storage != nil {
		c.api.storage.Debit(ctx, c.AccountID, int64(bytes))
	}
}

// refund reverts the charge of a request that stored nothing.
func (c *Call) refund(ctx context.Context) {
	if c.charged > 0 {
		c.api.storage.Refund(ctx, c.AccountID, c.charged)
		c.charged = 0
	}
}
