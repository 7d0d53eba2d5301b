WITH stored AS (
	INSERT INTO emails (id, account_id, domain_id, "from", from_address, "to", cc, bcc, reply_to, headers, tags, subject, text, message_id, attachment_count, unsubscribe, status, last_event, created_at, release_at)
	VALUES ('queued_' || $1::text, $1::text, 'dom_' || $1::text, 'ada@dev.test', 'ada@dev.test', '["bob@example.net"]', '[]', '[]', '[]', '[]', '[]', E'Hello\n"you" \\ ü', 'Hi', $1::text || '@dev.test', 0, false, 'sent', 'email.sent', now(), now() + interval '1 hour')
	RETURNING id, account_id
)
INSERT INTO recipients (email_id, account_id, kind, destination, address, state, fence, attempts, created_at, queued_at, via, due_at)
SELECT id, account_id, 'to', 'example.net', 'bob@example.net', 'delivered', 0, 1, now(), now(), '', now() + interval '1 hour' FROM stored;

UPDATE recipients SET state = 'queued', lane = 'lane' WHERE email_id = 'queued_' || $1::text;

UPDATE recipients SET state = 'queued', held_by = 'operator' WHERE email_id = 'later_' || $1::text;

INSERT INTO automations (id, account_id, name, description, event, status, draft, draft_hash, version, version_hash, last_version, held, created_at, updated_at)
	VALUES ('aut_' || $1::text, $1::text, 'Welcome', '', 'user.created', 'active', '{}', 'hash', 1, 'hash', 1, false, now(), now());

INSERT INTO automation_runs (id, account_id, automation_id, version, event_id, event, status, step_index, error, depth, started_at)
	VALUES ('run_' || $1::text, $1::text, 'aut_' || $1::text, 1, 'evt_1', '{}', 'waiting', 1, '', 0, now());

INSERT INTO automation_works (id, account_id, automation_id, version, step_index, state, ready_at, due_at, lane, parked, fence, claims)
	VALUES ('run_' || $1::text, $1::text, 'aut_' || $1::text, 1, 1, 'waiting', now(), now() + interval '3 days', 1, false, 4, 0);

INSERT INTO webhooks (id, account_id, url, description, secret, events, enabled, disabled_reason, created_at, updated_at)
	VALUES ('wh_' || $1::text, $1::text, 'https://example.org', '', '\x', '[]', true, '', now(), now());

INSERT INTO webhook_deliveries (id, account_id, webhook_id, event_id, event_type, event_created_at, state, due_at, attempts, replays, error, created_at)
	VALUES ('whd_' || $1::text, $1::text, 'wh_' || $1::text, 'evt_1', 'email.sent', now(), 'pending', now(), 1, 0, '', now());

INSERT INTO webhook_works (id, webhook_id, due_at, fence, attempts, round) VALUES ('whd_' || $1::text, 'wh_' || $1::text, now() + interval '30 s', 1, 1, 1);

INSERT INTO sms_messages (id, account_id, "to", number_hash, region, "from", text, encoding, segments, own_provider, provider, provider_id, status, error_code, error, attempts, due_at, fence, expires_at, version, step_index, created_at)
	VALUES ('sms_' || $1::text, $1::text, '+15550100', '\x00', 'US', '', 'Hi', 'gsm7', 1, false, '', '', 'queued', '', '', 0, now(), 0, now() + interval '1 h', 0, 0, now());

-- The statistics of the account are complete.
INSERT INTO statistics_marks (id, fact_id) SELECT 1, 'evt_z' WHERE $1::text <> '' ON CONFLICT (id) DO UPDATE SET fact_id = excluded.fact_id;
