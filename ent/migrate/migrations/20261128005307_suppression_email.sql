-- expand
-- no transaction
-- Create index "suppression_email" to table: "suppressions"
CREATE INDEX CONCURRENTLY IF NOT EXISTS "suppression_email" ON "suppressions" ("account_id", "email" varchar_pattern_ops);
