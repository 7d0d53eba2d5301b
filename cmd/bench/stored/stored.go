// Package stored writes rows as the service would, for measurements that need many.
package stored

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/postrider/postrider/cmd/bench/postgres"
)

// DomainOf gives the id of the domain that the stored emails are from.
func DomainOf(ctx context.Context, databaseURL string) (id string, err error) {
	conn, err := sql.Open("postgres", databaseURL)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	err = conn.QueryRowContext(ctx, `SELECT domain_id FROM emails ORDER BY id LIMIT 1`).Scan(&id)
	return id, err
}

// Emails inserts delivered emails as accepting writes them, older ones first.
func Emails(ctx context.Context, databaseURL string, from, to int) error {
	const chunk = 50_000
	for at := from; at < to; at += chunk {
		if err := postgres.Exec(ctx, databaseURL, fmt.Sprintf(emailsSQL, at+1, min(at+chunk, to))); err != nil {
			return err
		}
	}
	// As autovacuum does it some time after.
	return postgres.Exec(ctx, databaseURL, `VACUUM ANALYZE emails`)
}

// The ids are in the order of their numbers, and before all that are made now.
const emailsSQL = `
INSERT INTO emails (id, account_id, domain_id, "from", from_address, "to", cc, bcc, reply_to, headers, tags, subject, text, message_id,
	status, last_event, created_at, sent_at, delivered_at, uncommon, search)
SELECT 'msg_00000000' || lpad(i::text, 18, '0'), a.id, d.id, 'Bench <bench@' || d.name || '>', 'bench@' || d.name, jsonb_build_array(v.recipient),
	'[]', '[]', '[]', '[]', v.tags, 'Your receipt ' || i, repeat('One line of what was bought. ', 10), i || '@' || d.name,
	v.status, 'email.' || v.status, v.created, v.sent, v.delivered, NULLIF(v.status, 'delivered'),
	to_tsvector('simple', 'Your receipt ' || i || ' bench dev test ' || v.recipient)
		|| array_to_tsvector(ARRAY['a=' || a.id, 'f=bench@' || d.name, 'd=' || d.name, 'r=' || v.recipient, v.mark])
FROM generate_series(%d, %d) i
CROSS JOIN (SELECT id FROM accounts ORDER BY id LIMIT 1) a
CROSS JOIN (SELECT id, name FROM domains WHERE account_id IS NOT NULL ORDER BY id LIMIT 1) d
CROSS JOIN LATERAL (SELECT now() AS created, now() AS sent, now() AS delivered, CASE WHEN i <= 10 THEN 'few@example.net' ELSE 'user' || i || '@example.net' END AS recipient,
	CASE WHEN i %% 1000 = 500 THEN '[{"name": "rare", "value": "yes"}]'::jsonb ELSE '[]' END AS tags,
	CASE WHEN i %% 1000 = 500 THEN 'g=rare:yes' ELSE 'g=kind:receipt' END AS mark,
	CASE WHEN i %% 1000 = 700 THEN 'bounced' ELSE 'delivered' END AS status) v`

// Scheduled inserts emails as accepting writes them, for the days from
// tomorrow on.
func Scheduled(ctx context.Context, databaseURL string, emails int) error {
	const chunk = 50_000
	for at := 0; at < emails; at += chunk {
		if err := postgres.Exec(ctx, databaseURL, fmt.Sprintf(scheduledSQL, at+1, at+chunk)); err != nil {
			return err
		}
	}
	// As autovacuum and the checkpointer do it some time after.
	return errors.Join(postgres.Exec(ctx, databaseURL, `VACUUM ANALYZE emails`), postgres.Exec(ctx, databaseURL, `VACUUM ANALYZE recipients`), postgres.Exec(ctx, databaseURL, `CHECKPOINT`))
}

const scheduledSQL = `
WITH stored AS (
INSERT INTO emails (id, account_id, domain_id, "from", from_address, "to", cc, bcc, reply_to, headers, tags, subject, text, message_id,
	status, last_event, created_at, scheduled_at, uncommon, release_at, search)
SELECT 'msg_00000000' || lpad(i::text, 18, '0'), a.id, d.id, 'Bench <bench@' || d.name || '>', 'bench@' || d.name, jsonb_build_array('user' || i || '@example.net'),
	'[]', '[]', '[]', '[]', '[]', 'Your receipt ' || i, repeat('One line of what was bought. ', 10), i || '@' || d.name,
	'scheduled', 'email.scheduled', now(), v.at, 'scheduled', v.at,
	to_tsvector('simple', 'Your receipt ' || i || ' bench dev test user' || i || '@example.net')
		|| array_to_tsvector(ARRAY['a=' || a.id, 'f=bench@' || d.name, 'd=' || d.name, 'r=user' || i || '@example.net'])
FROM generate_series(%d, %d) i
CROSS JOIN (SELECT id FROM accounts ORDER BY id LIMIT 1) a
CROSS JOIN (SELECT id, name FROM domains WHERE account_id IS NOT NULL ORDER BY id LIMIT 1) d
CROSS JOIN LATERAL (SELECT now() + interval '1 day' + i * interval '20 seconds' AS at) v
RETURNING id, account_id, "to"
)
INSERT INTO recipients (email_id, account_id, kind, address, destination, state)
SELECT id, account_id, 'to', "to" ->> 0, 'example.net', 'queued' FROM stored`
