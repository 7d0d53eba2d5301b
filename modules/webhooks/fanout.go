package webhooks

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/batch"
	"github.com/postrider/postrider/runtime/work/bus"
	"github.com/postrider/postrider/runtime/work/event"
)

// newConsumer returns the module's subscription to facts.
func (s *Service) newConsumer() bus.Consumer {
	offered := s.offer.Types()
	types := make([]event.Type, len(offered))
	for i, name := range offered {
		types[i] = event.Type(name)
	}
	return bus.Consumer{Group: "webhooks", Types: types, Handle: s.handleFact, HandleAll: s.handleFacts,
		Batch: handOverMost, Wants: s.interest.Wants, Refresh: s.interest.Refresh, Begun: s.beginBatch, Committed: s.handleCommit}
}

// handleFact creates the deliveries of a fact. Handling the same fact again creates no duplicates. A fact older
// than the retention of deliveries creates none.
func (s *Service) handleFact(ctx context.Context, tx db.Execer, fact event.Fact) error {
	return s.handleFacts(ctx, tx, []event.Fact{fact})
}

// handleFacts does the work of handleFact for many facts in one statement. Late facts go first, in a separate
// statement, because pairs are created in event order.
func (s *Service) handleFacts(ctx context.Context, tx db.Execer, facts []event.Fact) error {
	var fresh, late []queuedEvent
	for _, f := range facts {
		switch age := time.Since(id.Time(f.ID)); {
		case age > Retention:
		case age > lateAfter:
			late = append(late, queuedEvent{fact: f})
		default:
			fresh = append(fresh, queuedEvent{fact: f})
		}
	}
	made, err := fanOut(ctx, tx, fanOutLateSQL, late)
	if err != nil {
		return err
	}
	waiting, err := s.fanOutFresh(ctx, tx, fresh)
	if err != nil {
		return err
	}
	if len(made)+waiting > 0 {
		s.queued.Store(true)
	}
	return nil
}

// handleCommit starts the deliveries that this process has claimed, and wakes the deliverer once the others are
// visible. Woken earlier, it would not find them until the next poll.
func (s *Service) handleCommit() {
	s.beginHandedOver()
	if s.queued.Swap(false) {
		s.signals.Wake(deliveryChannel)
	}
}

// queuedEvent is an event to deliver to endpoints.
type queuedEvent struct {
	fact event.Fact
	data json.RawMessage // set if the event is not a fact; nil: read it from the fact
}

var queuedEventRows = batch.New("e",
	batch.Text("id", func(t queuedEvent) string { return t.fact.ID }),
	batch.Text("account_id", func(t queuedEvent) string { return t.fact.AccountID }),
	batch.Text("type", func(t queuedEvent) event.Type { return t.fact.Type }),
	batch.Text("subject", func(t queuedEvent) string { return t.fact.SubjectID }),
	batch.Time("at", func(t queuedEvent) time.Time { return t.fact.CreatedAt }),
	// The time in an id may precede its transaction by this much.
	batch.Time("begun", func(t queuedEvent) time.Time { return id.Time(t.fact.ID).Add(bus.HoldBack) }),
	batch.Text("data", func(t queuedEvent) string { return string(t.data) }),
)

// lateAfter is the age from which an event may already have a delivery whose id is not derived from the pair.
const lateAfter = time.Minute

// fanOutSQL creates a delivery for each pair of event and subscribed endpoint, and returns the ids. An empty
// list of types means all types. Facts may arrive late, so an endpoint does not receive events from before it
// was enabled. If enabled_at is in the future, the database clock has stepped back, and the event is delivered.
// Pairs are created in the same order as in Recover, which may create the same ones: different orders could
// deadlock.
var fanOutSQL = fanOutOf("")

// fanOutLateSQL is fanOutSQL for late events. Recover may already have created their deliveries, possibly in an
// older version that assigned ids differently.
var fanOutLateSQL = fanOutOf(`
		AND NOT EXISTS (SELECT FROM webhook_deliveries d WHERE d.event_id = e.id AND d.webhook_id = w.id)`)

// subscribedSQL is the condition under which the endpoint w receives the event e.
var subscribedSQL = `w.account_id = e.account_id AND w.enabled
		AND (jsonb_array_length(w.events) = 0 OR w.events ? e.type)
		AND (w.enabled_at IS NULL OR w.enabled_at <= e.begun::timestamptz OR w.enabled_at > now() + interval '10 seconds')
		AND ` + matchesSQL("e.subject")

func fanOutOf(condition string) *db.Statement {
	return db.Compile(`
WITH made AS (
	INSERT INTO webhook_deliveries (id, account_id, webhook_id, event_id, event_type, event_created_at, data, state, due_at, attempts, replays, error, created_at)
	SELECT ` + idOf("e.id", "w.id") + `, e.account_id, w.id, e.id, e.type, e.at::timestamptz, NULLIF(e.data, '')::jsonb, 'pending', now(), 0, 0, '', now()
	FROM ` + queuedEventRows.Source() + ` JOIN webhooks w ON ` + subscribedSQL + condition + `
	ORDER BY e.id, w.id
	ON CONFLICT DO NOTHING
	RETURNING id, webhook_id, due_at
), waits AS (` + workSQL + `)
SELECT id FROM made`)
}

// idOf returns SQL for the id of the delivery of an event to an endpoint. The id begins with the time of the
// event's id; the rest is a hash of event and endpoint. The primary key alone thus prevents a second delivery
// of the pair, even in a table partitioned by id, where no other index can be unique across partitions. The
// letters at two positions make it a version 7 UUID, like all ids. If the id of the event names a cell, the id of
// the delivery names the same one (package id): the cell of the process could be another for the same pair.
func idOf(event, endpoint string) string {
	hashed := `overlay(substr(translate(
		encode(sha256(convert_to(` + event + ` || ` + endpoint + `, 'UTF8')), 'base64'), 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/',
		'0123456789abcdefghjkmnpqrstvwxyz0123456789abcdefghjkmnpqrstvwxyz'), 1, 16) PLACING 'a' FROM 4)`
	return `'` + string(id.WebhookDelivery) + `_' || substr(` + event + `, 5, 10) || CASE WHEN substr(` + event + `, 15, 1) IN ('g', 'h')
		THEN overlay(overlay(` + hashed + ` PLACING 'g' FROM 1) PLACING substr(` + event + `, 29, 2) FROM 15)
		ELSE overlay(` + hashed + ` PLACING 'e' FROM 1) END`
}

// workSQL creates the work rows of new deliveries.
const workSQL = `INSERT INTO webhook_works (id, webhook_id, due_at, fence, attempts, round) SELECT id, webhook_id, due_at, 0, 0, 0 FROM made`

var queueSQL = `
WITH made AS (
	INSERT INTO webhook_deliveries (id, account_id, webhook_id, event_id, event_type, event_created_at, data, state, due_at, attempts, replays, error, created_at)
	SELECT ` + idOf("v.event_id", "v.webhook_id") + `, $3, v.webhook_id, v.event_id, $4, $5, NULLIF($6::text, '')::jsonb, 'pending', now(), 0, 0, '', now()
	FROM (VALUES ($1::text, $2::text)) AS v (event_id, webhook_id)
	ON CONFLICT DO NOTHING
	RETURNING id, webhook_id, due_at
), waits AS (` + workSQL + `)
SELECT id FROM made`

// fanOut creates one delivery for each pair of event and subscribed endpoint.
func fanOut(ctx context.Context, tx db.Execer, statement *db.Statement,
	events []queuedEvent) (made []string, err error) {
	if len(events) == 0 {
		return nil, nil
	}
	made, err = db.All(ctx, tx, db.Value[string], statement.Text, statement.Args(queuedEventRows.Rows(events))...)
	if err != nil {
		return nil, fmt.Errorf("queue webhook deliveries: %w", err)
	}
	return made, nil
}

// queueDelivery creates the delivery of a fact to one endpoint.
func queueDelivery(ctx context.Context, tx db.Execer, fact event.Fact, endpoint string) ([]string, error) {
	return queueEvent(ctx, tx, queuedEvent{fact, nil}, endpoint)
}

// queueEvent creates the delivery of an event to one endpoint.
func queueEvent(ctx context.Context, tx db.Execer, e queuedEvent, endpoint string) ([]string, error) {
	made, err := db.All(ctx, tx, db.Value[string], queueSQL, e.fact.ID, endpoint, e.fact.AccountID,
		string(e.fact.Type), e.fact.CreatedAt, string(e.data))
	if err != nil {
		return nil, fmt.Errorf("queue webhook deliveries: %w", err)
	}
	return made, nil
}

// DeliverTo sends a test event to one endpoint of the account, whether it subscribes to the type or not. Errors:
// NotFound; Conflict if the endpoint is disabled.
func (s *Service) DeliverTo(ctx context.Context, accountID, webhookID string,
	fact event.Fact) (made []string, err error) {
	endpoint, err := s.Get(ctx, accountID, webhookID)
	switch {
	case err != nil:
		return nil, err
	case !endpoint.Enabled:
		return nil, fault.Conflictf(fault.CodeConflict, "The endpoint is disabled; enable it first")
	}
	fact.AccountID, fact.CreatedAt = accountID, fact.CreatedAt.Truncate(time.Millisecond)
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		made, err = queueEvent(ctx, tx, queuedEvent{fact, fact.Data}, endpoint.ID)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("deliver test event: %w", err)
	}
	s.signals.Wake(deliveryChannel)
	return made, nil
}

// Deliver sends a test event to the account's subscribed endpoints and returns the ids of the deliveries. The
// event is not a fact; its data is stored with each delivery.
func (s *Service) Deliver(ctx context.Context, accountID string, fact event.Fact) (made []string, err error) {
	fact.AccountID, fact.CreatedAt = accountID, fact.CreatedAt.Truncate(time.Millisecond)
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		made, err = fanOut(ctx, tx, fanOutSQL, []queuedEvent{{fact, fact.Data}})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("deliver test event: %w", err)
	}
	s.signals.Wake(deliveryChannel)
	return made, nil
}
