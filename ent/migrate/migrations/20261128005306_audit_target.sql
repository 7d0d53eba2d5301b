-- expand
-- no transaction
-- Create index "auditentry_target" to table: "audit_entries"
CREATE INDEX CONCURRENTLY IF NOT EXISTS "auditentry_target" ON "audit_entries" ("account_id", "target", "id");
