package webhooks

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/lib/pq"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/bus"
	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/event"
	"github.com/postrider/postrider/runtime/id"
)

// consumer is the module's interest in facts.
func (s *Service) consumer() bus.Consumer {
	types := make([]event.Type, len(s.public))
	for i, name := range s.public {
		types[i] = event.Type(name)
	}
	return bus.Consumer{Group: "webhooks", Types: types, Handle: s.handle, Wants: s.interest.wants}
}

// handle makes the deliveries of a fact. Handled again it makes none twice.
func (s *Service) handle(ctx context.Context, tx db.Execer, fact event.Fact) error {
	made, err := s.fanOut(ctx, tx, fact, nil)
	if err == nil && len(made) > 0 {
		s.signals.Wake(deliveryChannel) // before the commit: what is found too early is found by the poll
	}
	return err
}

// subscribedSQL finds who is to be told. No list of types is all types.
const subscribedSQL = `
SELECT id FROM webhooks WHERE account_id = $1 AND enabled AND (jsonb_array_length(events) = 0 OR events ? $2) ORDER BY id`

const insertSQL = `
INSERT INTO webhook_deliveries (id, account_id, webhook_id, event_id, event_type, event_created_at, data, state, due_at, fence, attempts, round, replays, error, created_at)
SELECT v.id, $3, v.webhook_id, $4, $5, $6, $7::jsonb, 'pending', now(), 0, 0, 0, 0, '', now()
FROM unnest($1::text[], $2::text[]) AS v (id, webhook_id)
ON CONFLICT (webhook_id, event_id) DO NOTHING
RETURNING id`

// fanOut makes one delivery for each subscribed endpoint. data is that of an event
// which is no fact; nil: the fact has it.
func (s *Service) fanOut(ctx context.Context, tx db.Execer, fact event.Fact, data json.RawMessage) (made []string, err error) {
	rows, err := tx.QueryContext(ctx, subscribedSQL, fact.AccountID, string(fact.Type))
	if err != nil {
		return nil, fmt.Errorf("find webhooks: %w", err)
	}
	endpoints, err := scanAll(rows, func(endpoint *string) []any { return []any{endpoint} })
	if err != nil || len(endpoints) == 0 {
		return nil, err
	}
	return s.queue(ctx, tx, fact, data, endpoints...)
}

func (s *Service) queue(ctx context.Context, tx db.Execer, fact event.Fact, data json.RawMessage, endpoints ...string) ([]string, error) {
	ids := make([]string, len(endpoints))
	for i := range ids {
		ids[i] = id.New(id.WebhookDelivery)
	}
	var own any
	if data != nil {
		own = string(data)
	}
	rows, err := tx.QueryContext(ctx, insertSQL, pq.Array(ids), pq.Array(endpoints), fact.AccountID, fact.ID, string(fact.Type), fact.CreatedAt, own)
	if err != nil {
		return nil, fmt.Errorf("queue webhook deliveries: %w", err)
	}
	return scanAll(rows, func(made *string) []any { return []any{made} })
}

// Deliver tells the account's subscribed endpoints of a test event, which is no fact
// and has its data with the delivery. It gives the ids of the deliveries.
func (s *Service) Deliver(ctx context.Context, accountID string, fact event.Fact) (made []string, err error) {
	fact.AccountID, fact.CreatedAt = accountID, fact.CreatedAt.Truncate(time.Millisecond)
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		made, err = s.fanOut(ctx, tx, fact, fact.Data)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("deliver test event: %w", err)
	}
	s.signals.Wake(deliveryChannel)
	return made, nil
}
