package seed

import (
	"context"
	"database/sql"
	"encoding/json"

	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/event"
)

// factsSQL inserts events of the accounts with webhook endpoints, in turn.
const factsSQL = `
WITH stored AS (
	INSERT INTO facts (id, account_id, type, subject_id, data, created_at)
	SELECT f.id, a.account_id, 'email.delivered', 'msg_01kf0m4w7he6x8q2v5b3n9c1ta', $2::jsonb, now()
	FROM unnest($1::text[]) WITH ORDINALITY AS f (id, n)
	JOIN (SELECT account_id, row_number() OVER () - 1 AS n, count(*) OVER () AS accounts
		FROM (SELECT DISTINCT account_id FROM webhooks) o) a ON f.n % a.accounts = a.n
	RETURNING id, account_id, created_at
)`

const eventsSQL = factsSQL + `
INSERT INTO bus_messages (consumer, fact_id) SELECT 'webhooks', id FROM stored`

const deliveriesSQL = factsSQL + `, handled AS (
	INSERT INTO bus_handled (consumer, first_id, last_id, fact_ids) SELECT 'webhooks', min(id), max(id), array_agg(id) FROM stored
), deliveries AS (
	INSERT INTO webhook_deliveries (id, account_id, webhook_id, event_id, event_type, event_created_at, state, due_at, attempts, replays, error, created_at)
	SELECT 'whd' || substr(f.id, 4), f.account_id, w.id, f.id, 'email.delivered', f.created_at, 'pending', now(), 0, 0, '', now()
	FROM stored f JOIN webhooks w ON w.account_id = f.account_id
	RETURNING id, webhook_id
)
INSERT INTO webhook_works (id, webhook_id, due_at, fence, attempts, round) SELECT id, webhook_id, now(), 0, 0, 0 FROM deliveries`

// InsertEvents inserts n published events. The server turns them into webhook deliveries.
func InsertEvents(ctx context.Context, conn *sql.DB, n int) error {
	return insertFacts(ctx, conn, n, eventsSQL, "postrider_bus")
}

// InsertDeliveries inserts n events that the server has already turned into webhook deliveries.
func InsertDeliveries(ctx context.Context, conn *sql.DB, n int) error {
	return insertFacts(ctx, conn, n, deliveriesSQL, "webhooks")
}

func insertFacts(ctx context.Context, conn *sql.DB, n int, statement, wake string) error {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = id.New(id.Fact)
	}
	if _, err := conn.ExecContext(ctx, statement, db.Array(ids), string(SampleEvent())); err != nil {
		return err
	}
	_, err := conn.ExecContext(ctx, `SELECT pg_notify('postrider', 'bench:' || $1)`, wake)
	return err
}

// SampleEvent returns the data of the inserted events.
func SampleEvent() []byte {
	entry, _ := event.Lookup(event.EmailDelivered)
	data, err := json.Marshal(entry.Sample)
	if err != nil {
		panic(err) // samples always encode
	}
	return data
}
