-- expand
-- Create index "auditentry_actor" to table: "audit_entries"
CREATE INDEX "auditentry_actor" ON "audit_entries" ("account_id", "actor_id", "id");
-- Create index "auditentry_target" to table: "audit_entries"
CREATE INDEX "auditentry_target" ON "audit_entries" ("account_id", "target", "id");
-- Create index "suppression_email" to table: "suppressions"
CREATE INDEX "suppression_email" ON "suppressions" ("account_id", "email" varchar_pattern_ops);
