-- expand
-- no transaction
-- Create index "email_scheduled" to table: "emails"
CREATE INDEX CONCURRENTLY IF NOT EXISTS "email_scheduled" ON "emails" ("account_id", "scheduled_at", "id") WHERE (release_at IS NOT NULL);
