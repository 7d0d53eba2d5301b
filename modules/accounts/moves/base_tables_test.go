package moves

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

var changes = slices.Concat(sentChanges, receivedChanges, reportChanges, otherChanges)

const insertReceived = `INSERT INTO received_emails (id, account_id, domain_id, content_id, rcpt_to, mail_from, "from", from_address, "to", cc, reply_to, subject, message_id, "references", authentication, size, attachments, defects, remote_ip, helo, tls, received_at)
	SELECT 'rml_' || c.id || '_' || n, c.account_id, 'dom_acc_1', c.id, 'ada@dev.test', '', '', '', '[]', '[]', '[]', 'Hello', '', '[]', '{}', 5, '[]', '[]', '', '', '', now() FROM received_contents c, generate_series(1, 2) n`

// received is received mail of acc_1: contents in the database, then in the object store. Each was received for two
// addresses.
var received = []string{
	`INSERT INTO received_contents (id, account_id, size, data, object_key) SELECT n, 'acc_1', 5, CASE WHEN n < 105 THEN n::text::bytea END, CASE WHEN n >= 105 THEN 'raw_' || n END FROM generate_series(101, 109) n`,
	insertReceived,
	// Two are being uploaded.
	`UPDATE received_contents SET due_at = now() + interval '5 minutes', data = 'raw' WHERE id IN (108, 109)`,
}

var receivedChanges = []string{
	`DELETE FROM received_emails WHERE id IN ('rml_101_1', 'rml_102_1', 'rml_102_2', 'rml_105_1', 'rml_105_2', 'rml_107_2')`,
	`DELETE FROM received_contents WHERE data = '102'`,
	`UPDATE received_contents SET data = NULL, fence = fence + 1 WHERE data = '103'`,
	// Objects are deleted later.
	`UPDATE received_contents SET due_at = now() + interval '1 minute', fence = fence + 1 WHERE object_key IN ('raw_105', 'raw_106')`,
	`UPDATE received_contents SET due_at = NULL, data = NULL WHERE object_key = 'raw_108'`,
	`INSERT INTO received_contents (id, account_id, size, data) VALUES (110, 'acc_1', 5, 'new')`,
	insertReceived + ` WHERE c.id = 110`,
}

const insertDomains = `INSERT INTO domains (id, account_id, name, status, seeded, ownership_token, tls_mode, created_at, updated_at)
	SELECT id, 'acc_1', name || '.example', 'verified', false, 'token', 'opportunistic', now(), now() FROM `

// reports are domains of acc_1, and reports about them.
var reports = []string{
	insertDomains + `(VALUES ('dom_gone', 'gone'), ('dom_first', 'again')) AS d (id, name)`,
	`INSERT INTO dmarc_counts (domain_id, day, receiver, source, disposition, dkim, spf, signed, permitted, messages)
		SELECT id, '2026-11-0' || n, 'example.com', '192.0.2.' || m, 'none', true, true, true, true, n FROM domains, generate_series(1, 9) n, generate_series(1, 3) m WHERE account_id = 'acc_1'`,
	`INSERT INTO dmarc_reports (domain_id, digest, organization, receiver, report_id, policy, begins_at, ends_at, messages)
		SELECT id, n::text::bytea, 'Example', 'example.com', n, 'none', now(), now(), n FROM domains, generate_series(1, 9) n WHERE account_id = 'acc_1'`,
	`INSERT INTO tls_counts (domain_id, day, receiver, policy, result, sessions)
		SELECT id, '2026-11-0' || n, 'example.com', 'sts', 'successful', n FROM domains, generate_series(1, 9) n WHERE account_id = 'acc_1'`,
	`INSERT INTO tls_reports (domain_id, digest, organization, receiver, report_id, begins_at, ends_at)
		SELECT id, n::text::bytea, 'Example', 'example.com', n, now(), now() FROM domains, generate_series(1, 9) n WHERE account_id = 'acc_1'`,
}

var reportChanges = []string{
	`DELETE FROM domains WHERE id IN ('dom_gone', 'dom_first')`,
	insertDomains + `(VALUES ('dom_second', 'again'), ('dom_new', 'new')) AS d (id, name)`,
	`INSERT INTO dmarc_counts (domain_id, day, receiver, source, disposition, dkim, spf, signed, permitted, messages)
		SELECT id, '2026-11-01', 'example.org', '192.0.2.1', 'none', true, true, true, true, 1 FROM domains WHERE account_id = 'acc_1'`,
	`UPDATE dmarc_counts SET messages = 99 WHERE day = '2026-11-02' AND source = '192.0.2.2'`,
	`DELETE FROM dmarc_counts WHERE day = '2026-11-03' AND source = '192.0.2.3'`,
	`DELETE FROM dmarc_counts WHERE day = '2026-11-04'`, `DELETE FROM dmarc_reports WHERE report_id = '4'`,
	`DELETE FROM tls_counts WHERE day = '2026-11-05'`, `DELETE FROM tls_reports WHERE report_id = '5'`,
	`UPDATE tls_counts SET sessions = 99 WHERE day = '2026-11-06'`,
	`INSERT INTO dmarc_reports (domain_id, digest, organization, receiver, report_id, policy, begins_at, ends_at, messages)
		VALUES ('dom_new', 'new', 'Example', 'example.com', 'new', 'none', now(), now(), 1)`,
}

const insertRequests = `INSERT INTO api_requests (request_id, account_id, method, path, operation, status, duration_ms, api_key_id, user_id, ip, request_body, request_octets, response_body, response_octets, email_id, created_at)
	SELECT 'req_' || n, id, 'GET', '/', '', 200, 1, '', '', '', '', 0, '', 0, '', now() FROM accounts, generate_series(1, 9) n`

// others are rows of other tables that can be large. The numbers of those of acc_1 differ from those at the target.
var others = []string{
	insertRequests + ` ORDER BY id DESC`,
	`INSERT INTO automation_entries (account_id, automation_id, person, runs, last_at) SELECT 'acc_1', 'aut_acc_1', n::text::bytea, 1, now() FROM generate_series(1, 9) n`,
	`INSERT INTO sms_opt_outs (account_id, number_hash, number, reason, created_at) SELECT 'acc_1', n::text::bytea, '+1555010' || n, 'stop', now() - n * interval '1 s' FROM generate_series(1, 9) n`,
	`INSERT INTO template_images (id, account_id, name, content_type, size, width, height, digest, content) SELECT 'img_' || n, 'acc_1', 'a', 'image/png', 1, 1, 1, n::text::bytea, 'x' FROM generate_series(1, 9) n`,
}

var otherChanges = []string{
	`DELETE FROM api_requests WHERE request_id = 'req_3'`,
	`DELETE FROM automation_entries WHERE person = '3'`, `UPDATE automation_entries SET runs = 2 WHERE person = '4'`,
	`DELETE FROM sms_opt_outs WHERE number = '+15550103'`, `UPDATE sms_opt_outs SET number = NULL WHERE number = '+15550104'`,
	`DELETE FROM template_images WHERE id = 'img_3'`, `UPDATE template_images SET name = 'b' WHERE id = 'img_4'`,
}

// addDomainRows adds the rows of tables that belong to domains, and which content each received email has.
func addDomainRows(t *testing.T, d *db.DB, all map[string]string) {
	t.Helper()
	for name, rows := range map[string]string{
		"dmarc_counts":  `SELECT to_jsonb(t) - 'id' FROM dmarc_counts t WHERE domain_id IN (SELECT id FROM domains WHERE account_id = 'acc_1')`,
		"dmarc_reports": `SELECT to_jsonb(t) - 'id' FROM dmarc_reports t WHERE domain_id IN (SELECT id FROM domains WHERE account_id = 'acc_1')`,
		"tls_counts":    `SELECT to_jsonb(t) - 'id' FROM tls_counts t WHERE domain_id IN (SELECT id FROM domains WHERE account_id = 'acc_1')`,
		"tls_reports":   `SELECT to_jsonb(t) - 'id' FROM tls_reports t WHERE domain_id IN (SELECT id FROM domains WHERE account_id = 'acc_1')`,
		"received_contents": `SELECT to_jsonb(c) - 'id' - 'due_at' || jsonb_build_object('email', e.id, 'due', c.due_at IS NOT NULL)
			FROM received_contents c JOIN received_emails e ON e.content_id = c.id WHERE c.account_id = 'acc_1' AND e.account_id = 'acc_1'`,
	} {
		var err error
		all[name], err = db.One(t.Context(), d.SQL, db.Value[string], `SELECT coalesce(string_agg(v::text, E'\n' ORDER BY v::text), '') FROM (`+rows+`) AS r (v)`)
		if err != nil {
			t.Fatal(err)
		}
	}
}

// wantSleepingDomains checks that the domains of a base reserve no name, and are not looked up.
func wantSleepingDomains(t *testing.T, d *db.DB) {
	t.Helper()
	if n := dbtest.Count(t, d, `SELECT count(*) FROM domains WHERE account_id = 'acc_1' AND status = 'pending' AND due_at IS NULL`); n != 3 {
		t.Errorf("the base has %d pending domains that are not due, want 3", n)
	}
}

// wantReceivedObjects checks the objects of received mail after receivedChanges.
func wantReceivedObjects(t *testing.T, to *directTarget) {
	t.Helper()
	removed, err := db.All(t.Context(), to.db.SQL, db.Value[string], `SELECT DISTINCT object_key FROM received_contents WHERE data IS NULL AND due_at IS NOT NULL ORDER BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"raw_105", "raw_106"}, removed); diff != "" {
		t.Errorf("other objects will be removed (-want +got):\n%s", diff)
	}
	for key, want := range map[string]bool{"raw_107": true, "raw_108": true, "raw_109": false} {
		if _, found := to.objects.(*memory).Load(key); found != want {
			t.Errorf("the object %s is at the target: %v, want %v", key, found, want)
		}
	}
}
