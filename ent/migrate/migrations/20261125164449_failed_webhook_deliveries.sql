-- Modify "webhook_deliveries" table
ALTER TABLE "webhook_deliveries" ADD COLUMN "failed" boolean NULL;
UPDATE "webhook_deliveries" SET "failed" = true WHERE "state" = 'failed';
-- Create index "webhookdelivery_failed" to table: "webhook_deliveries"
CREATE INDEX "webhookdelivery_failed" ON "webhook_deliveries" ("webhook_id", "id") WHERE (failed IS NOT NULL);
