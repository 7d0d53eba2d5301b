-- expand
-- no transaction
-- Create index "customevent_goal_pending" to table: "custom_events"
CREATE INDEX CONCURRENTLY IF NOT EXISTS "customevent_goal_pending" ON "custom_events" ("id") WHERE goal_pending;
