-- expand
-- no transaction
-- Create index "auditentry_actor" to table: "audit_entries"
CREATE INDEX CONCURRENTLY IF NOT EXISTS "auditentry_actor" ON "audit_entries" ("account_id", "actor_id", "id");
