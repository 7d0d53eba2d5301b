INSERT INTO accounts (id, name, email, production_unlocked, unmetered, created_at, updated_at, plan_id, body_retention_days, record_retention_days, system, require_second_factor)
	VALUES ($1::text, 'Ada', $1::text || '@example.org', false, false, now(), now(), 'free', 30, 90, false, false);

INSERT INTO users (id, email, name, created_at, updated_at, operator, language) VALUES ('usr_' || $1::text, $1::text || '@example.org', 'Ada', now(), now(), true, '');

INSERT INTO passwords (id, hash, changed_at) VALUES ('usr_' || $1::text, 'hash', now());

INSERT INTO memberships (role, created_at, account_id, user_id) VALUES ('owner', now(), $1::text, 'usr_' || $1::text);

INSERT INTO domains (id, account_id, name, status, seeded, ownership_token, open_tracking, click_tracking, tls_mode, inbound_enabled, fence, check_attempts, created_at, updated_at, ed25519)
	VALUES ('dom_' || $1::text, $1::text, $1::text || '.example', 'verified', false, 'token', false, false, 'opportunistic', false, 0, 0, now(), now(), false);

WITH stored AS (
	INSERT INTO emails (id, account_id, domain_id, "from", from_address, "to", cc, bcc, reply_to, headers, tags, subject, text, message_id, attachment_count, unsubscribe, status, last_event, created_at, release_at)
	VALUES ('sent_' || $1::text, $1::text, 'dom_' || $1::text, 'ada@dev.test', 'ada@dev.test', '["bob@example.net"]', '[]', '[]', '[]', '[]', '[]', E'Hello\n"you" \\ ü', 'Hi', $1::text || '@dev.test', 0, false, 'delivered', 'email.sent', now(), NULL)
	RETURNING id, account_id
)
INSERT INTO recipients (email_id, account_id, kind, destination, address, state, fence, attempts, created_at, queued_at, via, due_at)
SELECT id, account_id, 'to', 'example.net', 'bob@example.net', 'delivered', 0, 1, now(), now(), '', NULL FROM stored;

WITH stored AS (
	INSERT INTO emails (id, account_id, domain_id, "from", from_address, "to", cc, bcc, reply_to, headers, tags, subject, text, message_id, attachment_count, unsubscribe, status, last_event, created_at, release_at)
	VALUES ('later_' || $1::text, $1::text, 'dom_' || $1::text, 'ada@dev.test', 'ada@dev.test', '["bob@example.net"]', '[]', '[]', '[]', '[]', '[]', E'Hello\n"you" \\ ü', 'Hi', $1::text || '@dev.test', 0, false, 'scheduled', 'email.sent', now(), now() + interval '1 day')
	RETURNING id, account_id
)
INSERT INTO recipients (email_id, account_id, kind, destination, address, state, fence, attempts, created_at, queued_at, via, due_at)
SELECT id, account_id, 'to', 'example.net', 'bob@example.net', 'delivered', 0, 1, now(), now(), '', now() + interval '1 day' FROM stored;

INSERT INTO attempts (recipient_id, email_id, account_id, number, fence, started_at, node)
	SELECT id, email_id, account_id, 1, 1, now(), 7 FROM recipients WHERE account_id = $1::text AND due_at IS NULL;

INSERT INTO facts (id, account_id, type, subject_id, data, created_at) SELECT 'evt_' || id, account_id, 'email.sent', id, '{"text": "line\nbreak"}', now() FROM emails WHERE account_id = $1;
