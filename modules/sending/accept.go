package sending

import (
	"context"
	"errors"
	"fmt"

	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/event"
	"github.com/postrider/postrider/runtime/idempotency"
)

// Concurrent requests share commits: what waits when a writer is free goes into
// one transaction. One durable commit costs the same for one message as for a
// hundred, so this is where the accept rate comes from.

// errTaken marks an acceptance whose idempotency key another request used first.
var errTaken = errors.New("idempotency key was used by another request")

// accept stores the message together with others that wait.
func (s *Service) accept(ctx context.Context, a *acceptance) (Receipt, error) {
	joiner := s.accepts
	if a.size >= heavyFrom {
		joiner = s.heavyAccepts
	}
	err := joiner.Do(ctx, a)
	if errors.Is(err, errTaken) {
		answer, err := s.idempotency.Replay(ctx, a.claim)
		if err != nil {
			return Receipt{}, err
		}
		return Receipt{Replay: answer}, nil
	}
	if err != nil {
		return Receipt{}, fmt.Errorf("store email: %w", err)
	}
	s.bus.Wake()
	s.signals.Wake(deliveryChannel)
	return a.receipt, nil
}

// flushAccepts writes a batch in one transaction. An error refuses the whole
// batch, which the joiner then tries one by one.
func (s *Service) flushAccepts(ctx context.Context, batch []*acceptance) []error {
	errs := make([]error, len(batch))
	err := s.db.InPreparedTx(ctx, func(tx *db.PreparedTx) error {
		clear(errs)
		fresh, err := s.storeAnswers(ctx, tx, batch, errs)
		if err != nil {
			return err
		}
		return s.insertAccepted(ctx, tx, fresh)
	})
	if err != nil {
		for i := range errs {
			errs[i] = err
		}
	}
	return errs
}

// storeAnswers claims the idempotency keys of the batch and gives the messages
// that may go on; the others get errTaken.
func (s *Service) storeAnswers(ctx context.Context, tx db.Execer, batch []*acceptance, errs []error) ([]*acceptance, error) {
	var claimed []idempotency.ClaimedAnswer
	var position []int
	for i, a := range batch {
		if a.claim != nil {
			claimed = append(claimed, idempotency.ClaimedAnswer{Claim: a.claim, Answer: a.answer})
			position = append(position, i)
		}
	}
	if len(claimed) > 0 {
		taken, err := idempotency.StoreMany(ctx, tx, claimed)
		if err != nil {
			return nil, fmt.Errorf("store idempotent answers: %w", err)
		}
		for j, t := range taken {
			if t {
				errs[position[j]] = errTaken
			}
		}
	}
	fresh := make([]*acceptance, 0, len(batch))
	for i, a := range batch {
		if errs[i] == nil {
			fresh = append(fresh, a)
		}
	}
	return fresh, nil
}

func (s *Service) insertAccepted(ctx context.Context, tx db.Execer, fresh []*acceptance) error {
	if len(fresh) == 0 {
		return nil
	}
	if err := insertEmails(ctx, tx, fresh); err != nil {
		return fmt.Errorf("insert emails: %w", err)
	}
	for _, a := range fresh {
		if err := insertAttachments(ctx, tx, a); err != nil {
			return fmt.Errorf("insert attachments: %w", err)
		}
	}
	facts := make([]event.Fact, 0, len(fresh))
	for _, a := range fresh {
		facts = append(facts, a.fact)
	}
	if err := s.bus.Publish(ctx, tx, facts...); err != nil {
		return fmt.Errorf("publish facts: %w", err)
	}
	return nil
}
