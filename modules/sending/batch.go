package sending

import (
	"context"
	"fmt"
	"time"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/base/clock"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

// MaxBatch is the maximum number of messages in a batch.
const MaxBatch = 100

// Batch contains the messages of one request. Each succeeds or fails separately, unless the batch is atomic.
type Batch struct {
	Items []BatchItem
	// Atomic stores all items or none: one rejected item rejects the batch.
	Atomic bool
	// Claim is the caller's idempotency key for the batch, or nil.
	Claim *idempotency.Claim
	// Render returns the response to store under the Claim. It is called only if there is a Claim.
	Render func([]BatchResult) idempotency.Response
}

// BatchItem is one message, or the reason why the API could not decode it.
type BatchItem struct {
	Message Message
	Err     error
}

// BatchResult is the result of the item at the same index.
type BatchResult struct {
	Receipt Receipt // its Replay is not set
	Err     error   // if set, the item was not stored
}

// BatchReceipt contains the results of all items.
type BatchReceipt struct {
	Results []BatchResult
	// Replay is set if an earlier request used the same key. Its stored response applies, and this request sent
	// nothing.
	Replay *idempotency.Response
}

// SendBatch does the work of Send for every item. Items are stored in one transaction. If the database rejects
// that transaction, the items that it accepts are stored separately. It returns Invalid for no items or too
// many, Conflict as Send does, and Unavailable if nothing could be stored. All other errors are in the results
// or, for an atomic batch, are returned.
func (s *Service) SendBatch(ctx context.Context, caller accounts.Caller, b Batch) (BatchReceipt, error) {
	if n := len(b.Items); n == 0 || n > MaxBatch {
		return BatchReceipt{}, fault.InvalidField("emails", "must contain 1 to %d emails, not %d", MaxBatch, n)
	}
	results := make([]BatchResult, len(b.Items))
	prepared := make([]*acceptance, len(b.Items))
	sub := &submission{claim: b.Claim, each: !b.Atomic}
	now := clock.Now()
	for i, item := range b.Items {
		a, err := s.prepareItem(ctx, caller, item, now)
		switch {
		case err != nil && fault.KindOf(err) == fault.Unavailable:
			return BatchReceipt{}, err
		case err != nil:
			results[i].Err = err
		default:
			prepared[i] = a
			sub.items = append(sub.items, a)
			sub.size += a.size
		}
	}
	if b.Atomic {
		if err := mergeErrors(results); err != nil {
			return BatchReceipt{}, err
		}
	}
	collect := func() []BatchResult {
		for i, a := range prepared {
			if a != nil {
				results[i] = BatchResult{Receipt: a.receipt(), Err: a.err}
				if a.err != nil {
					results[i].Receipt = Receipt{}
				}
			}
		}
		return results
	}
	if b.Claim != nil {
		sub.answer = func() idempotency.Response { return b.Render(collect()) }
	} else if len(sub.items) == 0 {
		return BatchReceipt{Results: results}, nil
	}
	replay, err := s.writer.acceptSubmission(ctx, sub)
	switch {
	case err != nil:
		return BatchReceipt{}, err
	case replay != nil:
		return BatchReceipt{Replay: replay}, nil
	default:
		return BatchReceipt{Results: collect()}, nil
	}
}

// mergeErrors returns the error of an atomic batch with these results: the invalid fields of all items, or else
// the first error.
func mergeErrors(results []BatchResult) error {
	wrong := fault.Fields{}
	var first error
	for i, r := range results {
		if r.Err == nil {
			continue
		}
		f := fault.Classify(r.Err)
		for path, reason := range f.Fields {
			wrong[fmt.Sprintf("emails[%d].%s", i, path)] = reason
		}
		if len(f.Fields) == 0 && first == nil {
			first = r.Err
		}
	}
	if first != nil {
		return first
	}
	return wrong.Err()
}

func (s *Service) prepareItem(ctx context.Context, caller accounts.Caller, item BatchItem,
	now time.Time) (*acceptance, error) {
	if item.Err != nil {
		return nil, item.Err
	}
	if len(item.Message.Attachments) > 0 {
		wrong := item.Message.Validate()
		wrong["attachments"] = "cannot be used in a batch"
		return nil, wrong.Err()
	}
	return s.prepareMessage(ctx, caller, item.Message, now)
}

// refusedByDatabase distinguishes a database error about the written data from an unavailable database and from
// our own errors.
func refusedByDatabase(err error) bool {
	return err != nil && !fault.IsDatabaseUnavailable(err) && fault.KindOf(err) == fault.Internal
}

// flushItems stores a submission that the database rejected as a whole, each item under a savepoint, so that a
// bad item does not affect the others. The response is stored last, when the results are known.
func (w *writer) flushItems(ctx context.Context, sub *submission) error {
	errs := make([]error, 1)
	err := w.db.InPreparedTx(ctx, func(tx *db.PreparedTx) error {
		if err := w.judgeItems(ctx, tx, beginItems([]*submission{sub})); err != nil {
			return err
		}
		for _, a := range sub.items {
			if a.err != nil {
				continue
			}
			if err := w.insertItem(ctx, tx, a); err != nil {
				return err
			}
		}
		if err := w.storeAnswers(ctx, tx, []*submission{sub}, errs); err != nil {
			return err
		}
		return errs[0] // errTaken rolls the items back
	})
	return err
}

// insertItem stores one item, or sets its error.
func (w *writer) insertItem(ctx context.Context, tx *db.PreparedTx, a *acceptance) error {
	if _, err := tx.Tx.ExecContext(ctx, "SAVEPOINT item"); err != nil {
		return fmt.Errorf("savepoint: %w", err)
	}
	_, refusal := w.insertAccepted(ctx, tx, []*acceptance{a})
	if refusal == nil {
		_, err := tx.Tx.ExecContext(ctx, "RELEASE SAVEPOINT item")
		return err
	}
	if !refusedByDatabase(refusal) {
		return refusal
	}
	// Not a prepared statement, because a failed transaction cannot prepare one.
	if _, err := tx.Tx.ExecContext(ctx, "ROLLBACK TO SAVEPOINT item"); err != nil {
		return fmt.Errorf("roll back to savepoint: %w", err)
	}
	if a.countsAgainstCaps() {
		if err := w.quota.Refund(ctx, tx, []accounts.EmailUsage{a.capUse()}); err != nil {
			return fmt.Errorf("refund the caps: %w", err)
		}
	}
	a.err = refusal
	return nil
}
