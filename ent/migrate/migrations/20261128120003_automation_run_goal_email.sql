-- expand
-- no transaction
-- Create index "automationrun_goal_email" to table: "automation_runs"
CREATE INDEX CONCURRENTLY IF NOT EXISTS "automationrun_goal_email" ON "automation_runs" ("automation_id", "email_key", "goal_until") WHERE (goal_until IS NOT NULL AND converted_at IS NULL AND email_key IS NOT NULL);
