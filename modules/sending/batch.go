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

// MaxBatch is how many messages one batch may have.
const MaxBatch = 100

// Batch is many messages in one request. They succeed and fail one by one.
type Batch struct {
	Items []BatchItem
	// Claim is the caller's idempotency key for all of them; nil without one.
	Claim *idempotency.Claim
	// Render gives the bytes of the answer that are stored under the Claim.
	// It is called only with a Claim.
	Render func([]BatchResult) idempotency.Answer
}

// BatchItem is one message, or why the edge could not read it.
type BatchItem struct {
	Message Message
	Err     error
}

// BatchResult says what became of the item at the same place.
type BatchResult struct {
	Receipt Receipt // without Replay
	Err     error   // set: the item was not stored
}

// BatchReceipt says what became of all items.
type BatchReceipt struct {
	Results []BatchResult
	// Replay is set when an earlier request with the same key has won: its
	// stored answer stands and nothing was sent for this one.
	Replay *idempotency.Answer
}

// SendBatch is Send for every item. They are stored in one transaction, or, where
// the database refuses that, those of them that it takes. Error: Invalid for too
// many or no items, Conflict as Send, Away when nothing could be stored; all other
// refusals are in the results.
func (s *Service) SendBatch(ctx context.Context, caller accounts.Caller, b Batch) (BatchReceipt, error) {
	if n := len(b.Items); n == 0 || n > MaxBatch {
		return BatchReceipt{}, fault.InvalidField("emails", "must have 1 to %d emails, not %d", MaxBatch, n)
	}
	results := make([]BatchResult, len(b.Items))
	prepared := make([]*acceptance, len(b.Items))
	sub := &submission{claim: b.Claim, each: true}
	now := clock.Now()
	for i, item := range b.Items {
		a, err := s.prepareItem(ctx, caller, item, now)
		switch {
		case err != nil && fault.KindOf(err) == fault.Away:
			return BatchReceipt{}, err
		case err != nil:
			results[i].Err = err
		default:
			prepared[i] = a
			sub.items = append(sub.items, a)
			sub.size += a.size
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
		sub.answer = func() idempotency.Answer { return b.Render(collect()) }
	} else if len(sub.items) == 0 {
		return BatchReceipt{Results: results}, nil
	}
	replay, err := s.writer.accept(ctx, sub)
	switch {
	case err != nil:
		return BatchReceipt{}, err
	case replay != nil:
		return BatchReceipt{Replay: replay}, nil
	default:
		return BatchReceipt{Results: collect()}, nil
	}
}

func (s *Service) prepareItem(ctx context.Context, caller accounts.Caller, item BatchItem, now time.Time) (*acceptance, error) {
	if item.Err != nil {
		return nil, item.Err
	}
	if len(item.Message.Attachments) > 0 {
		wrong := item.Message.Validate()
		wrong["attachments"] = "are not accepted in a batch"
		return nil, wrong.Err()
	}
	return s.prepare(ctx, caller, item.Message, now)
}

// refusedByDatabase tells an error of what was written from a database that is
// away and from a refusal of ours.
func refusedByDatabase(err error) bool {
	return err != nil && !fault.IsDatabaseAway(err) && fault.KindOf(err) == fault.Internal
}

// flushItems stores a submission that the database refused as a whole: each item
// under a savepoint, so that a bad one does not take the others with it. The
// answer is stored last, when it is known what it says.
func (w *writer) flushItems(ctx context.Context, sub *submission) error {
	errs := make([]error, 1)
	err := w.db.InPreparedTx(ctx, func(tx *db.PreparedTx) error {
		if err := w.judgeItems(ctx, tx, begin([]*submission{sub})); err != nil {
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
		return errs[0] // errTaken takes the items back
	})
	return err
}

// insertItem stores one item, or sets its error.
func (w *writer) insertItem(ctx context.Context, tx *db.PreparedTx, a *acceptance) error {
	if _, err := tx.Tx.ExecContext(ctx, "SAVEPOINT item"); err != nil {
		return fmt.Errorf("savepoint: %w", err)
	}
	refusal := w.insertAccepted(ctx, tx, []*acceptance{a})
	if refusal == nil {
		_, err := tx.Tx.ExecContext(ctx, "RELEASE SAVEPOINT item")
		return err
	}
	if !refusedByDatabase(refusal) {
		return refusal
	}
	// Not as a prepared statement: a transaction that has failed prepares none.
	if _, err := tx.Tx.ExecContext(ctx, "ROLLBACK TO SAVEPOINT item"); err != nil {
		return fmt.Errorf("roll back to savepoint: %w", err)
	}
	if a.counts() {
		if err := w.quota.Refund(ctx, tx, []accounts.Use{a.use()}); err != nil {
			return fmt.Errorf("give back to the caps: %w", err)
		}
	}
	a.err = refusal
	return nil
}
