package sending

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/storage"
	"github.com/postrider/postrider/modules/sending/handover"
	"github.com/postrider/postrider/modules/sending/lifecycle"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/web/idempotency"
	"github.com/postrider/postrider/runtime/work/event"
)

// Concurrent requests share commits: when a writer is free, all waiting submissions go into one transaction.
// One durable commit costs the same for one message as for a hundred, so this determines the accept rate.

// submission is the content of one request: the messages to store, all or none of them, together with the
// response that is stored under its idempotency key.
type submission struct {
	items []*acceptance
	claim *idempotency.Claim
	// answer returns the response to the request. It is called inside the transaction, after suppression and
	// caps were checked, and only with a claim.
	answer func() idempotency.Response
	// each means that items can fail one by one. Otherwise, a refusal of one item refuses the submission.
	each bool
	size int // approximate, in bytes
}

// isBlocked reports whether suppression blocked all messages that were not refused. The key of such a submission is not
// kept: after the recipient has left the list, the same request sends.
func (s *submission) isBlocked() bool {
	blocked := false
	for _, a := range s.items {
		if a.err == nil && !a.blocked {
			return false
		}
		blocked = blocked || a.blocked
	}
	return blocked
}

// errTaken marks a submission whose idempotency key another request used first.
var errTaken = errors.New("idempotency key was used by another request")

// joinerFor returns the writer for a submission. Large messages and batches have their own, so that single
// messages do not wait for them.
func (w *writer) joinerFor(sub *submission) *db.Joiner[*submission] {
	switch {
	case sub.size >= HeavyFrom && len(sub.items) == 1:
		return w.lines.heavy
	case len(sub.items) > 1:
		return w.lines.batch
	default:
		return w.lines.single
	}
}

// acceptSubmission stores the submission along with others that are waiting. If another request used the key
// first, it returns the stored response to replay.
func (w *writer) acceptSubmission(ctx context.Context, sub *submission) (*idempotency.Response, error) {
	began := w.tracing.Now()
	err := w.chargeAndSubmit(ctx, sub)
	switch {
	case errors.Is(err, errTaken):
		return w.answers.Replay(ctx, sub.claim)
	case err != nil && sub.claim != nil && fault.KindOf(err) == fault.Limit:
		// The request that used the key first may have reached the cap.
		if answer, replayErr := w.answers.Replay(ctx, sub.claim); replayErr == nil {
			return answer, nil
		}
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("store email: %w", err)
	}
	w.counters.count(sub.items)
	w.recordSpans(ctx, began, sub.items)
	for _, a := range sub.items {
		w.bus.WakeFor(a.fact)
	}
	for _, a := range sub.items {
		if a.isDue() && !a.handedOver {
			w.signals.Wake(lifecycle.DueChannel)
			break
		}
	}
	return nil, nil
}

// chargeAndSubmit charges a submission before it is stored, and refunds the part that was not stored.
func (w *writer) chargeAndSubmit(ctx context.Context, sub *submission) error {
	if w.storage == nil || len(sub.items) == 0 {
		return w.submit(ctx, sub)
	}
	accountID := sub.items[0].email.accountID // one caller, one account
	var charged int64
	for _, a := range sub.items {
		a.reset()
		charged += a.storedBytes()
	}
	if err := w.storage.Charge(ctx, accountID, storage.Mail, charged); err != nil {
		return err
	}
	err := w.submit(ctx, sub)
	var stored int64
	for _, a := range sub.items {
		if err == nil && a.err == nil {
			stored += a.storedBytes()
		}
	}
	if ctx.Err() != nil && !errors.Is(err, errTaken) {
		return err // it may be stored even though the caller left; the next measurement corrects the count
	}
	w.storage.Refund(ctx, accountID, charged-stored)
	return err
}

// flushAccepts stores submissions in one transaction. An error refuses them all; the joiner then tries them
// one by one. If another request holds one of their keys, those without a key are stored and the others get
// ErrBusy.
func (w *writer) flushAccepts(ctx context.Context, batch []*submission) []error {
	// the files may be in a spool file, see intake.RecoverDiskFault
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	errs := make([]error, len(batch))
	offer := w.offerItems(ctx, beginItems(batch))
	defer offer.Release()
	claimed, stored, err := w.storeOnce(ctx, batch)
	if stored {
		beginDeliveries(batch, offer, claimed)
	}
	if err != nil && !refusedByDatabase(err) {
		offer.Abandon() // the commit may have happened
	}
	if stored || err != nil && !refusedByDatabase(err) {
		return repeatError(errs, err)
	}
	err = w.db.InPreparedTx(ctx, func(tx *db.PreparedTx) error {
		clear(errs)
		items := beginItems(batch)
		if err := w.judgeItems(ctx, tx, items); err != nil {
			return err
		}
		if err := w.storeAnswers(ctx, tx, batch, errs); err != nil {
			return err
		}
		if err := w.askGuards(ctx, tx, batch, errs); err != nil {
			return err
		}
		claimed, err = w.insertAccepted(ctx, tx, acceptedItems(batch, errs))
		return err
	})
	if err != nil {
		endOffer(offer, err)
		releaseItems(batch)
	}
	switch {
	case errors.Is(err, idempotency.ErrBusy):
		return w.flushWithoutKeys(ctx, batch, err)
	case refusedByDatabase(err) && len(batch) == 1 && len(batch[0].items) > 1 && batch[0].each:
		err = w.flushItems(ctx, batch[0])
		return []error{err}
	case err != nil:
		return repeatError(errs, err)
	}
	beginDeliveries(batch, offer, claimed)
	return errs
}

// repeatError sets every error to err.
func repeatError(errs []error, err error) []error {
	for i := range errs {
		errs[i] = err
	}
	return errs
}

// beginItems discards the results of an earlier flush of the same submissions, and returns their items.
func beginItems(batch []*submission) []*acceptance {
	items := make([]*acceptance, 0, len(batch))
	for _, sub := range batch {
		for _, a := range sub.items {
			a.reset()
			items = append(items, a)
		}
	}
	return items
}

// judgeItems applies the checks that need the database: suppression, and the caps.
func (w *writer) judgeItems(ctx context.Context, tx db.Execer, items []*acceptance) error {
	if len(items) == 0 {
		return nil
	}
	blocks, err := w.suppression.FindBlocks(ctx, tx, addressesOf(items))
	if err != nil {
		return fmt.Errorf("check suppression: %w", err)
	}
	for _, a := range items {
		n := len(a.recipients)
		a.block(blocks[:n])
		blocks = blocks[n:]
	}
	var uses []accounts.EmailUsage
	var counted []*acceptance
	for _, a := range items {
		if a.countsAgainstCaps() {
			uses, counted = append(uses, a.capUse()), append(counted, a)
		}
	}
	if len(uses) == 0 {
		return nil
	}
	refused, err := w.quota.Consume(ctx, tx, uses)
	if err != nil {
		return fmt.Errorf("count against the caps: %w", err)
	}
	for i, a := range counted {
		a.err = refused[i]
	}
	return nil
}

// storeAnswers claims the idempotency keys. A submission whose key is taken gets errTaken, and its caps are
// refunded.
func (w *writer) storeAnswers(ctx context.Context, tx db.Execer, batch []*submission, errs []error) error {
	var claimed []idempotency.ClaimedResponse
	var position []int
	var back []accounts.EmailUsage
	for i, sub := range batch {
		if errs[i] = sub.refusal(); errs[i] != nil {
			back = append(back, sub.consumed()...)
			continue
		}
		if sub.claim != nil {
			claimed = append(claimed, idempotency.ClaimedResponse{Claim: sub.claim, Answer: sub.answer(),
				Refused: sub.isBlocked()})
			position = append(position, i)
		}
	}
	if len(claimed) == 0 {
		return w.refundUses(ctx, tx, back)
	}
	taken, err := idempotency.TryStoreMany(ctx, tx, claimed, keyPatience(len(batch)))
	if err != nil {
		return fmt.Errorf("store idempotent answers: %w", err)
	}
	for j, t := range taken {
		if t {
			errs[position[j]] = errTaken
			back = append(back, batch[position[j]].consumed()...)
		}
	}
	return w.refundUses(ctx, tx, back)
}

// refusal returns why the whole submission is refused, or nil.
func (s *submission) refusal() error {
	if s.each {
		return nil
	}
	for _, a := range s.items {
		if a.err != nil {
			return a.err
		}
	}
	return nil
}

// consumed returns what the items have used of the caps.
func (s *submission) consumed() (uses []accounts.EmailUsage) {
	for _, a := range s.items {
		if a.countsAgainstCaps() && a.err == nil {
			uses = append(uses, a.capUse())
		}
	}
	return uses
}

// refundUses refunds the caps for submissions that are not stored.
func (w *writer) refundUses(ctx context.Context, tx db.Execer, uses []accounts.EmailUsage) error {
	if len(uses) == 0 {
		return nil
	}
	if err := w.quota.Refund(ctx, tx, uses); err != nil {
		return fmt.Errorf("refund the caps: %w", err)
	}
	return nil
}

// acceptedItems returns the messages to insert.
func acceptedItems(batch []*submission, errs []error) []*acceptance {
	fresh := make([]*acceptance, 0, len(batch))
	for i, sub := range batch {
		if errs[i] != nil {
			continue
		}
		for _, a := range sub.items {
			if a.err == nil {
				fresh = append(fresh, a)
			}
		}
	}
	return fresh
}

// insertAccepted stores messages and returns the recipients that were stored as claimed.
func (w *writer) insertAccepted(ctx context.Context, tx db.Execer, fresh []*acceptance) ([]handover.Stored, error) {
	if len(fresh) == 0 {
		return nil, nil
	}
	claimed, err := insertEmails(ctx, tx, fresh)
	if err != nil {
		return nil, fmt.Errorf("insert emails: %w", err)
	}
	for _, a := range fresh {
		if err := insertAttachments(ctx, tx, a); err != nil {
			return nil, fmt.Errorf("insert attachments: %w", err)
		}
	}
	facts := make([]event.Fact, 0, len(fresh))
	for _, a := range fresh {
		facts = append(facts, a.fact)
	}
	if err := w.bus.Publish(ctx, tx, facts...); err != nil {
		return nil, fmt.Errorf("publish facts: %w", err)
	}
	return claimed, nil
}
