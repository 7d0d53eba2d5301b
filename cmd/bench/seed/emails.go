// Package seed fills the database of the measured server with rows, as the server would store them.
package seed

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/postrider/postrider/runtime/base/id"
)

// InsertEmails inserts delivered emails number from+1 to number to, oldest first.
func InsertEmails(ctx context.Context, db *sql.DB, from, to int) error {
	const chunk = 50_000
	for at := from; at < to; at += chunk {
		if _, err := db.ExecContext(ctx, fmt.Sprintf(emailsSQL, at+1, min(at+chunk, to), "00000000", 18)); err != nil {
			return err
		}
	}
	_, err := db.ExecContext(ctx, `VACUUM ANALYZE emails`) // autovacuum would do it later
	return err
}

// InsertHistory inserts emails number 1 to number n as InsertEmails does, with the rows that accepting and delivering
// them writes: for each, a recipient, an attempt, two events and a webhook delivery. They are from the last five days.
func InsertHistory(ctx context.Context, db *sql.DB, n int, progress func(done int)) error {
	const chunk, span = 100_000, 5 * 24 * time.Hour
	begin := time.Now().Add(-span)
	for at := 0; at < n; at += chunk {
		last := min(at+chunk, n)
		_, first, _ := strings.Cut(id.Since(id.Email, begin.Add(span*time.Duration(at/chunk)/time.Duration(n/chunk+1))), "_")
		for _, statement := range append([]string{emailsSQL}, historySQL...) {
			if _, err := db.ExecContext(ctx, fmt.Sprintf(statement, at+1, last, first[:10]+"e", 15)); err != nil {
				return err
			}
		}
		progress(last)
	}
	for _, table := range []string{"emails", "recipients", "attempts", "facts", "webhook_deliveries"} {
		if _, err := db.ExecContext(ctx, `VACUUM ANALYZE `+table); err != nil { // autovacuum would do it later
			return err
		}
	}
	return nil
}

// emailsSQL derives ids from numbers, after the same first characters. They sort before the ids of new emails.
const emailsSQL = `
INSERT INTO emails (id, account_id, domain_id, "from", from_address, "to", cc, bcc, reply_to, headers, tags, subject, text, message_id,
	status, last_event, created_at, sent_at, delivered_at, uncommon, search)
SELECT 'msg_%[3]s' || lpad(i::text, %[4]d, '0'), a.id, d.id, 'Bench <bench@' || d.name || '>', 'bench@' || d.name, jsonb_build_array(v.recipient),
	'[]', '[]', '[]', '[]', v.tags, 'Your receipt ' || i, repeat('One line of what was bought. ', 10), i || '@' || d.name,
	v.status, 'email.' || v.status, v.created, v.sent, v.delivered, NULLIF(v.status, 'delivered'),
	to_tsvector('simple', 'Your receipt ' || i || ' bench dev test ' || translate(v.recipient, '@.', '  '))
		|| array_to_tsvector(ARRAY['a=' || a.id, 'f=bench@' || d.name, 'd=' || d.name, 'r=' || v.recipient, v.mark])
FROM generate_series(%[1]d, %[2]d) i
CROSS JOIN (SELECT id FROM accounts ORDER BY id LIMIT 1) a
CROSS JOIN (SELECT id, name FROM domains WHERE account_id IS NOT NULL ORDER BY id LIMIT 1) d
CROSS JOIN LATERAL (SELECT now() AS created, now() AS sent, now() AS delivered,
	CASE WHEN i <= 10 THEN 'few@example.net' ELSE 'user' || i || '@example.net' END AS recipient,
	CASE WHEN i %% 1000 = 500 THEN '[{"name": "rare", "value": "yes"}]'::jsonb ELSE '[]' END AS tags,
	CASE WHEN i %% 1000 = 500 THEN 'g=rare:yes' ELSE 'g=kind:receipt' END AS mark,
	CASE WHEN i %% 1000 = 700 THEN 'bounced' ELSE 'delivered' END AS status) v`

const someEmails = `
FROM emails e WHERE e.id BETWEEN 'msg_%[3]s' || lpad('%[1]d', %[4]d, '0') AND 'msg_%[3]s' || lpad('%[2]d', %[4]d, '0')`

// historySQL uses negative ids where the server uses a sequence.
var historySQL = []string{`
INSERT INTO recipients (id, account_id, kind, address, destination, state, fence, attempts, code, enhanced_code,
	diagnostic, remote_mta, created_at, settled_at, email_id, queued_at)
SELECT -right(e.id, %[4]d)::bigint, e.account_id, 'to', e."to"->>0, 'example.net', 'delivered', 2, 1, 250, '2.0.0',
	'250 2.0.0 OK: queued', '127.0.0.1', e.created_at, e.delivered_at, e.id, e.created_at` + someEmails, `
INSERT INTO attempts (id, recipient_id, email_id, account_id, number, fence, started_at, finished_at, outcome, phase,
	code, enhanced_code, reply, remote_host, remote_addr, tls_policy, local_addr, node)
SELECT -right(e.id, %[4]d)::bigint, -right(e.id, %[4]d)::bigint, e.id, e.account_id, 1, 1, e.created_at,
	e.delivered_at, 'delivered', 'dot', 250, '2.0.0', '250 2.0.0 OK: queued', '127.0.0.1', '127.0.0.1:2525',
	'opportunistic', '127.0.0.1:40000', 1` + someEmails, `
INSERT INTO facts (id, account_id, type, subject_id, data, created_at)
SELECT 'evt_%[3]s' || right(e.id, %[4]d - 1) || n, e.account_id, t, e.id, jsonb_build_object('email_id', e.id,
	'from', e."from", 'to', e."to", 'cc', e.cc, 'subject', e.subject, 'status', right(t, -6), 'email_status', right(t, -6),
	'tags', e.tags, 'created_at', e.created_at) || CASE n WHEN 1 THEN '{}'::jsonb
		ELSE jsonb_build_object('recipient', e."to"->>0) END, e.created_at
FROM (VALUES (1, 'email.sent'), (2, 'email.delivered')) event (n, t) CROSS JOIN LATERAL (SELECT *` + someEmails + `) e`, `
INSERT INTO webhook_deliveries (id, account_id, webhook_id, event_id, event_type, event_created_at, state, attempts,
	status_code, created_at, settled_at)
SELECT 'whd_%[3]s' || right(e.id, %[4]d), e.account_id, 'whk_00000000000000000000000000',
	'evt_%[3]s' || right(e.id, %[4]d - 1) || 2, 'email.delivered', e.created_at, 'delivered', 1, 200, e.created_at,
	e.created_at` + someEmails}
