-- expand
-- no transaction
-- Create index "attempt_in_doubt" to table: "attempts"
CREATE INDEX CONCURRENTLY IF NOT EXISTS "attempt_in_doubt" ON "attempts" ("in_doubt_at") WHERE (in_doubt_at IS NOT NULL);
