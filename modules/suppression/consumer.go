package suppression

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/bus"
	"github.com/postrider/postrider/runtime/work/event"
)

// consumer subscribes the module to facts.
func (s *Service) consumer() bus.Consumer {
	return bus.Consumer{Group: "suppression",
		Types: []event.Type{event.EmailBounced, event.EmailFailed, event.EmailComplained}, Handle: s.handle}
}

// handle suppresses the recipient of a fact if the fact requires it.
func (s *Service) handle(ctx context.Context, tx db.Execer, fact event.Fact) error {
	var data event.Email
	if err := json.Unmarshal(fact.Data, &data); err != nil {
		return fmt.Errorf("read %s: %w", fact.Type, err)
	}
	reason, suppresses := decide(fact.Type, data)
	if !suppresses {
		return nil
	}
	_, err := s.put(ctx, tx, fact.AccountID, []entry{{email: data.Recipient, reason: reason, emailID: data.EmailID}})
	return err
}
