package transfer

// table is a table with rows of accounts.
type table struct {
	name string
	// where selects the rows of the account $1. The default is the column account_id. What follows ofAccount leaves out
	// unfinished work, which a move includes.
	where string
	// parent names a column with the id of a row of another table, which must not belong to another account.
	parent reference
	// owner is another parent: the row with the same id.
	owner string
	// set replaces columns on import. $1 is the account, and r the row.
	set map[string]string
	// renumber lists columns whose numbers change: id, and columns that contain such an id of another
	// table. Other columns named id that the database numbers get a new number without a record of it.
	renumber map[string]string
	// user is the column with the id of the user that a row belongs to. Rows of users that exist at the target are
	// not imported.
	user string
	// credential reports whether the rows allow a person to sign in.
	credential bool
	// sealed lists the columns with secrets.
	sealed []sealed
	// hashed is a column with a hash that the import computes again.
	hashed hashed
	// omit is a column that the file does not contain.
	omit string
	// objects names a column with the key of an object, which is in the object store if the condition stored holds or is
	// empty.
	objects, stored string
	// unfinished reports whether only a move includes the table.
	unfinished bool
	// group and unit belong to tables that can be large, which a move copies while the account works. unit is an
	// expression with the id of a unit, which is what the difference replaces if any of its rows has changed. Tables of
	// a group have the same units. The id is the same at the source and the target, except if it is a number.
	group, unit string
	number      bool
	// kept reports whether rows of groups refer to the table with foreign keys. A base therefore contains it, with baseSet
	// instead of set, and the difference updates its rows.
	kept    bool
	baseSet map[string]string
}

type reference struct{ column, table string }

var (
	ofDomain = reference{"domain_id", "domains"}
	ofEmail  = reference{"email_id", "emails"}

	hashedAddress = hashed{"address_hash", "email", "suppression addresses"}
)

const hashedNumbers = "sms numbers"

// groupReceived is the group of received mail. A unit is a content with the emails that have it.
const groupReceived = "received"

const (
	ofDomains = `domain_id IN (SELECT id FROM domains WHERE account_id = $1)`
	ofUsers   = `IN (SELECT user_id FROM memberships WHERE account_id = $1)`
	// Emails with an unfinished recipient.
	openEmails = `SELECT email_id FROM transfer_open_emails`
	openRuns   = `SELECT id FROM automation_runs WHERE account_id = $1 AND ended_at IS NULL`
	openPosts  = `SELECT id FROM webhook_deliveries WHERE account_id = $1 AND settled_at IS NULL`
	openTexts  = `SELECT id FROM sms_messages WHERE account_id = $1 AND settled_at IS NULL`

	ofAccount    = `account_id = $1 AND `
	ofDoneEmails = ofAccount + `email_id NOT IN (` + openEmails + `)`
	startUnit    = `extract(epoch FROM start)::text`
	dayUnit      = `domain_id || ' ' || day`
	reportUnit   = `domain_id || ' ' || encode(digest, 'hex')`
	// A user who exists at the target keeps the id there.
	mapUser = `coalesce((SELECT u.new FROM transfer_users u WHERE u.old = r.`
)

func userIn(column string) map[string]string {
	return map[string]string{column: mapUser + column + `), r.` + column + `)`}
}

// tables lists the tables in the order of their references.
var tables = []table{
	{name: "accounts", where: `id = $1`, omit: "move_code",
		sealed: []sealed{{column: "origins", of: "id", purpose: "accounts/$1/origins"}},
		set: map[string]string{"system": "false", "plan_id": "$3::text", "payment_due_at": "NULL",
			"payment_method_at": "NULL", "frozen_at": "CASE WHEN $4::text <> '' THEN now() END",
			"move_id": "NULLIF($4::text, '')", "moved_to": "NULL", "move_code": "NULL", "move_digest": "NULL"}},
	{name: "account_brands", where: `id = $1`, set: map[string]string{"id": "$1::text"}},
	{name: "users", where: `id ` + ofUsers, user: "id", set: map[string]string{"operator": "false"}},
	{name: "passwords", where: `id ` + ofUsers, user: "id", credential: true},
	{name: "second_factors", where: `id ` + ofUsers, user: "id", credential: true,
		sealed: []sealed{{column: "secret", of: "id", purpose: "second factor of $2"}}},
	{name: "passkeys", where: `user_id ` + ofUsers, user: "user_id", credential: true},
	{name: "identities", where: `user_id ` + ofUsers, user: "user_id", credential: true},
	{name: "memberships", set: userIn("user_id")},
	{name: "former_members", set: userIn("user_id")},
	{name: "api_keys", set: userIn("created_by")},
	{name: "smtp_credentials", set: userIn("created_by")},
	{name: "audit_entries", group: "audit_entries", unit: "id", set: userIn("actor_id")},
	{name: "api_requests", group: "api_requests", unit: "request_id", set: userIn("user_id")},
	{name: "storage_counters"},
	{name: "usages"},
	{name: "usage_hours"},

	// The target checks the DNS records at once, because its own differ. It also checks those of a development
	// domain, which are otherwise never looked up. A base reserves no name, and nothing uses its domains.
	{name: "domains", set: map[string]string{"due_at": "now()", "seeded": "false"},
		kept: true, baseSet: map[string]string{"due_at": "NULL", "status": "'pending'", "seeded": "false"}},
	{name: "domain_checks", parent: ofDomain},
	{name: "dkim_keys", where: ofDomains, parent: ofDomain,
		sealed: []sealed{{column: "private_key", of: "domain_id", purpose: "domains/$2/dkim"}}},
	{name: "dmarc_counts", group: "dmarc_counts", unit: dayUnit, where: ofDomains, parent: ofDomain},
	{name: "dmarc_refusals", where: ofDomains, parent: ofDomain},
	{name: "dmarc_reports", group: "dmarc_reports", unit: reportUnit, where: ofDomains, parent: ofDomain},
	{name: "tls_counts", group: "tls_counts", unit: dayUnit, where: ofDomains, parent: ofDomain},
	{name: "tls_reports", group: "tls_reports", unit: reportUnit, where: ofDomains, parent: ofDomain},
	{name: "degraded_providers", where: ofDomains, parent: ofDomain},
	{name: "tracking_hosts", parent: ofDomain, set: map[string]string{"due_at": "now()"}},
	{name: "address_rule_sets", parent: ofDomain},
	{name: "smarthosts", sealed: []sealed{{column: "password", of: "id", purpose: "smarthosts/$2/password"}}},
	{name: "suppressions", group: "suppressions", unit: "id", hashed: hashedAddress},
	{name: "category_opt_outs", group: "category_opt_outs", unit: "id", hashed: hashedAddress},

	{name: "templates"},
	{name: "template_versions", parent: reference{"template_id", "templates"}},
	{name: "template_edits", parent: reference{"template_id", "templates"}},
	{name: "template_images", group: "template_images", unit: "id"},

	{name: "emails", group: "emails", unit: "id", where: ofAccount + `id NOT IN (` + openEmails + `)`, parent: ofDomain, objects: "body_key"},
	{name: "recipients", group: "emails", unit: "email_id", where: ofDoneEmails, parent: ofEmail, renumber: map[string]string{"id": "recipients"}},
	{name: "attempts", group: "emails", unit: "email_id", where: ofDoneEmails, parent: ofEmail, set: map[string]string{"node": "NULL"},
		renumber: map[string]string{"recipient_id": "recipients"}},
	{name: "attachments", group: "emails", unit: "email_id", where: ofDoneEmails, parent: ofEmail, objects: "object_key"},
	{name: "delivery_reports", group: "emails", unit: "email_id", where: ofDoneEmails, parent: ofEmail,
		renumber: map[string]string{"recipient_id": "recipients"}},
	{name: "engagements", group: "emails", unit: "email_id", where: ofDoneEmails},
	{name: "facts", group: "facts", unit: "id", where: ofAccount + `subject_id NOT IN (` + openEmails + `)`},
	{name: "idempotency_keys", group: "idempotency_keys", unit: "key",
		sealed: []sealed{{column: "body", of: "key", purpose: "idempotency/$1/$2", some: true}}},

	{name: "received_contents", group: groupReceived, unit: "id", number: true, renumber: map[string]string{"id": "received_contents"},
		objects: "object_key", stored: "due_at IS NULL"},
	{name: "received_emails", group: groupReceived, unit: "content_id", number: true, parent: ofDomain,
		renumber: map[string]string{"content_id": "received_contents"}},

	{name: "webhooks", sealed: []sealed{{column: "secret", of: "id", purpose: "webhook secret/$2"},
		{column: "previous_secret", of: "id", purpose: "webhook secret/$2"},
		{column: "headers", of: "id", purpose: "webhook headers/$2"}}},
	{name: "webhook_deliveries", group: "webhook_deliveries", unit: "id", where: ofAccount + `settled_at IS NOT NULL`, parent: reference{"webhook_id", "webhooks"}},
	{name: "webhook_works", where: ofWebhooks, parent: reference{"webhook_id", "webhooks"}, owner: "webhook_deliveries", unfinished: true},
	{name: "webhook_attempts", group: "webhook_deliveries", unit: "delivery_id", where: ofAccount + `delivery_id NOT IN (` + openPosts + `)`,
		set: map[string]string{"node": "NULL"}},

	{name: "automations", set: map[string]string{"draining": "NULL", "drain_before": "NULL"}},
	{name: "automation_versions", parent: reference{"automation_id", "automations"}},
	{name: "automation_listens", parent: reference{"automation_id", "automations"}},
	{name: "automation_entries", group: "automation_entries", unit: `automation_id || ' ' || encode(person, 'hex')`, parent: reference{"automation_id", "automations"}},
	{name: "automation_runs", group: "automation_runs", unit: "id", where: ofAccount + `ended_at IS NOT NULL`},
	{name: "automation_works", parent: reference{"automation_id", "automations"}, owner: "automation_runs", unfinished: true},
	{name: "automation_steps", group: "automation_runs", unit: "run_id", where: ofAccount + `run_id NOT IN (` + openRuns + `)`},
	{name: "custom_events", group: "custom_events", unit: "id", where: ofAccount + `NOT pending`, set: map[string]string{"goal_pending": "false"}},

	{name: "sms_settings", where: `id = $1`, set: map[string]string{"id": "$1::text"},
		sealed: []sealed{{column: "credentials", of: "id", purpose: "sms/$1/credentials"}}},
	{name: "sms_messages", group: "sms_messages", unit: "id", hashed: hashed{"number_hash", "to", hashedNumbers}, where: ofAccount + `settled_at IS NOT NULL`},
	{name: "sms_attempts", group: "sms_messages", unit: "message_id", where: ofAccount + `message_id NOT IN (` + openTexts + `)`,
		set: map[string]string{"node": "NULL"}},
	{name: "sms_days"},
	{name: "sms_opt_outs", group: "sms_opt_outs", unit: `extract(epoch FROM created_at)::text`, hashed: hashed{"number_hash", "number", hashedNumbers}},

	{name: "statistics", group: "statistics", unit: startUnit},
	{name: "statistics_latencies", group: "statistics_latencies", unit: startUnit},
	{name: "statistics_days", group: "statistics_days", unit: startUnit},
	{name: "statistics_months", group: "statistics_months", unit: startUnit},
	{name: "statistics_reasons", group: "statistics_reasons", unit: startUnit},
	{name: "statistics_received", group: "statistics_received", unit: startUnit},
}
