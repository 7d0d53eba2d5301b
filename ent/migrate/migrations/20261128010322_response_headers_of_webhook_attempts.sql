-- expand
-- Modify "webhook_attempts" table
ALTER TABLE "webhook_attempts" ADD COLUMN "response_headers" character varying NULL;
