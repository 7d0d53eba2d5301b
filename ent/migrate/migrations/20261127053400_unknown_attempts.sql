-- expand
-- no transaction
-- Create index "attempt_unknown" to table: "attempts"
CREATE INDEX CONCURRENTLY IF NOT EXISTS "attempt_unknown" ON "attempts" ("finished_at") WHERE ((outcome)::text = 'unknown'::text);
