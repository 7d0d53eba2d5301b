package webhooks

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/bus"
	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/db/batch"
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
	return bus.Consumer{Group: "webhooks", Types: types, Handle: s.handle, HandleAll: s.handleAll,
		Wants: s.interest.Wants, Refresh: s.interest.Refresh, Committed: s.committed}
}

// handle makes the deliveries of a fact. Handled again it makes none twice. What is
// handed out after the time for which deliveries are kept is told to nobody.
func (s *Service) handle(ctx context.Context, tx db.Execer, fact event.Fact) error {
	return s.handleAll(ctx, tx, []event.Fact{fact})
}

// handleAll is handle for many facts, in one statement.
func (s *Service) handleAll(ctx context.Context, tx db.Execer, facts []event.Fact) error {
	recent := make([]told, 0, len(facts))
	for _, f := range facts {
		if time.Since(id.Time(f.ID)) <= Kept {
			recent = append(recent, told{fact: f})
		}
	}
	made, err := s.fanOut(ctx, tx, recent)
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

// fanOutSQL makes a delivery for each event and each endpoint that is to be told of it, as
// far as the ids that it is given go, and says how many such pairs there are. No list of
// types is all types. An endpoint is not told of what happened before it was switched on: a
// fact may be handed out late. Pairs are made in the order of Recover, which may queue the
// same ones: two that wait for each other in two orders would be a deadlock.
var fanOutSQL = db.Compile(`
WITH told AS (
	SELECT e.id, e.account_id, e.type, e.at::timestamptz AS at, NULLIF(e.data, '')::jsonb AS data, w.id AS webhook_id, row_number() OVER (ORDER BY e.id, w.id) AS n
	FROM ` + toldRows.Source() + ` JOIN webhooks w ON w.account_id = e.account_id AND w.enabled
		AND (jsonb_array_length(w.events) = 0 OR w.events ? e.type)
		AND (w.enabled_at IS NULL OR w.enabled_at <= e.begun::timestamptz)
), made AS (
	INSERT INTO webhook_deliveries (id, account_id, webhook_id, event_id, event_type, event_created_at, data, state, due_at, attempts, replays, error, created_at)
	SELECT v.id, t.account_id, t.webhook_id, t.id, t.type, t.at, t.data, 'pending', now(), 0, 0, '', now()
	FROM told t JOIN unnest(@ids::text[]) WITH ORDINALITY AS v (id, n) ON v.n = t.n ORDER BY t.n
	ON CONFLICT (webhook_id, event_id) DO NOTHING
	RETURNING id, webhook_id, due_at
), waits AS (` + workSQL + `)
SELECT id, (SELECT count(*) FROM told) FROM made UNION ALL SELECT '', count(*) FROM told`)

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

// fanOut makes one delivery for each event and each endpoint that is subscribed to it.
func (s *Service) fanOut(ctx context.Context, tx db.Execer, events []told) (made []string, err error) {
	room := 0
	for _, e := range events {
		room += max(1, s.interest.Count(e.fact.AccountID))
	}
	for len(events) > 0 {
		some, pairs, err := s.fanOutTo(ctx, tx, events, room)
		if made = append(made, some...); err != nil || pairs <= room {
			return made, err
		}
		room = pairs // there are more than was known here; those that have a delivery get none twice
	}
	return made, nil
}

// fanOutTo makes as many deliveries as there is room for, and says how many there should be.
func (s *Service) fanOutTo(ctx context.Context, tx db.Execer, events []told, room int) (made []string, pairs int, err error) {
	type line struct {
		id    string
		pairs int
	}
	lines, err := db.All(ctx, tx, func(l *line) []any { return []any{&l.id, &l.pairs} },
		fanOutSQL.Text, fanOutSQL.Args(toldRows.Rows(events), db.Arg("ids", db.Array(newIDs(room))))...)
	if err != nil {
		return nil, 0, fmt.Errorf("queue webhook deliveries: %w", err)
	}
	for _, l := range lines {
		if pairs = l.pairs; l.id != "" {
			made = append(made, l.id)
		}
	}
	return made, pairs, nil
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
		made, err = s.fanOut(ctx, tx, []told{{fact, fact.Data}})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("deliver test event: %w", err)
	}
	s.signals.Wake(deliveryChannel)
	return made, nil
}
