-- Create index "automationwork_parked" to table: "automation_works"
CREATE INDEX "automationwork_parked" ON "automation_works" ("automation_id", "id") WHERE parked;
-- Modify "automations" table
ALTER TABLE "automations" ADD COLUMN "draining" character varying NULL, ADD COLUMN "drain_before" timestamptz NULL;
-- Create index "automation_draining" to table: "automations"
CREATE INDEX "automation_draining" ON "automations" ("id") WHERE (draining IS NOT NULL);
-- Modify "custom_events" table
ALTER TABLE "custom_events" ADD COLUMN "pending" boolean NOT NULL DEFAULT false;
-- Create index "customevent_pending" to table: "custom_events"
CREATE INDEX "customevent_pending" ON "custom_events" ("id") WHERE pending;
-- A row of work changes with every step of its run, and there may be a million of them.
ALTER TABLE "automation_works" SET (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02);
