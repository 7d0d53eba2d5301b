// Package transfertest creates accounts for tests of moves.
package transfertest

import (
	"fmt"
	"testing"

	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

// Fill creates an account with a person, a domain, a delivered and a scheduled email.
func Fill(t testing.TB, d *db.DB, account string) {
	t.Helper()
	for _, statement := range []string{
		`INSERT INTO accounts (id, name, email, production_unlocked, unmetered, created_at, updated_at, plan_id, body_retention_days, record_retention_days, system, require_second_factor)
			VALUES ($1::text, 'Ada', $1::text || '@example.org', false, false, now(), now(), 'free', 30, 90, false, false)`,
		`INSERT INTO users (id, email, name, created_at, updated_at, operator, language) VALUES ('usr_' || $1::text, $1::text || '@example.org', 'Ada', now(), now(), true, '')`,
		`INSERT INTO passwords (id, hash, changed_at) VALUES ('usr_' || $1::text, 'hash', now())`,
		`INSERT INTO memberships (role, created_at, account_id, user_id) VALUES ('owner', now(), $1::text, 'usr_' || $1::text)`,
		`INSERT INTO domains (id, account_id, name, status, seeded, ownership_token, open_tracking, click_tracking, tls_mode, inbound_enabled, fence, check_attempts, created_at, updated_at, ed25519)
			VALUES ('dom_' || $1::text, $1::text, $1::text || '.example', 'verified', false, 'token', false, false, 'opportunistic', false, 0, 0, now(), now(), false)`,
		emailSQL("sent", "delivered", "NULL"),
		emailSQL("later", "scheduled", "now() + interval '1 day'"),
		`INSERT INTO attempts (recipient_id, email_id, account_id, number, fence, started_at, node)
			SELECT id, email_id, account_id, 1, 1, now(), 7 FROM recipients WHERE account_id = $1::text AND due_at IS NULL`,
		`INSERT INTO facts (id, account_id, type, subject_id, data, created_at) SELECT 'evt_' || id, account_id, 'email.sent', id, '{"text": "line\nbreak"}', now() FROM emails WHERE account_id = $1`,
	} {
		dbtest.Exec(t, d, statement, account)
	}
}

func emailSQL(name, status, due string) string {
	return fmt.Sprintf(`
WITH stored AS (
	INSERT INTO emails (id, account_id, domain_id, "from", from_address, "to", cc, bcc, reply_to, headers, tags, subject, text, message_id, attachment_count, unsubscribe, status, last_event, created_at, release_at)
	VALUES ('%[1]s_' || $1::text, $1::text, 'dom_' || $1::text, 'ada@dev.test', 'ada@dev.test', '["bob@example.net"]', '[]', '[]', '[]', '[]', '[]', E'Hello\n"you" \\ ü', 'Hi', $1::text || '@dev.test', 0, false, '%[2]s', 'email.sent', now(), %[3]s)
	RETURNING id, account_id
)
INSERT INTO recipients (email_id, account_id, kind, destination, address, state, fence, attempts, created_at, queued_at, via, due_at)
SELECT id, account_id, 'to', 'example.net', 'bob@example.net', 'delivered', 0, 1, now(), now(), '', %[3]s FROM stored`, name, status, due)
}

// FillWork adds unfinished work of each kind to an account of Fill.
func FillWork(t testing.TB, d *db.DB, account string) {
	t.Helper()
	for _, statement := range []string{
		emailSQL("queued", "sent", "now() + interval '1 hour'"),
		`UPDATE recipients SET state = 'queued', lane = 'lane' WHERE email_id = 'queued_' || $1::text`,
		`UPDATE recipients SET state = 'queued', held_by = 'operator' WHERE email_id = 'later_' || $1::text`,
		`INSERT INTO automations (id, account_id, name, description, event, status, draft, draft_hash, version, version_hash, last_version, held, created_at, updated_at)
			VALUES ('aut_' || $1::text, $1::text, 'Welcome', '', 'user.created', 'active', '{}', 'hash', 1, 'hash', 1, false, now(), now())`,
		`INSERT INTO automation_runs (id, account_id, automation_id, version, event_id, event, status, step_index, error, depth, started_at)
			VALUES ('run_' || $1::text, $1::text, 'aut_' || $1::text, 1, 'evt_1', '{}', 'waiting', 1, '', 0, now())`,
		`INSERT INTO automation_works (id, account_id, automation_id, version, step_index, state, ready_at, due_at, lane, parked, fence, claims)
			VALUES ('run_' || $1::text, $1::text, 'aut_' || $1::text, 1, 1, 'waiting', now(), now() + interval '3 days', 1, false, 4, 0)`,
		`INSERT INTO webhooks (id, account_id, url, description, secret, events, enabled, disabled_reason, created_at, updated_at)
			VALUES ('wh_' || $1::text, $1::text, 'https://example.org', '', '\x00', '[]', true, '', now(), now())`,
		`INSERT INTO webhook_deliveries (id, account_id, webhook_id, event_id, event_type, event_created_at, state, due_at, attempts, replays, error, created_at)
			VALUES ('whd_' || $1::text, $1::text, 'wh_' || $1::text, 'evt_1', 'email.sent', now(), 'pending', now(), 1, 0, '', now())`,
		`INSERT INTO webhook_works (id, webhook_id, due_at, fence, attempts, round) VALUES ('whd_' || $1::text, 'wh_' || $1::text, now() + interval '30 s', 1, 1, 1)`,
		`INSERT INTO sms_messages (id, account_id, "to", number_hash, region, "from", text, encoding, segments, own_provider, provider, provider_id, status, error_code, error, attempts, due_at, fence, expires_at, version, step_index, created_at)
			VALUES ('sms_' || $1::text, $1::text, '+15550100', '\x00', 'US', '', 'Hi', 'gsm7', 1, false, '', '', 'queued', '', '', 0, now(), 0, now() + interval '1 h', 0, 0, now())`,
	} {
		dbtest.Exec(t, d, statement, account)
	}
	dbtest.Exec(t, d, `INSERT INTO statistics_marks (id, fact_id) VALUES (1, 'evt_z') ON CONFLICT (id) DO UPDATE SET fact_id = excluded.fact_id`)
}
