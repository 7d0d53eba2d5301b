-- expand
-- no transaction
-- Create index "automationrun_goal" to table: "automation_runs"
CREATE INDEX CONCURRENTLY IF NOT EXISTS "automationrun_goal" ON "automation_runs" ("automation_id", "user_id", "converted_at", "goal_until") WHERE (goal_until IS NOT NULL);
