package sending

import (
	"context"

	"github.com/postrider/postrider/modules/sending/handover"
)

// offerBytes is the size of bodies from which the rest of a transaction is not handed over: it is slow, and offered
// recipients keep places of the delivery worker idle until the commit.
const offerBytes = 1 << 20

// offerItems asks which recipients this process claims, and sets their claims. It runs before the transaction, because
// the lease of a claim counts from here, and the answer may need another database connection.
func (w *writer) offerItems(ctx context.Context, items []*acceptance) *handover.Offer {
	if w.claimer == nil {
		return nil
	}
	var list []handover.Recipient
	var rows []*recipientRow
	bytes := 0
	for _, a := range items {
		a.handedOver = false
		bytes += a.size
		var content *handover.Email
		if a.mayHandOver() && bytes <= offerBytes {
			content = &handover.Email{Email: a.email.entity(), Size: a.size}
		}
		for i := range a.recipients {
			r := &a.recipients[i]
			r.claim = nil
			if content != nil {
				rows = append(rows, r)
				list = append(list, handover.Recipient{Email: content, Address: r.address, Destination: r.destination})
			}
		}
	}
	offer := w.claimer.Offer(ctx, list)
	for i, r := range rows {
		r.claim = offer.Claim(i)
	}
	return offer
}

// mayHandOver reports whether the message may be delivered as it was accepted. The database clock decides about
// expiry, so a message that expires is read from the row.
func (a *acceptance) mayHandOver() bool {
	return a.isDue() && a.email.expiresAt == nil && a.size <= handover.MaxSize
}

// beginDeliveries starts the deliveries of the recipients that were stored as claimed.
func beginDeliveries(batch []*submission, offer *handover.Offer, claimed []handover.Stored) {
	for _, sub := range batch {
		for _, a := range sub.items {
			a.handedOver = true
			for _, r := range a.recipients {
				a.handedOver = a.handedOver && r.claim != nil
			}
		}
	}
	offer.Begin(claimed)
}

// endOffer ends an offer after an error of the transaction.
func endOffer(offer *handover.Offer, err error) {
	if refusedByDatabase(err) || keyIsBusy(err) {
		offer.Release()
	} else {
		offer.Abandon() // the commit may have happened
	}
}

// releaseItems makes recipients be stored unclaimed.
func releaseItems(batch []*submission) {
	for _, sub := range batch {
		for _, a := range sub.items {
			for i := range a.recipients {
				a.recipients[i].claim = nil
			}
		}
	}
}
