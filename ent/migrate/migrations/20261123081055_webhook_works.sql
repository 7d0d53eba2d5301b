-- Create "webhook_works" table
CREATE TABLE "webhook_works" (
  "id" character varying NOT NULL COLLATE "C",
  "webhook_id" character varying NOT NULL COLLATE "C",
  "due_at" timestamptz NOT NULL,
  "fence" bigint NOT NULL DEFAULT 0,
  "attempts" bigint NOT NULL DEFAULT 0,
  "round" bigint NOT NULL DEFAULT 0,
  PRIMARY KEY ("id")
);
-- What waits.
INSERT INTO "webhook_works" ("id", "webhook_id", "due_at", "fence", "attempts", "round")
SELECT "id", "webhook_id", "due_at", "fence", "attempts", "round" FROM "webhook_deliveries" WHERE "due_at" IS NOT NULL;
-- Create index "webhookwork_due" to table: "webhook_works"
CREATE INDEX "webhookwork_due" ON "webhook_works" ("webhook_id", "due_at");
-- Drop index "webhookdelivery_due" from table: "webhook_deliveries"
DROP INDEX "webhookdelivery_due";
-- Modify "webhook_deliveries" table
ALTER TABLE "webhook_deliveries" DROP COLUMN "fence", DROP COLUMN "round";
-- Rows of work live for a moment: the queue stays small. A row of the log is changed once, with its page's room.
ALTER TABLE "webhook_works" SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
ALTER TABLE "webhook_deliveries" SET (fillfactor = 80);
ALTER TABLE "webhook_attempts" SET (fillfactor = 80);
