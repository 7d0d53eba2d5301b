package webhooks

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/bus"
	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/event"
	"github.com/postrider/postrider/runtime/id"
)

// consumer is the module's interest in facts.
func (s *Service) consumer() bus.Consumer {
	offered := s.offer.Types()
	types := make([]event.Type, len(offered))
	for i, name := range offered {
		types[i] = event.Type(name)
	}
	return bus.Consumer{Group: "webhooks", Types: types, Handle: s.handle, Wants: s.interest.Wants, Refresh: s.interest.Refresh, Committed: s.committed}
}

// handle makes the deliveries of a fact. Handled again it makes none twice. What is
// handed out after the time for which deliveries are kept is told to nobody.
func (s *Service) handle(ctx context.Context, tx db.Execer, fact event.Fact) error {
	if time.Since(id.Time(fact.ID)) > Kept {
		return nil
	}
	made, err := s.fanOut(ctx, tx, fact, nil)
	if err == nil && len(made) > 0 {
		s.queued.Store(true)
	}
	return err
}

// committed wakes the deliveries once they can be seen: woken before, they would wait
// for the poll.
func (s *Service) committed() {
	if s.queued.Swap(false) {
		s.signals.Wake(deliveryChannel)
	}
}

// fanOutSQL makes a delivery for each endpoint that is to be told, as far as the ids
// that it is given go, and says how many endpoints there are. No list of types is all
// types. An endpoint is not told of what happened before it was switched on: a fact may
// be handed out late.
const fanOutSQL = `
WITH subscribed AS (
	SELECT id, row_number() OVER (ORDER BY id) AS n FROM webhooks
	WHERE account_id = $2 AND enabled AND (jsonb_array_length(events) = 0 OR events ? $4::text)
		AND (enabled_at IS NULL OR enabled_at <= $7::timestamptz)
), made AS (
	INSERT INTO webhook_deliveries (id, account_id, webhook_id, event_id, event_type, event_created_at, data, state, due_at, attempts, replays, error, created_at)
	SELECT v.id, $2, s.id, $3, $4, $5, $6::jsonb, 'pending', now(), 0, 0, '', now()
	FROM subscribed s JOIN unnest($1::text[]) WITH ORDINALITY AS v (id, n) ON v.n = s.n
	ON CONFLICT (webhook_id, event_id) DO NOTHING
	RETURNING id, webhook_id, due_at
), waits AS (` + workSQL + `)
SELECT id, (SELECT count(*) FROM subscribed) FROM made UNION ALL SELECT '', count(*) FROM subscribed`

// workSQL makes the work of deliveries that were made.
const workSQL = `INSERT INTO webhook_works (id, webhook_id, due_at, fence, attempts, round) SELECT id, webhook_id, due_at, 0, 0, 0 FROM made`

const insertSQL = `
WITH made AS (
	INSERT INTO webhook_deliveries (id, account_id, webhook_id, event_id, event_type, event_created_at, data, state, due_at, attempts, replays, error, created_at)
	SELECT v.id, $3, v.webhook_id, $4, $5, $6, $7::jsonb, 'pending', now(), 0, 0, '', now()
	FROM unnest($1::text[], $2::text[]) AS v (id, webhook_id)
	ON CONFLICT (webhook_id, event_id) DO NOTHING
	RETURNING id, webhook_id, due_at
), waits AS (` + workSQL + `)
SELECT id FROM made`

// fanOut makes one delivery for each subscribed endpoint. data is that of an event
// which is no fact; nil: the fact has it.
func (s *Service) fanOut(ctx context.Context, tx db.Execer, fact event.Fact, data json.RawMessage) (made []string, err error) {
	for room := max(1, s.interest.Count(fact.AccountID)); ; {
		some, endpoints, err := s.fanOutTo(ctx, tx, fact, data, room)
		if made = append(made, some...); err != nil || endpoints <= room {
			return made, err
		}
		room = endpoints // there are more than was known here; those that have one get none twice
	}
}

// fanOutTo makes as many as there are ids, and says how many there should be.
func (s *Service) fanOutTo(ctx context.Context, tx db.Execer, fact event.Fact, data json.RawMessage, room int) (made []string, endpoints int, err error) {
	type line struct {
		id        string
		endpoints int
	}
	begun := id.Time(fact.ID).Add(bus.HoldBack) // so much may the time of an id be before that of its transaction
	lines, err := db.All(ctx, tx, func(l *line) []any { return []any{&l.id, &l.endpoints} },
		fanOutSQL, db.Array(newIDs(room)), fact.AccountID, fact.ID, string(fact.Type), fact.CreatedAt, ownData(data), begun)
	if err != nil {
		return nil, 0, fmt.Errorf("queue webhook deliveries: %w", err)
	}
	for _, l := range lines {
		if endpoints = l.endpoints; l.id != "" {
			made = append(made, l.id)
		}
	}
	return made, endpoints, nil
}

func newIDs(n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = id.New(id.WebhookDelivery)
	}
	return ids
}

// ownData is null for a delivery of a fact.
func ownData(data json.RawMessage) any {
	if data == nil {
		return nil
	}
	return string(data)
}

func (s *Service) queue(ctx context.Context, tx db.Execer, fact event.Fact, data json.RawMessage, endpoints ...string) ([]string, error) {
	made, err := db.All(ctx, tx, db.Value[string], insertSQL, db.Array(newIDs(len(endpoints))), db.Array(endpoints),
		fact.AccountID, fact.ID, string(fact.Type), fact.CreatedAt, ownData(data))
	if err != nil {
		return nil, fmt.Errorf("queue webhook deliveries: %w", err)
	}
	return made, nil
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
