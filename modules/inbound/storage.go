package inbound

import (
	"context"

	"github.com/postrider/postrider/modules/accounts/storage"
	"github.com/postrider/postrider/runtime/base/fault"
)

// storedBytes returns how many bytes a message counts against the quota of an account: its content and its
// rows.
func (a *arrival) storedBytes(accountID string) int64 {
	rows := int64(1)
	for _, r := range a.records {
		if r.accountID == accountID {
			rows++
		}
	}
	return a.content.Size() + rows*storage.RowBytes
}

// chargeStorage charges a message to each of its accounts before it is stored. If any of them has no room, none
// is charged, because the sender retries for all recipients.
func (r *reception) chargeStorage(ctx context.Context, a *arrival) error {
	if r.storage == nil {
		return nil
	}
	for i, accountID := range a.contents {
		err := r.storage.ChargeReceived(ctx, accountID, a.remote, a.storedBytes(accountID))
		if err == nil {
			continue
		}
		r.refundStorage(ctx, a, a.contents[:i])
		switch {
		case fault.KindOf(err) == fault.Limit:
			return replyFull
		case storage.IsDiskFull(err):
			return replyDisk
		}
		return err
	}
	return nil
}

func (r *reception) refundStorage(ctx context.Context, a *arrival, accounts []string) {
	if r.storage == nil {
		return
	}
	for _, accountID := range accounts {
		r.storage.RefundReceived(ctx, accountID, a.remote, a.storedBytes(accountID))
	}
}
