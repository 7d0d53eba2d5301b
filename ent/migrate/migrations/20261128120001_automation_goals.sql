-- expand
-- Modify "automation_listens" table
ALTER TABLE "automation_listens" ADD COLUMN "converts" boolean NOT NULL DEFAULT false;
-- Modify "automation_runs" table
ALTER TABLE "automation_runs" ADD COLUMN "goal_until" timestamptz NULL, ADD COLUMN "converted_at" timestamptz NULL;
-- Modify "custom_events" table
ALTER TABLE "custom_events" ADD COLUMN "goal_pending" boolean NOT NULL DEFAULT false;
