package stored

// FactsSQL makes facts, the accounts that have endpoints taking their turns.
const FactsSQL = `
WITH stored AS (
	INSERT INTO facts (id, account_id, type, subject_id, data, created_at)
	SELECT f.id, a.account_id, 'email.delivered', 'msg_01kf0m4w7he6x8q2v5b3n9c1ta', $2::jsonb, now()
	FROM unnest($1::text[]) WITH ORDINALITY AS f (id, n)
	JOIN (SELECT account_id, row_number() OVER () - 1 AS n, count(*) OVER () AS accounts FROM (SELECT DISTINCT account_id FROM webhooks) o) a ON f.n % a.accounts = a.n
	RETURNING id, account_id, created_at
)`

// OnTheBusSQL makes facts that endpoints are not told yet.
const OnTheBusSQL = FactsSQL + `
INSERT INTO bus_messages (consumer, fact_id) SELECT 'webhooks', id FROM stored`

// QueueSQL stores emails as accepting writes them, with many recipients each.
const QueueSQL = `
WITH stored AS (
INSERT INTO emails (id, account_id, domain_id, "from", from_address, "to", cc, bcc, reply_to, headers, tags, subject, text, message_id,
	status, last_event, created_at, sent_at, search)
SELECT 'msg_00000000' || lpad(i::text, 18, '0'), a.id, d.id, 'Bench <bench@' || d.name || '>', 'bench@' || d.name, '["many@example.net"]',
	'[]', '[]', '[]', '[]', '[]', 'Your receipt ' || i, repeat('One line of what was bought. ', 10), 'msg_00000000' || lpad(i::text, 18, '0') || '@' || d.name,
	'sent', 'email.sent', now(), clock_timestamp(), to_tsvector('simple', 'Your receipt ' || i)
FROM generate_series(1, %[1]d) i
CROSS JOIN (SELECT id FROM accounts ORDER BY id LIMIT 1) a
CROSS JOIN (SELECT id, name FROM domains WHERE account_id IS NOT NULL ORDER BY id LIMIT 1) d
RETURNING id, account_id
)
INSERT INTO recipients (email_id, account_id, kind, destination, address, state, due_at)
SELECT s.id, s.account_id, 'to', v.destination, 'user' || j || '@' || v.destination, 'queued', now()
FROM (SELECT id, account_id, row_number() OVER () AS n FROM stored) s
CROSS JOIN generate_series(1, %[2]d) j
CROSS JOIN LATERAL (SELECT 'd' || (s.n * %[2]d + j) %% %[3]d || '.test' AS destination) v`
