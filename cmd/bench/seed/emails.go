// Package seed fills the database of the measured server with rows, as the server would store them.
package seed

import (
	"context"
	"database/sql"
	"fmt"
)

// InsertEmails inserts delivered emails number from+1 to number to, oldest first.
func InsertEmails(ctx context.Context, db *sql.DB, from, to int) error {
	const chunk = 50_000
	for at := from; at < to; at += chunk {
		if _, err := db.ExecContext(ctx, fmt.Sprintf(emailsSQL, at+1, min(at+chunk, to))); err != nil {
			return err
		}
	}
	_, err := db.ExecContext(ctx, `VACUUM ANALYZE emails`) // autovacuum would do it later
	return err
}

// emailsSQL derives ids from numbers. They sort before the ids of new emails.
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
CROSS JOIN LATERAL (SELECT now() AS created, now() AS sent, now() AS delivered,
	CASE WHEN i <= 10 THEN 'few@example.net' ELSE 'user' || i || '@example.net' END AS recipient,
	CASE WHEN i %% 1000 = 500 THEN '[{"name": "rare", "value": "yes"}]'::jsonb ELSE '[]' END AS tags,
	CASE WHEN i %% 1000 = 500 THEN 'g=rare:yes' ELSE 'g=kind:receipt' END AS mark,
	CASE WHEN i %% 1000 = 700 THEN 'bounced' ELSE 'delivered' END AS status) v`
