-- Modify "automation_runs" table
ALTER TABLE "automation_runs" ADD COLUMN "definition" jsonb NULL;
-- Create index "automationrun_trial" to table: "automation_runs"
CREATE INDEX "automationrun_trial" ON "automation_runs" ("automation_id") WHERE (version = 0);
-- Modify "custom_events" table
ALTER TABLE "custom_events" ADD COLUMN "trial" boolean NOT NULL DEFAULT false;
