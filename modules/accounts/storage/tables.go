package storage

import "fmt"

// table describes how an account's bytes in one table are measured. The lengths of large columns are in the row
// itself: octet_length does not read values that are stored out of line.
type table struct {
	name  string
	kind  string // for display
	key   string // the column for pagination; an index begins with account_id and this column
	empty string // sorts before every key; empty for a text column
	bytes string // SQL expression for the bytes of a row
}

// pageSQL returns the number of rows in a page, their bytes and their last key. The parameters are the account,
// the last key of the previous page and the page size.
func (t table) pageSQL() string {
	after := "$2::text"
	if t.empty != "" {
		after = "coalesce(NULLIF($2::text, ''), '" + t.empty + "')::bigint"
	}
	return fmt.Sprintf(`SELECT count(*), coalesce(sum(bytes), 0)::bigint, max(key)::text FROM (
	SELECT t.%[2]s AS key, (%[3]s)::bigint AS bytes FROM %[1]s t WHERE t.account_id = $1 AND t.%[2]s > %[4]s ORDER BY t.%[2]s LIMIT $3) page`,
		t.name, t.key, t.bytes, after)
}

// The dependent rows of an email cost RowBytes for each recipient.
const emailBytes = `
	1024 * (1 + jsonb_array_length(t."to") + coalesce(jsonb_array_length(t.cc), 0) + coalesce(jsonb_array_length(t.bcc), 0))
	+ coalesce(t.body_size, 0) + coalesce(octet_length(t.html), 0) + coalesce(octet_length(t.text), 0) + coalesce(octet_length(t.mime), 0)
	+ coalesce(pg_column_size(t.headers), 0) + coalesce(pg_column_size(t.tags), 0)
	+ CASE WHEN t.attachment_count > 0 THEN coalesce((SELECT sum(a.size + 1024) FROM attachments a WHERE a.email_id = t.id), 0) ELSE 0 END`

// tables are the measured tables, in this order. The package comment lists the others and why they are omitted.
var tables = []table{
	{name: "emails", kind: "emails", key: "id", bytes: emailBytes},
	{name: "received_contents", kind: "received", key: "id", empty: "0", bytes: `1024 + t.size`},
	{name: "received_emails", kind: "received", key: "id",
		bytes: `1024 + pg_column_size(t."references") + pg_column_size(t.attachments) + pg_column_size(t.defects)`},
	{name: "templates", kind: "templates", key: "id", bytes: `1024 + coalesce(octet_length(t.html), 0) + coalesce(octet_length(t.text), 0)
		+ coalesce((SELECT sum(1024 + coalesce(octet_length(v.html), 0) + coalesce(octet_length(v.text), 0) + coalesce(octet_length(v.source_html), 0) + coalesce(octet_length(v.source_text), 0))
			FROM template_versions v WHERE v.template_id = t.id), 0)
		+ coalesce((SELECT sum(1024 + coalesce(octet_length(e.html), 0) + coalesce(octet_length(e.text), 0))
			FROM template_edits e WHERE e.template_id = t.id), 0)`},
	{name: "template_images", kind: "templates", key: "id", bytes: `1024 + t.size`},
	{name: "suppressions", kind: "suppressions", key: "id", bytes: `512`},
	{name: "category_opt_outs", kind: "suppressions", key: "id", bytes: `512`},
	{name: "custom_events", kind: "events", key: "id", bytes: `1024 + coalesce(pg_column_size(t.data), 0) + coalesce(pg_column_size(t.matches), 0)`},
	{name: "automations", kind: "automations", key: "id", bytes: `1024 + octet_length(t.draft::text)
		+ coalesce((SELECT sum(1024 + pg_column_size(v.definition)) FROM automation_versions v WHERE v.automation_id = t.id), 0)`},
	{name: "automation_runs", kind: "automations", key: "id", bytes: `2048 + pg_column_size(t.event) + coalesce(pg_column_size(t.definition), 0)
		+ coalesce((SELECT sum(512 + pg_column_size(s.output)) FROM automation_steps s WHERE s.run_id = t.id), 0)`},
	{name: "sms_messages", kind: "sms", key: "id", bytes: `1024 + octet_length(t.text)`},
	{name: "webhooks", kind: "webhooks", key: "id", bytes: `1024 + 1536 * (SELECT count(*) FROM webhook_deliveries d WHERE d.webhook_id = t.id)`},
	{name: "engagements", kind: "tracking", key: "id", empty: "0", bytes: `256 + coalesce(octet_length(t.url), 0) + octet_length(t.user_agent)`},
	{name: "api_requests", kind: "api_log", key: "n", empty: "0", bytes: `256 + octet_length(t.request_body) + octet_length(t.response_body)`},
}
