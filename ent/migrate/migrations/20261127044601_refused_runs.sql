-- Runs that wait because their account may not send, by account.
-- expand
-- no transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "automationwork_refused" ON "automation_works" ("account_id", "refused_at") WHERE (refused_at IS NOT NULL);
