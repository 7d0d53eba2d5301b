-- Drop index "webhookdelivery_account_id_id" from table: "webhook_deliveries"
DROP INDEX "webhookdelivery_account_id_id";
-- Drop index "webhookdelivery_event_id" from table: "webhook_deliveries"
DROP INDEX "webhookdelivery_event_id";
-- Drop index "webhookdelivery_webhook_id_event_id" from table: "webhook_deliveries"
DROP INDEX "webhookdelivery_webhook_id_event_id";
-- Create index "webhookdelivery_event_id_webhook_id" to table: "webhook_deliveries"
CREATE UNIQUE INDEX "webhookdelivery_event_id_webhook_id" ON "webhook_deliveries" ("event_id", "webhook_id");
-- Create index "webhookdelivery_tests" to table: "webhook_deliveries"
CREATE INDEX "webhookdelivery_tests" ON "webhook_deliveries" ("account_id") WHERE (data IS NOT NULL);
