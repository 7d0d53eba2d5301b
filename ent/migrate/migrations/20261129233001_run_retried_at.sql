-- expand
-- Modify "automation_runs" table
ALTER TABLE "automation_runs" ADD COLUMN "retried_at" timestamptz NULL;
