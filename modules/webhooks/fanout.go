package webhooks

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/batch"
	"github.com/postrider/postrider/runtime/work/bus"
	"github.com/postrider/postrider/runtime/work/event"
)

// consumer is the module's interest in facts.
func (s *Service) consumer() bus.Consumer {
	offered := s.offer.Types()
	types := make([]event.Type, len(offered))
	for i, name := range offered {
		types[i] = event.Type(name)
	}
	return bus.Consumer{Group: "webhooks", Types: types, Handle: s.handle, HandleAll: s.handleAll,
		Wants: s.interest.Wants, Refresh: s.interest.Refresh, Committed: s.committed}
}

// handle makes the deliveries of a fact. Handled again it makes none twice. What is
// handed out after the time for which deliveries are kept is told to nobody.
func (s *Service) handle(ctx context.Context, tx db.Execer, fact event.Fact) error {
	return s.handleAll(ctx, tx, []event.Fact{fact})
}

// handleAll is handle for many facts, in one statement; those that are told late have one of their own, before it: pairs
// are made in the order of events.
func (s *Service) handleAll(ctx context.Context, tx db.Execer, facts []event.Fact) error {
	var fresh, late []told
	for _, f := range facts {
		switch age := time.Since(id.Time(f.ID)); {
		case age > Kept:
		case age > lateAfter:
			late = append(late, told{fact: f})
		default:
			fresh = append(fresh, told{fact: f})
		}
	}
	for _, some := range []struct {
		statement *db.Statement
		events    []told
	}{{fanOutLateSQL, late}, {fanOutSQL, fresh}} {
		made, err := fanOut(ctx, tx, some.statement, some.events)
		if err != nil {
			return err
		}
		if len(made) > 0 {
			s.queued.Store(true)
		}
	}
	return nil
}

// committed wakes the deliveries once they can be seen: woken before, they would wait
// for the poll.
func (s *Service) committed() {
	if s.queued.Swap(false) {
		s.signals.Wake(deliveryChannel)
	}
}

// told is an event that endpoints are told of.
type told struct {
	fact event.Fact
	data json.RawMessage // of an event which is no fact; nil: the fact has it
}

var toldRows = batch.New("e",
	batch.Text("id", func(t told) string { return t.fact.ID }),
	batch.Text("account_id", func(t told) string { return t.fact.AccountID }),
	batch.Text("type", func(t told) event.Type { return t.fact.Type }),
	batch.Time("at", func(t told) time.Time { return t.fact.CreatedAt }),
	// So much may the time of an id be before that of its transaction.
	batch.Time("begun", func(t told) time.Time { return id.Time(t.fact.ID).Add(bus.HoldBack) }),
	batch.Text("data", func(t told) string { return string(t.data) }),
)

// lateAfter is how old an event is that may have a delivery whose id does not follow from it.
const lateAfter = time.Minute

// fanOutSQL makes a delivery for each event and each endpoint that is to be told of it, and
// gives their ids. No list of types is all types. An endpoint is not told of what happened
// before it was switched on: a fact may be handed out late. One that was switched on in the
// future was so before the clock of the database went back, and is told. Pairs are made in the order of
// Recover, which may make the same ones: two that wait for each other in two orders would be
// a deadlock.
var fanOutSQL = fanOutOf("")

// fanOutLateSQL is fanOutSQL for events that are told late. Recover may have been before it, also
// that of a program that gave deliveries other ids.
var fanOutLateSQL = fanOutOf(`
		AND NOT EXISTS (SELECT FROM webhook_deliveries d WHERE d.event_id = e.id AND d.webhook_id = w.id)`)

func fanOutOf(condition string) *db.Statement {
	return db.Compile(`
WITH made AS (
	INSERT INTO webhook_deliveries (id, account_id, webhook_id, event_id, event_type, event_created_at, data, state, due_at, attempts, replays, error, created_at)
	SELECT ` + idOf("e.id", "w.id") + `, e.account_id, w.id, e.id, e.type, e.at::timestamptz, NULLIF(e.data, '')::jsonb, 'pending', now(), 0, 0, '', now()
	FROM ` + toldRows.Source() + ` JOIN webhooks w ON w.account_id = e.account_id AND w.enabled
		AND (jsonb_array_length(w.events) = 0 OR w.events ? e.type)
		AND (w.enabled_at IS NULL OR w.enabled_at <= e.begun::timestamptz OR w.enabled_at > now() + interval '10 seconds')` + condition + `
	ORDER BY e.id, w.id
	ON CONFLICT DO NOTHING
	RETURNING id, webhook_id, due_at
), waits AS (` + workSQL + `)
SELECT id FROM made`)
}

// idOf is, in SQL, the id of the delivery of an event to an endpoint. It begins with the time of the
// event's id, and the rest is a hash of both: so the primary key alone keeps a pair from having two deliveries,
// also in a table that is split by the ids, where no other index is unique as a whole. The letters at two
// places make it a UUID of version 7, as in all ids.
func idOf(event, endpoint string) string {
	return `'` + string(id.WebhookDelivery) + `_' || substr(` + event + `, 5, 10) || overlay(overlay(substr(translate(
		encode(sha256(convert_to(` + event + ` || ` + endpoint + `, 'UTF8')), 'base64'), 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/',
		'0123456789abcdefghjkmnpqrstvwxyz0123456789abcdefghjkmnpqrstvwxyz'), 1, 16) PLACING 'e' FROM 1) PLACING 'a' FROM 4)`
}

// workSQL makes the work of deliveries that were made.
const workSQL = `INSERT INTO webhook_works (id, webhook_id, due_at, fence, attempts, round) SELECT id, webhook_id, due_at, 0, 0, 0 FROM made`

var queueSQL = `
WITH made AS (
	INSERT INTO webhook_deliveries (id, account_id, webhook_id, event_id, event_type, event_created_at, state, due_at, attempts, replays, error, created_at)
	SELECT ` + idOf("v.event_id", "v.webhook_id") + `, $3, v.webhook_id, v.event_id, $4, $5, 'pending', now(), 0, 0, '', now()
	FROM (VALUES ($1::text, $2::text)) AS v (event_id, webhook_id)
	ON CONFLICT DO NOTHING
	RETURNING id, webhook_id, due_at
), waits AS (` + workSQL + `)
SELECT id FROM made`

// fanOut makes one delivery for each event and each endpoint that is subscribed to it.
func fanOut(ctx context.Context, tx db.Execer, statement *db.Statement, events []told) (made []string, err error) {
	if len(events) == 0 {
		return nil, nil
	}
	made, err = db.All(ctx, tx, db.Value[string], statement.Text, statement.Args(toldRows.Rows(events))...)
	if err != nil {
		return nil, fmt.Errorf("queue webhook deliveries: %w", err)
	}
	return made, nil
}

// queue makes the delivery of a fact to one endpoint.
func queue(ctx context.Context, tx db.Execer, fact event.Fact, endpoint string) ([]string, error) {
	made, err := db.All(ctx, tx, db.Value[string], queueSQL, fact.ID, endpoint, fact.AccountID, string(fact.Type), fact.CreatedAt)
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
		made, err = fanOut(ctx, tx, fanOutSQL, []told{{fact, fact.Data}})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("deliver test event: %w", err)
	}
	s.signals.Wake(deliveryChannel)
	return made, nil
}
