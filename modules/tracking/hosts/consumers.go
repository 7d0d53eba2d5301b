package hosts

import (
	"context"
	"fmt"

	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/bus"
	"github.com/postrider/postrider/runtime/work/event"
)

// Consumer deletes the tracking host of a domain that its account no longer has.
func (s *Service) Consumer() bus.Consumer {
	return bus.Consumer{Group: "tracking", Types: []event.Type{event.DomainDeleted, event.DomainLost}, Handle: s.handle}
}

func (s *Service) handle(ctx context.Context, tx db.Execer, fact event.Fact) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM tracking_hosts WHERE account_id = $1 AND domain_id = $2`, fact.AccountID, fact.SubjectID); err != nil {
		return fmt.Errorf("delete the tracking host of %s: %w", fact.SubjectID, err)
	}
	return nil
}
